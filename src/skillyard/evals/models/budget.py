"""The budget of a run, over all of its resumes and processes.

Each call reserves its worst case before it is sent, and is settled at its cost afterwards. Both are
events of the run, so that every process on it, now or later, counts the same calls. A process that
is killed leaves reservations open: they stay counted, because the provider may have billed them.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from contextlib import nullcontext
from threading import Condition, Event
from typing import TYPE_CHECKING, Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.evals.models.prices import Price
from skillyard.evals.models.protocol import RunStopped

if TYPE_CHECKING:
    from skillyard.evals.storage import Events

_RESERVED, _SETTLED = "reserved", "settled"
_HAIR = 1e-9
"""US dollars, by which sums of decimal fractions miss: the last cent of a cap can be used."""


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
        self._condition = Condition()
        self._settled = Spending()
        """Of every process; ``calls`` counts the open ones too."""
        self._open: dict[str, float] = {}
        """Reservations of every process, by call."""
        self._in_flight: dict[str, float] = {}
        """Those of this process."""
        self._own = Spending()

    @property
    def own(self) -> Spending:
        """The calls of this process, and the cost of those that are settled."""
        return self._own

    def spending(self) -> Spending:
        """Return what the run has spent over all of its processes, once its calls have ended."""
        with self._condition:
            self._read_events()
            calls, cost, lost_calls, lost_cost = self._settled
            rest = sum(self._open.values())
            return Spending(calls, cost + rest, lost_calls + len(self._open), lost_cost + rest)

    def reserve(self, worst_cost: float, stop: Event) -> str:
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
                        self._own = self._own._replace(calls=self._own.calls + 1)
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
            self._own = self._own._replace(cost=self._own.cost + paid)
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


def require_prices(
    max_cost: float | None, max_calls: int | None, prices: Mapping[str, Price | None]
) -> None:
    """Raise InvalidInput when a cap in dollars cannot be kept, before anything is sent.

    ``prices`` holds every model of the run. A cap on calls replaces an unknown price.
    """
    unknown = [model for model, price in prices.items() if price is None]
    if max_cost is not None and max_calls is None and unknown:
        raise InvalidInput(
            f"no price is known for {', '.join(map(repr, unknown))}, so a cap of {max_cost:g} US"
            " dollars cannot be kept; give --max-calls too"
        )
