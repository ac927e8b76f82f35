"""Retries, deadlines, budgets, and the end of a run in which every call fails alike."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.models.calls import Calls, Counts, Retry
from skillyard.evals.models.ledger import Ledger
from skillyard.evals.models.prices import Price, cost_of, worst_cost
from skillyard.evals.models.protocol import (
    ModelFailed,
    ModelReply,
    ModelRequest,
    RunStopped,
    TokenUsage,
)
from skillyard_testkit.fake_llm import faults
from tests.evals.models.conftest import TIMEOUT_S, Provider
from tests.tables import for_each

PRICE = Price(1.0, 10.0)
REQUEST = ModelRequest("m", "system", "user", max_tokens=100)
REPLY = ModelReply("Hello.", "end", TokenUsage(1_000, 50))
COST = (1_000 * 1.0 + 50 * 10.0) / 1e6
WORST = worst_cost(PRICE, REQUEST)
Step = ModelReply | ModelFailed | Callable[[float], ModelReply]


def failed(kind: str = "overloaded", *, retry: bool = True, **more: object) -> ModelFailed:
    return ModelFailed(kind, f"made to fail: {kind}", retry=retry, **more)  # type: ignore[arg-type]


class Scripted:
    """A ChatModel that says what is on its list, then REPLY; it remembers its time limits."""

    provider = "anthropic"
    host = "nowhere"

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self.steps = list(steps)
        self.limits: list[float] = []
        self.guard = threading.Lock()

    def sent(self, request: ModelRequest) -> dict[str, object]:
        return {"max_tokens": request.max_tokens}

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        with self.guard:
            self.limits.append(timeout_s)
            step = self.steps.pop(0) if self.steps else REPLY
        if isinstance(step, ModelFailed):
            raise step
        return step if isinstance(step, ModelReply) else step(timeout_s)


class Clock:
    """Time that passes by waiting only."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        self.now += seconds
        return False


def calls_of(model: Scripted, clock: Clock | None = None, **more: object) -> Calls:
    clock = clock or Clock()
    options: dict[str, object] = {
        "prices": lambda name: PRICE, "wait": clock.wait, "clock": clock, "consecutive": None,
    }  # fmt: skip
    return Calls(model, **{**options, **more})  # type: ignore[arg-type]


def test_a_reply_is_passed_on_counted_and_paid() -> None:
    ledger = Ledger(1.0)
    calls = calls_of(Scripted(), ledger=ledger)
    assert calls.complete(REQUEST, 9.0) is REPLY
    assert calls.counts == Counts(1, ledger.spent)
    assert ledger.spent == pytest.approx(COST)
    assert (calls.provider, calls.host) == ("anthropic", "nowhere")
    assert calls.sent(REQUEST) == {"max_tokens": 100}


def test_waits_double_and_jitter_follows_from_seed_request_and_number() -> None:
    retry = Retry(base_s=2.0, jitter=0.5, seed=1)
    waits = [retry.wait_s(REQUEST, number) for number in range(4)]
    assert waits == [retry.wait_s(REQUEST, number) for number in range(4)]
    for number, wait in enumerate(waits):
        assert 2.0 * 2**number <= wait <= 3.0 * 2**number
    assert replace(retry, seed=2).wait_s(REQUEST, 0) != waits[0]
    assert retry.wait_s(replace(REQUEST, user="other"), 0) != waits[0]
    assert replace(retry, jitter=0.0).wait_s(REQUEST, 2) == 8.0
    assert 5.0 <= retry.wait_s(REQUEST, 0, 5.0) <= 5.5


@given(st.integers(0, 8), st.floats(0, 10), st.floats(0, 1), st.text(max_size=20))
def test_waits_stay_within_what_is_documented(
    number: int, base_s: float, jitter: float, user: str
) -> None:
    wait = Retry(base_s=base_s, jitter=jitter).wait_s(replace(REQUEST, user=user), number)
    assert base_s * 2**number <= wait <= base_s * 2**number * (1 + jitter) + 1e-9


def test_a_failure_that_may_pass_is_asked_again_until_it_does() -> None:
    clock, model = Clock(), Scripted([failed(), failed("rate_limited", retry_after_s=7.0)])
    calls = calls_of(model, clock)
    assert calls.complete(REQUEST, 9.0) is REPLY
    assert 2.0 <= clock.waits[0] <= 3.0
    assert 7.0 <= clock.waits[1] <= 7.5
    assert calls.counts.attempts == 3


