"""Model calls: the protocol of models, the budget of a run, and calls with retries within it.

A budget holds over all resumes and processes of a run. Each call reserves its worst case before it
is sent, and is settled at its cost afterwards. Both are events of the run, so that every process on
it, now or later, counts the same calls. A process that is killed leaves reservations open: they
stay counted, because the provider may have billed them.

The retries of the libraries are disabled: each attempt may be billed, so each one is reserved.
Which failures are retried is in evals.md §1.17.
"""

from __future__ import annotations

import json
import math
import random
import secrets
import threading
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, field
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol

from skillyard.base.errors import InvalidInput, SkillyardError
from skillyard.base.operation import Bounds

if TYPE_CHECKING:
    from skillyard.evals.storage import Events

_LATENCY_S = 15.0
_TOKENS_PER_S = 50
"""Slower than models usually write. A limit that cuts long answers off pays for them all the same.
"""
_OVERHEAD_TOKENS = 1_000
"""Input tokens that a provider adds by itself, to roles and for structured output, at most.

An assumption: providers publish no bound. What one adds has been seen to be a few hundred."""
_RESERVED, _SETTLED = "reserved", "settled"
_HAIR = 1e-9
"""US dollars, by which sums of decimal fractions miss: the last cent of a cap can be used."""
_LONGEST_WAIT_S = 60.0
"""A longer wait before another attempt is not begun: the call has failed."""
_ATTEMPTS_OF_A_CALL, _MORE_S = 3, 60.0
"""All attempts at a call may take so many times the limit of one, and a minute to wait between."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question to a model: a system text and one user text."""

    model: str
    """The provider's model id, from the configuration; never a default in code."""
    system: str
    user: str
    max_tokens: int = 16_000
    """Most output tokens, 1 and up; current models count what they think against it."""
    temperature: float | None = 0.0
    """0..2, as requested; it is sent to models that take one (:meth:`ChatModel.parameters`)."""
    schema: Mapping[str, object] | None = None
    """A JSON schema that the reply must follow, where the provider can hold a model to one."""
    workspace: Mapping[str, Any] | None = None
    """What an agent finds in its sandbox; None: one completion, without tools."""

    @property
    def time_limit_s(self) -> float:
        """The seconds that the longest answer may take, if nobody set another limit."""
        return _LATENCY_S + self.max_tokens / _TOKENS_PER_S


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The token counts that the provider reported, or None."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One answer of a model."""

    text: str
    """All text blocks, joined; empty for a refusal."""
    stop_reason: str
    """``end``, ``max_tokens``, ``refusal``, or the provider's own word for anything else."""
    usage: TokenUsage = TokenUsage()
    parameters: Mapping[str, object] = field(default_factory=dict)
    """Every parameter that was sent beside model and texts (part of the cache key)."""
    latency_s: float = 0.0
    sdk: str = ""
    """Name and version of the library that sent it: ``anthropic 2.12.0``."""
    fake: bool = False
    """True if a stand-in server answered: no conclusion about a model or skill is possible."""


@dataclass(eq=False)
class ModelFailed(SkillyardError):
    """One attempt at a model gave no reply.

    ``kind`` is one of ``authentication``, ``permission``, ``not_found``, ``too_large``,
    ``bad_request``, ``no_money``, ``rate_limited``, ``overloaded``, ``server``, ``timeout``,
    ``connection``, ``bad_reply`` (the body does not follow the protocol), ``missing_library`` and
    ``missing_key``. ``retry``: another attempt may succeed. ``permanent``: every other request will
    fail too, so the run should end. ``retry_after_s``: the delay that the server asked for.
    ``charged``: the provider may bill the attempt, because the request reached it and its result is
    unknown.
    """

    kind: str
    what: str
    _: KW_ONLY
    retry: bool = False
    permanent: bool = False
    retry_after_s: float | None = None
    status: int | None = None
    charged: bool = False

    def __str__(self) -> str:
        return self.what


