"""Model calls within limits: attempts, delays, budget, and a stop when all calls fail alike.

The retries of the libraries are disabled: each attempt may be billed, so each one is reserved in
the budget of the run. Which failures are retried is in evals.md §1.17.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import count
from typing import NamedTuple

from skillyard.evals.models.ledger import Ledger, Reservation, Spending
from skillyard.evals.models.prices import (
    PriceOf,
    affordable_tokens,
    cost_of,
    price,
    worst_cost,
)
from skillyard.evals.models.protocol import (
    ChatModel,
    ModelFailed,
    ModelReply,
    ModelRequest,
    RunStopped,
)

_SHORTEST_S = 0.001
"""Of an attempt whose case ran out of time while it waited for the budget."""
SHORT_OUTPUT_TOKENS = 1_000
"""If the budget cannot pay for the longest answer, a call is still sent while it can pay for one of
so many tokens, and for one as long as the longest so far."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often, and after which delay, a request is repeated.

    The n-th delay is ``base_s * 2**n`` seconds, n from 0, plus at most ``jitter`` times that. A
    server's ``retry-after`` replaces it, plus at most ``jitter`` seconds, so that waiting calls do
    not return together. The random part follows from ``seed``, the request and n. A delay above
    ``longest_s`` is not started; the call has then failed.
    """

    max_retries: int = 3
    base_s: float = 2.0
    jitter: float = 0.5
    longest_s: float = 60.0
    seed: int = 42

    def wait_s(self, request: ModelRequest, retry: int, requested_s: float | None = None) -> float:
        """Return the seconds before the retry of that number, from 0.

        ``requested_s`` is the delay that the server asked for.
        """
        text = f"{self.seed}|{request.model}|{request.system}|{request.user}|{retry}"
        digest_number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
        part = self.jitter * (digest_number / 2**64)
        if requested_s is not None:
            return requested_s + part
        return self.base_s * 2.0**retry * (1 + part)


class Counts(NamedTuple):
    """Counts of the calls so far."""

    attempts: int = 0
    """Requests sent."""
    cost: float = 0.0
    """US dollars settled. Attempts with unknown cost count with their worst case."""


class Calls:
    """A ``ChatModel`` that asks another one: with retries, within a budget. Safe for many threads.

    A call ends with a reply, with ModelFailed when it failed for good, or with RunStopped. The
    failure that stops the run is raised as RunStopped, and so is every call after it.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        retry: Retry | None = None,
        ledger: Ledger | None = None,
        prices: PriceOf | None = None,
        stop: threading.Event | None = None,
        limit_s: float | None = None,
        consecutive: int | None = 3,
        wait: Callable[[float], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``prices`` returns a model's price; by default, that of the bundled table.

        ``limit_s`` limits a call over all of its attempts and delays, in seconds of ``clock``, from
        the start of the first attempt. ``consecutive`` equal failures stop the run (None: never).
        ``wait`` sleeps and returns True when ``stop`` was set meanwhile; the default is
        ``stop.wait``.
        """
        self._model = model
        self.provider = model.provider
        self.host = model.host
        self._retry = retry or Retry()
        self._ledger = ledger or Ledger()
        self._prices = prices or partial(price, model.provider)
        self._stop = stop or threading.Event()
        self._limit_s = float("inf") if limit_s is None else limit_s
        self._consecutive = consecutive
        self._wait = wait or self._stop.wait
        self._clock = clock
        self._deadline: _Deadline | None = None
        self._state = _State()

    def __repr__(self) -> str:
        return f"Calls({self._model!r})"

    @property
    def counts(self) -> Counts:
        """Counts of the calls so far."""
        return Counts(self._ledger.calls, self._ledger.spent)

    def spending(self) -> Spending:
        """Return what the run has spent over all of its processes, once its calls have ended."""
        return self._ledger.spending()

    def sent(self, request: ModelRequest) -> dict[str, object]:
        """Return what the model would be sent."""
        return self._model.sent(request)

    def case(self) -> Calls:
        """Return these calls for one case: all calls of the case share one time limit."""
        calls = copy(self)
        calls._deadline = _Deadline(self._limit_s, self._clock)
        return calls

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Repeat the request until there is a reply. ``timeout_s`` limits one attempt."""
        deadline = self._deadline or _Deadline(self._limit_s, self._clock)
        for retry in count():
            try:
                return self._attempt(request, timeout_s, deadline)
            except ModelFailed as failed:
                failure = failed
            wait_s = self._next_wait(request, failure, retry, deadline)
            if wait_s is None:
                break
            if self._wait(wait_s):
                raise self._stop_run(_INTERRUPTED)
        why = self._reason_to_stop(request.model, failure)
        raise failure if why is None else self._stop_run(why)

    def _next_wait(
        self, request: ModelRequest, failure: ModelFailed, retry: int, deadline: _Deadline
    ) -> float | None:
        """Return the seconds until the next attempt; None when there shall be none."""
        if not failure.retry or retry >= self._retry.max_retries:
            return None
        wait_s = self._retry.wait_s(request, retry, failure.retry_after_s)
        too_long = wait_s > self._retry.longest_s or wait_s >= deadline.remaining_s()
        return None if too_long else wait_s

    def _attempt(self, request: ModelRequest, timeout_s: float, deadline: _Deadline) -> ModelReply:
        """Send a request once, with as many output tokens as the budget can pay for."""
        if self._state.stopped is not None or self._stop.is_set():
            raise self._stop_run(_INTERRUPTED)
        if deadline.remaining_s() <= 0:
            raise ModelFailed("timeout", f"the time of the case is up: {deadline.limit_s:g} s")
        reservation = self._reserve(request)
        if not reservation.whole:
            price_of_model = self._prices(request.model)
            tokens = affordable_tokens(price_of_model, request, reservation.cost)
            request = replace(request, max_tokens=tokens)
        remaining_s = max(deadline.start(), _SHORTEST_S)
        reply = self._send(request, reservation, min(timeout_s, remaining_s))
        self._state.add_answer(request.model, reply.usage.output_tokens or 0)
        if _is_cut_by_budget(reservation, reply):
            raise self._stop_run(
                RunStopped(
                    "budget",
                    f"the budget left {request.max_tokens:,} output tokens for the last call, "
                    "and its answer needs more; raise --max-cost",
                )
            )
        return reply

    def _reserve(self, request: ModelRequest) -> Reservation:
        """Reserve the worst case of a call, or what is left if a short answer fits into that."""
        price_of_model = self._prices(request.model)
        short = max(SHORT_OUTPUT_TOKENS, self._state.longest_outputs.get(request.model, 0))
        shortest = replace(request, max_tokens=min(request.max_tokens, short))
        try:
            return self._ledger.reserve(
                worst_cost(price_of_model, request),
                least_cost=worst_cost(price_of_model, shortest),
                stop=self._stop,
            )
        except RunStopped as stopped:
            why = _INTERRUPTED if self._stop.is_set() else stopped
            raise self._stop_run(why) from None

    def _send(
        self, request: ModelRequest, reservation: Reservation, timeout_s: float
    ) -> ModelReply:
        """Send a request, and settle its reservation. Raises ModelFailed."""
        # Whatever happens, the provider may have done its work.
        cost, lost = reservation.cost, True
        try:
            reply = self._model.complete(request, timeout_s)
            if None not in (reply.usage.input_tokens, reply.usage.output_tokens):
                cost = cost_of(self._prices(request.model), reply.usage)
            lost = _is_cut_by_budget(reservation, reply)
        except ModelFailed as failed:
            lost = failed.charged
            cost = reservation.cost if lost else 0.0
            raise
        finally:
            reservation.settle(cost, lost=lost)
        return reply

    def _reason_to_stop(self, model: str, failure: ModelFailed) -> RunStopped | None:
        """Count a call that failed for good; return what stops the run if it was one too many.

        A permanent failure always is: no other request will fare better.
        """
        if failure.permanent:
            return RunStopped("fail_fast", f"stopped: {failure}")
        length = self._state.add_failure(model, failure.fingerprint)
        if self._consecutive is None or length < self._consecutive:
            return None
        alike = f"{length} calls in a row failed alike" if length > 1 else "a call failed"
        return RunStopped("fail_fast", f"stopped: {alike}; the last: {failure}")

    def _stop_run(self, why: RunStopped) -> RunStopped:
        """Stop the run, and return what is raised in this thread. The first reason stays."""
        first = self._state.stop_for(why)
        return RunStopped(first.reason, str(first))


_INTERRUPTED = RunStopped("interrupted", "the run was interrupted")


def _is_cut_by_budget(reservation: Reservation, reply: ModelReply) -> bool:
    """True if an answer reached the limit that the budget set, not that of the request."""
    return not reservation.whole and reply.stop_reason == "max_tokens"


class _State:
    """What the calls of a run share."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._streaks: dict[str, tuple[str, int]] = {}
        self.stopped: RunStopped | None = None
        self.longest_outputs: dict[str, int] = {}
        """Output tokens of the longest answer so far, by model."""

    def add_answer(self, model: str, output_tokens: int) -> None:
        """Note an answer: the failures of the model are no longer in a row."""
        with self._guard:
            self._streaks.pop(model, None)
            self.longest_outputs[model] = max(self.longest_outputs.get(model, 0), output_tokens)

    def add_failure(self, model: str, fingerprint: str) -> int:
        """Return the number of failures of this fingerprint in a row.

        They are counted for each model by itself. A run that asks two models would otherwise hide
        the one that always fails behind the one that always answers.
        """
        with self._guard:
            last, length = self._streaks.get(model, ("", 0))
            length = length + 1 if last == fingerprint else 1
            self._streaks[model] = (fingerprint, length)
            return length

    def stop_for(self, why: RunStopped) -> RunStopped:
        """Return the first reason to stop, which is this one if there is none yet."""
        with self._guard:
            self.stopped = self.stopped or why
            return self.stopped


class _Deadline:
    """The time that the calls of one case share. It begins with the first attempt."""

    def __init__(self, limit_s: float, clock: Callable[[], float]) -> None:
        self.limit_s = limit_s
        self._clock = clock
        self._ends: float | None = None

    def start(self) -> float:
        """Return the seconds that are left; the first call begins them."""
        if self._ends is None:
            self._ends = self._clock() + self.limit_s
        return self.remaining_s()

    def remaining_s(self) -> float:
        """Return the seconds that are left, all of them before the first attempt."""
        return self.limit_s if self._ends is None else self._ends - self._clock()