def test_after_the_last_retry_the_failure_is_raised() -> None:
    clock, model = Clock(), Scripted([failed() for _ in range(9)])
    calls = calls_of(model, clock)
    with pytest.raises(ModelFailed, match="made to fail") as caught:
        calls.complete(REQUEST, 9.0)
    assert caught.value.kind == "overloaded"
    assert (len(model.limits), len(clock.waits)) == (4, 3)


def test_what_will_not_pass_is_asked_once() -> None:
    model = Scripted([failed("bad_request", retry=False)])
    with pytest.raises(ModelFailed):
        calls_of(model).complete(REQUEST, 9.0)
    assert len(model.limits) == 1


def test_a_server_that_asks_for_too_long_is_not_waited_for() -> None:
    clock = Clock()
    with pytest.raises(ModelFailed):
        calls_of(Scripted([failed(retry_after_s=61.0)]), clock).complete(REQUEST, 9.0)
    assert clock.waits == []


def test_all_attempts_of_a_call_share_its_limit() -> None:
    clock = Clock()

    def slow(timeout_s: float) -> ModelReply:
        clock.now += timeout_s
        raise failed("timeout")

    model = Scripted([slow] * 9)
    with pytest.raises(ModelFailed):
        calls_of(model, clock, limit_s=20.0, retry=Retry(jitter=0.0)).complete(REQUEST, 9.0)
    assert model.limits == [9.0, 9.0]  # 9 + 2 + 9 = 20: there is no time for a third
    assert clock.now == 120.0


def test_the_last_attempt_gets_what_is_left() -> None:
    clock = Clock()

    def slow(timeout_s: float) -> ModelReply:
        clock.now += timeout_s
        raise failed("timeout")

    model = Scripted([slow] * 9)
    with pytest.raises(ModelFailed):
        calls_of(model, clock, limit_s=15.0, retry=Retry(jitter=0.0)).complete(REQUEST, 9.0)
    assert model.limits == [9.0, 4.0]


def test_the_calls_of_a_case_share_its_limit() -> None:
    clock = Clock()

    def slow(timeout_s: float) -> ModelReply:
        clock.now += 6.0
        return REPLY

    calls = calls_of(Scripted([slow] * 9), clock, limit_s=10.0)
    case = calls.case()
    clock.now += 500.0  # a case begins with its first attempt
    case.complete(REQUEST, 9.0)
    case.complete(REQUEST, 9.0)
    with pytest.raises(ModelFailed, match="the time of the case is up: 10 s") as caught:
        case.complete(REQUEST, 9.0)
    assert (caught.value.kind, caught.value.retry) == ("timeout", False)
    assert calls.counts.attempts == 2
    calls.complete(REQUEST, 9.0)
    assert (case.provider, case.host) == ("anthropic", "nowhere")
    assert case.sent(REQUEST) == {"max_tokens": 100}


def test_every_attempt_is_paid_for_by_what_is_known_of_it() -> None:
    """Nothing for an error, the worst for what may have been billed and for uncounted replies."""
    ledger = Ledger(1.0)
    steps: list[Step] = [
        failed(status=529),
        failed("timeout", charged=True),
        replace(REPLY, usage=TokenUsage(1_000, None)),
    ]
    calls_of(Scripted(steps), ledger=ledger).complete(REQUEST, 9.0)
    assert ledger.spent == pytest.approx(2 * WORST)
    assert ledger.reserved == 0.0
    assert ledger.calls == 3


def test_an_error_of_ours_leaves_no_reservation_behind() -> None:
    def broken(timeout_s: float) -> ModelReply:
        raise ZeroDivisionError

    ledger = Ledger(1.0)
    with pytest.raises(ZeroDivisionError):
        calls_of(Scripted([broken]), ledger=ledger).complete(REQUEST, 9.0)
    assert ledger.reserved == 0.0


def test_the_budget_stops_the_run_before_a_call_that_might_pass_it() -> None:
    ledger = Ledger(WORST * 2.5)
    model = Scripted([replace(REPLY, usage=TokenUsage())] * 9)
    calls = calls_of(model, ledger=ledger)
    calls.complete(REQUEST, 9.0)
    calls.complete(REQUEST, 9.0)
    for _ in range(2):
        with pytest.raises(RunStopped) as caught:
            calls.complete(REQUEST, 9.0)
        assert caught.value.reason == "budget"
    assert len(model.limits) == 2
    assert ledger.spent == pytest.approx(2 * WORST)


