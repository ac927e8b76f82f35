"""Model calls within limits: attempts, delays, budget, and a stop when all calls fail alike.

The retries of the libraries are disabled: each attempt may be billed, so each one is reserved in
the budget of the run. Which failures are retried is in evals.md §1.17.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import count

from skillyard.evals.config_values import RetryTimes
from skillyard.evals.models.budget import Budget
from skillyard.evals.models.prices import PriceOf, cost_of, price, worst_cost
from skillyard.evals.models.protocol import (
    ChatModel,
    ModelFailed,
    ModelReply,
    ModelRequest,
    RunStopped,
)

_LONGEST_WAIT_S = 60.0
"""A longer wait before another attempt is not begun: the call has failed."""
_ATTEMPTS_OF_A_CALL, _MORE_S = 3, 60.0
"""All attempts at a call may take so many times the limit of one, and a minute to wait between."""


class Calls:
    """A ``ChatModel`` that asks another one: with retries, within a budget. Safe for many threads.

    A call ends with a reply, with ModelFailed when it failed for good, or with RunStopped. The
    failure that stops the run is raised as RunStopped, and so is every call after it.
    """

    def __init__(
        self,
        model: ChatModel,
        budget: Budget,
        *,
        retry: RetryTimes | None = None,
        price_of: PriceOf | None = None,
        stop: threading.Event | None = None,
        consecutive: int | None = 3,
        wait: Callable[[float], bool] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``price_of`` returns a model's price; by default, that of the bundled table.

        ``consecutive`` equal failures stop the run (None: never). ``wait`` sleeps and returns True
        when ``stop`` was set meanwhile; the default is ``stop.wait``.
        """
        self._model = model
        self.provider = model.provider
        self.host = model.host
        self.budget = budget
        self._retry = retry or RetryTimes()
        self._price_of = price_of or partial(price, model.provider)
        self._stop = stop or threading.Event()
        self._consecutive = consecutive
        self._wait = wait or self._stop.wait
        self._clock = clock
        self._guard = threading.Lock()
        self._stopped: RunStopped | None = None
        self._streaks: dict[str, tuple[str, int]] = {}
        """The last failure in a row and its count, by model: one that always answers would
        otherwise hide one that always fails."""

    def sent(self, request: ModelRequest) -> dict[str, object]:
        """Return what the model would be sent."""
        return self._model.sent(request)

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Repeat the request until there is a reply. ``timeout_s`` limits one attempt."""
        left_s = _ATTEMPTS_OF_A_CALL * timeout_s + _MORE_S
        for retry in count():
            call = self._reserve(request)
            began = self._clock()
            try:
                return self._send(request, call, min(timeout_s, left_s))
            except ModelFailed as failed:
                failure = failed
            wait_s = self._wait_s(retry, failure)
            left_s -= self._clock() - began + wait_s
            is_last = not failure.retry or retry >= self._retry.max_retries
            if is_last or wait_s > _LONGEST_WAIT_S or left_s <= 0:
                break
            if self._wait(wait_s):
                raise self._stop_run(_INTERRUPTED)
        why = self._reason_to_stop(request.model, failure)
        raise failure if why is None else self._stop_run(why)

    def _wait_s(self, retry: int, failure: ModelFailed) -> float:
        """Return the seconds before the retry of that number, from 0.

        The random part keeps calls that failed together from returning together.
        """
        part = self._retry.jitter * random.random()
        if failure.retry_after_s is not None:
            return failure.retry_after_s + part
        return self._retry.base_s * 2.0**retry * (1 + part)

    def _reserve(self, request: ModelRequest) -> str:
        """Reserve the worst case of an attempt, and return the id of the call."""
        if self._stopped is not None or self._stop.is_set():
            raise self._stop_run(_INTERRUPTED)
        try:
            return self.budget.reserve(
                worst_cost(self._price_of(request.model), request), self._stop
            )
        except RunStopped as stopped:
            raise self._stop_run(_INTERRUPTED if self._stop.is_set() else stopped) from None

    def _send(self, request: ModelRequest, call: str, timeout_s: float) -> ModelReply:
        """Send a request once, and settle its reservation. Raises ModelFailed."""
        # Whatever happens, the provider may have done its work.
        cost: float | None = None
        lost = True
        try:
            reply = self._model.complete(request, timeout_s)
            lost = False
            if None not in (reply.usage.input_tokens, reply.usage.output_tokens):
                cost = cost_of(self._price_of(request.model), reply.usage)
        except ModelFailed as failed:
            if not failed.charged:
                cost, lost = 0.0, False
            raise
        finally:
            self.budget.settle(call, cost, lost=lost)
        with self._guard:
            self._streaks.pop(request.model, None)
        return reply

    def _reason_to_stop(self, model: str, failure: ModelFailed) -> RunStopped | None:
        """Count a call that failed for good; return what stops the run if it was one too many.

        A permanent failure always is: no other request will fare better.
        """
        if failure.permanent:
            return RunStopped("fail_fast", f"stopped: {failure}")
        cause = f"{failure.kind}/{failure.status}"
        with self._guard:
            last, length = self._streaks.get(model, ("", 0))
            length = length + 1 if last == cause else 1
            self._streaks[model] = (cause, length)
        if self._consecutive is None or length < self._consecutive:
            return None
        alike = f"{length} calls in a row failed alike"
        return RunStopped("fail_fast", f"stopped: {alike}; the last: {failure}")

    def _stop_run(self, why: RunStopped) -> RunStopped:
        """Stop the run, and return what is raised in this thread. The first reason stays."""
        with self._guard:
            self._stopped = self._stopped or why
            return RunStopped(self._stopped.reason, str(self._stopped))


_INTERRUPTED = RunStopped("interrupted", "the run was interrupted")