class RunStopped(SkillyardError):
    """No further call may start; what was done before is good.

    ``reason`` is ``budget``, ``fail_fast`` or ``interrupted``.
    """

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason = reason


class ChatModel(Protocol):
    """A provider's models behind one client. Safe to call from many threads."""

    @property
    def provider(self) -> str:
        """``anthropic`` or ``openai``."""

    @property
    def host(self) -> str:
        """What identifies the server, with its port and path; in cache keys, never a credential."""

    def parameters(self, request: ModelRequest) -> dict[str, object]:
        """Return the parameters that would be sent beside model and texts; asks nobody.

        ``temperature`` is in it only where the model takes one.
        """

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Ask once, without retries, for at most ``timeout_s`` seconds. Raises ModelFailed."""


class Price(NamedTuple):
    """The price of a model."""

    rates: Any
    """Its entry in the table: a ``genai_prices.types.ModelPrice``."""
    source: str = ""
    """The source of the price: ``genai-prices 0.2.3 (bundled)``."""
    date: str = ""
    """The day whose prices these are, ISO 8601: some change on a date that is known beforehand."""

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Return what a call of that size costs, in US dollars."""
        from genai_prices import Usage

        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        return float(self.rates.calc_price(usage)["total_price"])


def cost_of(price_of_model: Price | None, usage: TokenUsage) -> float:
    """Return what a call cost by the provider's own count, in US dollars.

    What the provider did not count is taken as 0, and so is the cost without a price.
    """
    if price_of_model is None:
        return 0.0
    return price_of_model.cost(usage.input_tokens or 0, usage.output_tokens or 0)


def worst_cost(price_of_model: Price | None, request: ModelRequest) -> float:
    """Return the most that one call can cost, in US dollars; 0 without a price.

    Tokenizers that work on bytes make at most one token of a byte; 1,000 tokens are added for what
    a provider puts around the texts. The output counts as the call's own ``max_tokens``.
    """
    if price_of_model is None:
        return 0.0
    texts = (request.system, request.user, json.dumps(request.schema) if request.schema else "")
    in_texts = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return price_of_model.cost(_OVERHEAD_TOKENS + in_texts, request.max_tokens)


class Spending(NamedTuple):
    """What a run has spent."""

    calls: int = 0
    """Requests sent."""
    cost: float = 0.0
    """US dollars. A call without a known result counts with its reservation."""
    lost_calls: int = 0
    """Requests without a usable result that may have been billed: cut off, or failed."""
    lost_cost: float = 0.0
    """US dollars of ``cost`` that were reserved for them."""