def test_a_retry_is_a_call_of_the_budget_too() -> None:
    calls = calls_of(Scripted([failed()] * 9), ledger=Ledger(max_calls=2))
    with pytest.raises(RunStopped, match="2 calls are used"):
        calls.complete(REQUEST, 9.0)
    assert calls.counts.attempts == 2


def test_an_unknown_price_reserves_nothing() -> None:
    ledger = Ledger(0.0, max_calls=1)
    calls = calls_of(Scripted(), ledger=ledger, prices=lambda name: None)
    calls.complete(REQUEST, 9.0)
    assert ledger.spent == 0.0


def once(calls: Calls, model: str = "m") -> str:
    try:
        calls.complete(replace(REQUEST, model=model), 9.0)
    except ModelFailed:
        return "failed"
    except RunStopped as stopped:
        return stopped.reason
    return "answered"


NO = failed("bad_request", retry=False, status=400)


def test_the_third_failure_alike_stops_the_run_and_says_why() -> None:
    calls = calls_of(Scripted([NO] * 9), consecutive=3)
    assert [once(calls) for _ in range(4)] == ["failed", "failed", "fail_fast", "fail_fast"]
    with pytest.raises(RunStopped) as caught:
        calls.complete(REQUEST, 9.0)
    assert str(caught.value) == (
        "stopped: 3 calls in a row failed alike; the last: made to fail: bad_request"
    )
    assert calls.counts.attempts == 3


def test_a_failure_of_another_kind_or_a_reply_begins_anew() -> None:
    other = failed("bad_reply", retry=False)
    calls = calls_of(Scripted([NO, NO, other, NO, NO, REPLY, NO, NO]), consecutive=3)
    assert [once(calls) for _ in range(9)] == (
        ["failed"] * 5 + ["answered"] + ["failed"] * 2 + ["answered"]
    )


def test_a_model_that_answers_does_not_hide_one_that_never_does() -> None:
    calls = calls_of(Scripted([NO, REPLY, NO, REPLY, NO]), consecutive=3)
    replies = [once(calls, "judge" if number % 2 == 0 else "writer") for number in range(5)]
    assert replies == ["failed", "answered", "failed", "answered", "fail_fast"]


def test_retries_do_not_count_as_failures_in_a_row() -> None:
    calls = calls_of(Scripted([failed(), failed(), failed(), REPLY]), consecutive=2)
    assert once(calls) == "answered"


def test_a_permanent_failure_stops_the_run_at_once_even_without_failing_fast() -> None:
    gone = failed("no_money", retry=False, permanent=True, status=429)
    calls = calls_of(Scripted([gone]))
    assert [once(calls), once(calls)] == ["fail_fast", "fail_fast"]
    assert calls.counts.attempts == 1


def test_failures_are_counted_across_threads() -> None:
    model = Scripted([NO] * 200)
    calls = calls_of(model, consecutive=3)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: once(calls), range(100)))
    assert replies.count("failed") >= 2
    assert len(model.limits) <= 2 + 8, "those in flight end, and no other begins"
    assert replies.count("fail_fast") >= 100 - 2 - 8


def test_an_interrupt_ends_a_wait_and_every_later_call() -> None:
    stop = threading.Event()

    def interrupted(seconds: float) -> bool:
        stop.set()
        return True

    calls = calls_of(Scripted([failed()] * 9), stop=stop, wait=interrupted)
    assert [once(calls), once(calls)] == ["interrupted", "interrupted"]
    assert calls.counts.attempts == 1


def test_the_wait_is_that_of_the_event() -> None:
    stop = threading.Event()
    model = Scripted([failed(retry_after_s=50.0)])
    calls = Calls(model, prices=lambda name: PRICE, stop=stop)
    replies: list[str] = []
    waiting = threading.Thread(target=lambda: replies.append(once(calls)))
    waiting.start()
    stop.set()
    waiting.join(20)
    assert replies == ["interrupted"]


