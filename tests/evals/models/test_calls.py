"""Retries, deadlines, budgets, and the end of a run in which every call fails alike."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.models.calls import Calls, Retry
from skillyard.evals.models.ledger import Ledger
from skillyard.evals.models.prices import Price, worst_cost
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


def test_an_error_of_ours_leaves_no_reservation_behind() -> None:
    def broken(timeout_s: float) -> ModelReply:
        raise ZeroDivisionError

    ledger = Ledger(1.0)
    with pytest.raises(ZeroDivisionError):
        calls_of(Scripted([broken]), ledger=ledger).complete(REQUEST, 9.0)
    assert ledger.reserved == 0.0


def once(calls: Calls, model: str = "m") -> str:
    try:
        calls.complete(replace(REQUEST, model=model), 9.0)
    except ModelFailed:
        return "failed"
    except RunStopped as stopped:
        return stopped.reason
    return "answered"


NO = failed("bad_request", retry=False, status=400)


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


def test_an_interrupt_ends_a_wait_and_every_later_call() -> None:
    stop = threading.Event()

    def interrupted(seconds: float) -> bool:
        stop.set()
        return True

    calls = calls_of(Scripted([failed()] * 9), stop=stop, wait=interrupted)
    assert [once(calls), once(calls)] == ["interrupted", "interrupted"]
    assert calls.counts.attempts == 1


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


@for_each(("charged", "lost"), [(True, 1), (False, 0)])
def test_an_attempt_that_may_have_been_billed_counts_as_lost(charged: bool, lost: int) -> None:
    calls = calls_of(Scripted([failed(charged=charged)]))
    calls.complete(REQUEST, 9.0)
    assert calls.spending().calls == 2
    assert calls.spending().lost_calls == lost
    assert calls.spending().lost_cost == pytest.approx(WORST * lost)
