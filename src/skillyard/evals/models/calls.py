"""Model calls within limits: attempts, delays, budget, and a stop when all calls fail alike.

The retries of the libraries are disabled, so attempts are counted only here. Which failures are
retried is in evals.md §1.17.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

from skillyard.errors import InvalidInput
from skillyard.evals.models.ledger import Ledger
from skillyard.evals.models.prices import Price, PriceOf, cost_of, price, worst_cost
from skillyard.evals.models.protocol import ChatModel, ModelFailed, Reply, Request
from skillyard.evals.models.run_stop import RunStopped, Streaks

__all__ = ["CallEvent", "Calls", "Counts", "Retry", "RunStopped"]

_SHORTEST_S = 0.001
"""Of an attempt whose case ran out of time while it waited for the budget."""


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

    def __post_init__(self) -> None:
        if self.max_retries < 0:
            raise InvalidInput(f"max_retries must be 0 or more, not {self.max_retries}")
        for name in ("base_s", "jitter", "longest_s"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise InvalidInput(f"{name} must be 0 or more, not {value}")

    def wait_s(self, request: Request, retry: int, requested_s: float | None = None) -> float:
        """Return the seconds before the retry of that number, from 0; ``asked_s`` by the server."""
        text = f"{self.seed}|{request.model}|{request.system}|{request.user}|{retry}"
        digest_number = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
        part = self.jitter * (digest_number / 2**64)
        if requested_s is not None:
            return requested_s + part
        return self.base_s * 2.0**retry * (1 + part)


@dataclass(frozen=True, slots=True)
class CallEvent:
    """Something that happened to one call. ``on_event`` gets it in the thread of the call."""

    what: str
    """``sent``, ``answered``, ``failed`` (one attempt), ``waits``, ``gave_up`` (the call) or
    ``stopped`` (the run)."""
    model: str
    case: str = ""
    """The caller's name for the case."""
    attempt: int = 0
    """From 1; 0 for ``stopped`` before anything was sent."""
    kind: str = ""
    """Of a failure, or the reason of ``stopped``."""
    message: str = ""
    status: int | None = None
    wait_s: float = 0.0
    """Until the next attempt."""
    cost: float = 0.0
    """US dollars settled for this attempt."""
    latency_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of the calls so far."""

    calls: int = 0
    """Requests of callers, each over all of its attempts."""
    replies: int = 0
    failures: int = 0
    attempts: int = 0
    """Requests sent."""
    cost: float = 0.0
    """US dollars settled. Attempts with unknown cost count with their worst case."""
    input_tokens: int = 0
    output_tokens: int = 0
    fake: bool = False
    """True if a stand-in answered at least once."""


class Calls:
    """A ``ChatModel`` that asks another one: with retries, within a budget. Safe for many threads.

    A call ends with a reply, with ModelFailed when it failed for good, or with RunStopped. The
    failure that stops the run is raised as RunStopped (its ``failure``), and so is every call
    after it.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        retry: Retry | None = None,
        ledger: Ledger | None = None,
        prices: PriceOf | None = None,
        on_event: Callable[[CallEvent], None] | None = None,
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
        self._retry = retry or Retry()
        self._ledger = ledger or Ledger()
        self._prices = prices or self._table
        self._on_event = on_event
        self._stop = stop or threading.Event()
        self._limit_s = limit_s
        self._wait = wait or self._stop.wait
        self._clock = clock
        self._streaks = Streaks(consecutive)
        self._counts = Counts()
        self._stopped: RunStopped | None = None
        self._guard = threading.Lock()

    def __repr__(self) -> str:
        return f"Calls({self._model!r})"

    @property
    def provider(self) -> str:
        """Of the model that is asked."""
        return self._model.provider

    @property
    def host(self) -> str:
        """Of the model that is asked."""
        return self._model.host

    @property
    def stopped(self) -> RunStopped | None:
        """What stopped the run, or None."""
        with self._guard:
            return self._stopped

    @property
    def counts(self) -> Counts:
        """Counts of the calls so far."""
        with self._guard:
            return replace(self._counts, cost=self._ledger.spent)

    def sent(self, request: Request) -> dict[str, object]:
        """Return what the model would be sent."""
        return self._model.sent(request)

    def count_tokens(self, request: Request) -> int | None:
        """Return the provider's count, which is free of charge. It is not retried."""
        return self._model.count_tokens(request)

    def complete(self, request: Request, timeout_s: float) -> Reply:
        """Repeat the request until there is a reply. ``timeout_s`` limits one attempt."""
        return self._complete(request, timeout_s, _Deadline("", self._limit_s, self._clock))

    def case(self, name: str = "", limit_s: float | None = None) -> ChatModel:
        """Return a view for the calls of one case, which share one limit and are named in events.

        ``limit_s`` is seconds, by default that of every single call.
        """
        limit = self._limit_s if limit_s is None else limit_s
        return _Case(self, _Deadline(name, limit, self._clock))

    def _complete(self, request: Request, timeout_s: float, case: _Deadline) -> Reply:
        self._count(calls=1)
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._attempt(request, timeout_s, case, attempt)
            except ModelFailed as failed:
                failure = failed
            wait_s = self._next_wait(request, failure, attempt, case)
            if wait_s is None:
                raise self._fail_for_good(request, failure, attempt, case)
            self._emit(
                CallEvent("waits", request.model, case.name, attempt, failure.kind, wait_s=wait_s)
            )
            if self._wait(wait_s):
                raise self._stop_run(None)

    def _next_wait(
        self, request: Request, failure: ModelFailed, attempt: int, case: _Deadline
    ) -> float | None:
        """Return the seconds until the next attempt; None when there shall be none."""
        if not failure.retry or attempt > self._retry.max_retries:
            return None
        wait_s = self._retry.wait_s(request, attempt - 1, failure.retry_after_s)
        return None if wait_s > self._retry.longest_s or wait_s >= case.remaining_s() else wait_s

    def _attempt(self, request: Request, timeout_s: float, case: _Deadline, attempt: int) -> Reply:
        self._check_running()
        if case.remaining_s() <= 0:
            raise ModelFailed("timeout", f"the time of the case is up: {case.limit_s:g} s")
        price_of_model = self._prices(request.model)
        worst = worst_cost(price_of_model, request)
        try:
            reservation = self._ledger.reserve(worst, stop=self._stop)
        except RunStopped as stopped:
            ended = None if self._stop.is_set() else stopped
            raise self._stop_run(ended, request.model, case.name) from None
        cost = worst  # whatever else happens, the provider may have done its work
        try:
            remaining_s = max(case.start(), _SHORTEST_S)
            self._count(attempts=1)
            self._emit(CallEvent("sent", request.model, case.name, attempt))
            reply = self._model.complete(request, min(timeout_s, remaining_s))
            cost = _cost_of_reply(price_of_model, reply, worst)
        except ModelFailed as failed:
            cost = worst if failed.charged else 0.0
            self._emit(_failed("failed", request, case, attempt, failed, cost))
            raise
        finally:
            reservation.settle(cost)
        with self._guard:
            self._streaks.answered(request.model)
        self._count(
            replies=1,
            input_tokens=reply.usage.input_tokens or 0,
            output_tokens=reply.usage.output_tokens or 0,
            fake=reply.fake,
        )
        self._emit(
            CallEvent(
                "answered", request.model, case.name, attempt, cost=cost, latency_s=reply.latency_s
            )
        )
        return reply

    def _check_running(self) -> None:
        """Raise RunStopped when no further call may start."""
        stopped = self.stopped
        if stopped is not None:
            raise stopped.again()
        if self._stop.is_set():
            raise self._stop_run(None)

    def _fail_for_good(
        self, request: Request, failure: ModelFailed, attempt: int, case: _Deadline
    ) -> ModelFailed | RunStopped:
        """Note that a call failed for good; return what is raised."""
        self._count(failures=1)
        with self._guard:
            stopped = self._streaks.failed(request.model, failure)
        self._emit(_failed("gave_up", request, case, attempt, failure, 0.0))
        return failure if stopped is None else self._stop_run(stopped, request.model, case.name)

    def _stop_run(self, why: RunStopped | None, model: str = "", case: str = "") -> RunStopped:
        """Stop the run, for that reason or because of ``stop``; return what is raised.

        The first reason stays.
        """
        reason = why or RunStopped("interrupted", "the run was interrupted")
        with self._guard:
            first = self._stopped is None
            if first:
                self._stopped = reason
            stopped = self._stopped or reason
        if first:
            self._emit(CallEvent("stopped", model, case, kind=stopped.reason, message=str(stopped)))
        return stopped.again()

    def _table(self, model: str) -> Price | None:
        return price(self._model.provider, model)

    def _count(self, *, fake: bool = False, **more: int) -> None:
        with self._guard:
            counts = self._counts
            sums = {name: getattr(counts, name) + amount for name, amount in more.items()}
            self._counts = replace(counts, fake=counts.fake or fake, **sums)

    def _emit(self, event: CallEvent) -> None:
        if self._on_event is not None:
            self._on_event(event)