def test_the_first_reason_stays() -> None:
    stop = threading.Event()
    calls = calls_of(Scripted([NO]), consecutive=1, stop=stop)
    assert once(calls) == "fail_fast"
    stop.set()
    assert once(calls) == "fail_fast"


@given(
    st.lists(
        st.sampled_from(["ok", "retry", "no", "charged", "uncounted", "permanent"]), max_size=30
    ),
    st.integers(0, 12),
)
def test_whatever_the_model_does_the_budget_holds_and_the_counts_agree(
    script: list[str], budget: int
) -> None:
    steps: dict[str, Step] = {
        "ok": REPLY,
        "retry": failed(),
        "no": NO,
        "charged": failed("timeout", charged=True),
        "uncounted": replace(REPLY, usage=TokenUsage()),
        "permanent": failed("authentication", retry=False, permanent=True),
    }
    ledger = Ledger(WORST * budget / 2)
    model = Scripted([steps[word] for word in script])
    calls = calls_of(model, ledger=ledger, consecutive=3)
    replies = [once(calls) for _ in range(12)]
    assert ledger.spent <= WORST * budget / 2 + 1e-9
    assert ledger.reserved == 0.0
    assert calls.counts.attempts == ledger.calls == len(model.limits)
    for reason in ("budget", "fail_fast"):
        assert reason not in replies or set(replies[replies.index(reason) :]) == {reason}


def test_over_the_real_libraries_a_bad_minute_passes(provider: Provider) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return False

    calls = Calls(provider.model, wait=wait)
    provider.fake.faults.add(
        faults.overloaded(), faults.rate_limited("1"), faults.truncated(), faults.reset()
    )
    with pytest.raises(ModelFailed, match="connection"):
        calls.complete(provider.request(), TIMEOUT_S)
    assert 1.0 <= waits[1] <= 1.5
    reply = calls.complete(provider.request(), TIMEOUT_S)
    assert reply.fake
    assert len(provider.fake.log.calls) == 5


LONG = replace(REQUEST, max_tokens=16_000)


def test_a_budget_below_the_longest_answer_asks_for_a_shorter_one() -> None:
    seen: list[int] = []

    class Recording(Scripted):
        def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
            seen.append(request.max_tokens)
            return super().complete(request, timeout_s)

    cap = worst_cost(PRICE, replace(REQUEST, max_tokens=5_000))
    calls = calls_of(Recording(), ledger=Ledger(cap))
    calls.complete(LONG, 9.0)
    calls.complete(LONG, 9.0)
    assert seen[0] == 5_000
    assert 1_000 <= seen[1] < 5_000
    assert calls.spending().lost_calls == 0


def test_an_answer_that_the_budget_cut_ends_the_run_and_counts_as_lost() -> None:
    cut = replace(REPLY, stop_reason="max_tokens")
    cap = worst_cost(PRICE, replace(REQUEST, max_tokens=5_000))
    calls = calls_of(Scripted([cut]), ledger=Ledger(cap))
    with pytest.raises(RunStopped, match="the budget left 5,000 output tokens") as caught:
        calls.complete(LONG, 9.0)
    assert caught.value.reason == "budget"
    assert calls.spending().lost_calls == 1
    assert calls.spending().lost_cost == pytest.approx(COST)
    with pytest.raises(RunStopped):
        calls.complete(REQUEST, 9.0)


def test_no_short_answer_is_asked_for_where_longer_ones_came() -> None:
    """It would be cut off, and paid for nothing."""
    long_reply = replace(REPLY, usage=TokenUsage(1_000, 4_000))
    cap = cost_of(PRICE, long_reply.usage) + worst_cost(PRICE, replace(LONG, max_tokens=3_000))
    calls = calls_of(Scripted([long_reply]), ledger=Ledger(cap))
    calls.complete(LONG, 9.0)
    with pytest.raises(RunStopped, match="the next call may cost up to"):
        calls.complete(LONG, 9.0)
    assert calls.spending().lost_calls == 0


@for_each(("charged", "lost"), [(True, 1), (False, 0)])
def test_an_attempt_that_may_have_been_billed_counts_as_lost(charged: bool, lost: int) -> None:
    calls = calls_of(Scripted([failed(charged=charged)]))
    calls.complete(REQUEST, 9.0)
    assert calls.spending().calls == 2
    assert calls.spending().lost_calls == lost
    assert calls.spending().lost_cost == pytest.approx(WORST * lost)