class Budget:
    """Money and calls of one run. Safe for many threads, and with ``events`` for many processes.

    Settled plus reserved cost never exceeds the cap, as long as no call costs more than its worst
    case.
    """

    def __init__(
        self,
        max_cost: float | None = None,
        max_calls: int | None = None,
        events: Events | None = None,
    ) -> None:
        """``max_cost`` is US dollars; ``max_calls`` counts requests sent; None: no cap.

        ``events`` are those of the run; without them the calls of this object are all there are.
        """
        self._max_cost = math.inf if max_cost is None else max_cost
        self._max_calls = math.inf if max_calls is None else max_calls
        self._events = events
        self._condition = threading.Condition()
        self._settled = Spending()
        """Of every process; ``calls`` counts the open ones too."""
        self._open: dict[str, float] = {}
        """Reservations of every process, by call."""
        self._in_flight: dict[str, float] = {}
        """Those of this process."""
        self.own = Spending()
        """The calls of this process, and the cost of those that are settled."""

    def spending(self) -> Spending:
        """Return what the run has spent over all of its processes, once its calls have ended."""
        with self._condition:
            self._read_events()
            calls, cost, lost_calls, lost_cost = self._settled
            rest = sum(self._open.values())
            return Spending(calls, cost + rest, lost_calls + len(self._open), lost_cost + rest)

    def reserve(self, worst_cost: float, stop: threading.Event) -> str:
        """Set the worst case of one call aside, in US dollars, and return the call's id.

        Where it does not fit, waits while calls are in flight, because they mostly settle far below
        their worst case. Raises RunStopped (``budget``) when none is, or when ``stop`` is set; a
        cap on calls never waits.
        """
        with self._condition:
            while True:
                with self._events.exclusive() if self._events else nullcontext():
                    self._read_events()
                    if self._settled.calls >= self._max_calls:
                        why = f"the run's {self._max_calls:,} calls are used; raise --max-calls"
                        raise RunStopped("budget", why)
                    held = sum(self._open.values())
                    if self._settled.cost + held + worst_cost <= self._max_cost + _HAIR:
                        call = secrets.token_hex(8)
                        self._in_flight[call] = worst_cost
                        self.own = self.own._replace(calls=self.own.calls + 1)
                        self._write(_RESERVED, call=call, cost=worst_cost)
                        return call
                    if stop.is_set() or not self._in_flight:
                        reserved = f", {held:.4f} reserved" if held else ""
                        raise RunStopped(
                            "budget",
                            f"the run may cost {self._max_cost:g} US dollars:"
                            f" {self._settled.cost:.4f} are spent{reserved}, and the next call may"
                            f" cost up to {worst_cost:.4f}; raise --max-cost",
                        )
                self._condition.wait()

    def settle(self, call: str, cost: float | None, *, lost: bool = False) -> None:
        """Replace a reservation by what the call cost, in US dollars; None: all of it.

        ``lost``: the call has no usable result. The event is not waited for: if the machine stops,
        the reservation counts.
        """
        with self._condition:
            reserved = self._in_flight.pop(call)
            paid = reserved if cost is None else cost
            self.own = self.own._replace(cost=self.own.cost + paid)
            self._write(_SETTLED, wait=False, call=call, cost=paid, lost=lost)
            self._condition.notify_all()

    def _write(self, event: str, *, wait: bool = True, **fields: Any) -> None:
        if self._events is None:
            self._count({"event": event, **fields})
        else:
            self._events.append(event, wait=wait, **fields)

    def _read_events(self) -> None:
        for record in self._events.unread() if self._events else ():
            self._count(record)

    def _count(self, record: Mapping[str, Any]) -> None:
        """Count an event of any process. A damaged one is left out."""
        call, cost = record.get("call"), record.get("cost")
        if not isinstance(call, str) or not isinstance(cost, int | float) or not cost >= 0:
            return
        calls, settled, lost_calls, lost_cost = self._settled
        if record["event"] == _RESERVED and call not in self._open:
            self._open[call] = cost
            self._settled = self._settled._replace(calls=calls + 1)
        elif record["event"] == _SETTLED and call in self._open:
            del self._open[call]
            lost = record.get("lost") is True
            self._settled = Spending(
                calls, settled + cost, lost_calls + lost, lost_cost + cost * lost
            )


STAND_IN = "stand-in"
"""The model of a first try: no provider knows it, and nothing is paid for it."""


def require_prices(
    max_cost: float | None, max_calls: int | None, prices: Mapping[str, Price | None]
) -> None:
    """Raise InvalidInput when a cap in dollars cannot be kept, before anything is sent.

    ``prices`` holds every model of the run. A cap on calls replaces an unknown price.
    """
    unknown = [model for model, price in prices.items() if price is None and model != STAND_IN]
    if max_cost is not None and max_calls is None and unknown:
        raise InvalidInput(
            f"no price is known for {', '.join(map(repr, unknown))}, so a cap of {max_cost:g} US"
            " dollars cannot be kept; give --max-calls too"
        )


@dataclass(frozen=True, slots=True)
class RetryTimes:
    """Waiting before another attempt: ``base_s * 2**attempt``, plus up to ``jitter`` of it."""

    max_retries: Annotated[int, Bounds(0, 10)] = 3
    """Attempts after the first."""
    base_s: Annotated[float, Bounds(0, 60)] = 2.0
    """Seconds."""
    jitter: Annotated[float, Bounds(0, 1)] = 0.5