def _cost_of_reply(price_of_model: Price | None, reply: Reply, worst: float) -> float:
    """Return what a reply cost; the worst case where the provider did not count."""
    if reply.usage.input_tokens is None or reply.usage.output_tokens is None:
        return worst
    return cost_of(price_of_model, reply.usage)


def _failed(
    what: str, request: Request, case: _Deadline, attempt: int, failed: ModelFailed, cost: float
) -> CallEvent:
    return CallEvent(
        what,
        request.model,
        case.name,
        attempt,
        failed.kind,
        str(failed),
        failed.status,
        cost=cost,
    )


class _Deadline:
    """The time that the calls of one case share. It begins with the first attempt."""

    def __init__(self, name: str, limit_s: float | None, clock: Callable[[], float]) -> None:
        self.name = name
        self.limit_s = float("inf") if limit_s is None else limit_s
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


class _Case:
    """A view of ``Calls`` for one case."""

    def __init__(self, calls: Calls, deadline: _Deadline) -> None:
        self._calls = calls
        self._deadline = deadline

    @property
    def provider(self) -> str:
        return self._calls.provider

    @property
    def host(self) -> str:
        return self._calls.host

    def sent(self, request: Request) -> dict[str, object]:
        return self._calls.sent(request)

    def complete(self, request: Request, timeout_s: float) -> Reply:
        return self._calls._complete(request, timeout_s, self._deadline)

    def count_tokens(self, request: Request) -> int | None:
        return self._calls.count_tokens(request)
