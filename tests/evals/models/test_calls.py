"""Retries, deadlines, budgets, and the end of a run in which every call fails alike."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.evals.models.calls import (
    Budget,
    Calls,
    ChatModel,
    ModelFailed,
    ModelReply,
    ModelRequest,
    RetryTimes,
    RunStopped,
    TokenUsage,
    worst_cost,
)
from skillyard_testkit.fake_llm import faults
from tests.evals.models.conftest import TIMEOUT_S, Provider
from tests.evals.models.making import price_of

PRICE = price_of(1.0, 10.0)
REQUEST = ModelRequest("m", "system", "user", max_tokens=100)
REPLY = ModelReply("Hello.", "end", TokenUsage(1_000, 50))
WORST = worst_cost(PRICE, REQUEST)
Step = ModelReply | ModelFailed | Callable[[float], ModelReply]


def failed(kind: str = "overloaded", *, retry: bool = True, **more: object) -> ModelFailed:
    return ModelFailed(kind, f"made to fail: {kind}", retry=retry, **more)  # type: ignore[arg-type]


NO = failed("bad_request", retry=False, status=400)


class Scripted:
    """A ChatModel that says what is on its list, then REPLY; it remembers its time limits."""

    provider = "anthropic"
    host = "nowhere"

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self.steps = list(steps)
        self.limits: list[float] = []

    def parameters(self, request: ModelRequest) -> dict[str, object]:
        return {"max_tokens": request.max_tokens}

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        self.limits.append(timeout_s)
        step = self.steps.pop(0) if self.steps else REPLY
        if isinstance(step, ModelFailed):
            raise step
        return step if isinstance(step, ModelReply) else step(timeout_s)


class Clock(threading.Event):
    """An interrupt that never comes; time that passes by waiting only."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        self.now += timeout or 0.0
        return False


def calls_of(
    model: ChatModel,
    stop: threading.Event | None = None,
    budget: Budget | None = None,
    *,
    retry: RetryTimes | None = None,
    consecutive: int | None = None,
) -> Calls:
    return Calls(
        model,
        budget or Budget(),
        prices=dict.fromkeys(("m", "judge", "writer"), PRICE),
        retry=retry or RetryTimes(),
        stop=stop or Clock(),
        consecutive=consecutive,
    )


def once(calls: Calls, model: str = "m") -> str:
    try:
        calls.complete(replace(REQUEST, model=model), 9.0)
    except ModelFailed:
        return "failed"
    except RunStopped as stopped:
        return stopped.reason
    return "answered"


def test_waits_double_and_a_server_may_name_its_own() -> None:
    clock = Clock()
    model = Scripted([failed(), failed(), failed(retry_after_s=7.0)])
    calls_of(model, clock, retry=RetryTimes(3, 2.0, 0.5)).complete(REQUEST, 9.0)
    for wait, least, most in zip(clock.waits, (2, 4, 7), (3, 6, 7.5), strict=True):
        assert least <= wait <= most


def test_all_attempts_of_a_call_share_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("skillyard.evals.models.calls.monotonic", lambda: clock.now)

    def slow(timeout_s: float) -> ModelReply:
        clock.now += timeout_s + 15.0
        raise failed("timeout")

    model = Scripted([slow] * 9)
    with pytest.raises(ModelFailed):
        calls_of(model, clock, retry=RetryTimes(9, 0.0, 0.0)).complete(REQUEST, 20.0)
    assert model.limits == [20.0, 20.0, 20.0, 15.0]  # of 3 * 20 + 60 seconds


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
    class Interrupted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            self.set()
            return True

    calls = calls_of(Scripted([failed()] * 9), Interrupted())
    assert [once(calls), once(calls)] == ["interrupted", "interrupted"]
    assert calls.budget.own.calls == 1


@given(
    st.lists(
        st.sampled_from(["ok", "retry", "no", "charged", "uncounted", "permanent", "bug"]),
        max_size=30,
    ),
    st.integers(0, 12),
)
def test_whatever_the_model_does_the_budget_holds_and_the_counts_agree(
    script: list[str], half_calls: int
) -> None:
    def broken(timeout_s: float) -> ModelReply:
        raise ZeroDivisionError

    steps: dict[str, Step] = {
        "ok": REPLY,
        "retry": failed(),
        "no": NO,
        "charged": failed("timeout", charged=True),
        "uncounted": replace(REPLY, usage=TokenUsage()),
        "permanent": failed("authentication", retry=False, permanent=True),
        "bug": broken,
    }
    budget = Budget(WORST * half_calls / 2)
    model = Scripted([steps[word] for word in script])
    calls = calls_of(model, budget=budget, consecutive=3)
    replies = []
    for _ in range(12):
        try:
            replies.append(once(calls))
        except ZeroDivisionError:
            replies.append("bug")
    assert budget.own.cost <= WORST * half_calls / 2 + 1e-9
    assert budget.spending()[:2] == budget.own[:2], "no reservation is left behind"
    assert budget.own.calls == len(model.limits)
    for reason in ("budget", "fail_fast"):
        assert reason not in replies or set(replies[replies.index(reason) :]) == {reason}


def test_over_the_real_libraries_a_bad_minute_passes(provider: Provider) -> None:
    clock = Clock()
    calls = calls_of(provider.model, clock)
    provider.fake.faults.add(
        faults.overloaded(), faults.rate_limited("1"), faults.truncated(), faults.reset()
    )
    with pytest.raises(ModelFailed, match="connection"):
        calls.complete(provider.request(), TIMEOUT_S)
    assert 1.0 <= clock.waits[1] <= 1.5
    reply = calls.complete(provider.request(), TIMEOUT_S)
    assert reply.fake
    assert len(provider.fake.log.calls) == 5