@dataclass(eq=False)
class Calls:
    """A ``ChatModel`` that asks another one: with retries, within a budget. Safe for many threads.

    A call ends with a reply, with ModelFailed when it failed for good, or with RunStopped. The
    failure that stops the run is raised as RunStopped, and so is every call after it.
    """

    model: ChatModel
    budget: Budget
    _: KW_ONLY
    prices: Mapping[str, Price | None]
    """By model."""
    retry: RetryTimes
    stop: threading.Event
    consecutive: int | None
    """So many equal failures stop the run; None: never."""

    def __post_init__(self) -> None:
        self.provider, self.host = self.model.provider, self.model.host
        self._guard = threading.Lock()
        self._stopped: RunStopped | None = None
        self._streaks: dict[str, tuple[str, int]] = {}
        """The last failure in a row and its count, by model: one that always answers would
        otherwise hide one that always fails."""

    def parameters(self, request: ModelRequest) -> dict[str, object]:
        """Return what the model would be sent."""
        return self.model.parameters(request)

    def complete(self, request: ModelRequest, timeout_s: float) -> ModelReply:
        """Repeat the request until there is a reply. ``timeout_s`` limits one attempt."""
        left_s = _ATTEMPTS_OF_A_CALL * timeout_s + _MORE_S
        for retry in count():
            call = self._reserve(request)
            began = monotonic()
            try:
                return self._send(request, call, min(timeout_s, left_s))
            except ModelFailed as failed:
                failure = failed
            wait_s = self._wait_s(retry, failure)
            left_s -= monotonic() - began + wait_s
            is_last = not failure.retry or retry >= self.retry.max_retries
            if is_last or wait_s > _LONGEST_WAIT_S or left_s <= 0:
                break
            if self.stop.wait(wait_s):
                raise self._stop_run(_INTERRUPTED)
        why = self._reason_to_stop(request.model, failure)
        raise failure if why is None else self._stop_run(why)

    def _wait_s(self, retry: int, failure: ModelFailed) -> float:
        """Return the seconds before the retry of that number, from 0.

        The random part keeps calls that failed together from returning together.
        """
        part = self.retry.jitter * random.random()
        if failure.retry_after_s is not None:
            return failure.retry_after_s + part
        return self.retry.base_s * 2.0**retry * (1 + part)

    def _reserve(self, request: ModelRequest) -> str:
        """Reserve the worst case of an attempt, and return the id of the call."""
        if self._stopped is not None or self.stop.is_set():
            raise self._stop_run(_INTERRUPTED)
        try:
            worst = worst_cost(self.prices.get(request.model), request)
            return self.budget.reserve(worst, self.stop)
        except RunStopped as stopped:
            raise self._stop_run(_INTERRUPTED if self.stop.is_set() else stopped) from None

    def _send(self, request: ModelRequest, call: str, timeout_s: float) -> ModelReply:
        """Send a request once, and settle its reservation. Raises ModelFailed."""
        # Whatever happens, the provider may have done its work.
        cost: float | None = None
        lost = True
        try:
            reply = self.model.complete(request, timeout_s)
            lost = False
            if None not in (reply.usage.input_tokens, reply.usage.output_tokens):
                cost = cost_of(self.prices.get(request.model), reply.usage)
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
        if self.consecutive is None or length < self.consecutive:
            return None
        alike = f"{length} calls in a row failed alike"
        return RunStopped("fail_fast", f"stopped: {alike}; the last: {failure}")

    def _stop_run(self, why: RunStopped) -> RunStopped:
        """Stop the run, and return what is raised in this thread. The first reason stays."""
        with self._guard:
            self._stopped = self._stopped or why
            return RunStopped(self._stopped.reason, str(self._stopped))


_INTERRUPTED = RunStopped("interrupted", "the run was interrupted")
