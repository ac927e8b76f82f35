"""The budget of a run. Each call reserves its worst case before it is sent.

Settled plus reserved cost never exceeds the cap, as long as no call costs more than its worst case.
Sums are whole billionths of a dollar, rounded up, so rounding cannot exceed the cap either.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from threading import Condition, Event

from skillyard.base.errors import InvalidInput
from skillyard.evals.models.prices import Price
from skillyard.evals.models.protocol import RunStopped

UNITS = 1_000_000_000
"""Parts of a US dollar: the dearest model of the price table costs 600,000 of them a token, the
cheapest a few."""


@dataclass(frozen=True, slots=True)
class Spending:
    """What a run has spent, over all of its resumes and processes."""

    calls: int = 0
    """Requests sent."""
    cost: float = 0.0
    """US dollars. A call without a known result counts with its reservation."""
    lost_calls: int = 0
    """Requests without a usable result that may have been billed: cut off, or failed."""
    lost_cost: float = 0.0
    """US dollars of ``cost`` that were reserved for them."""


@dataclass(slots=True)
class Account:
    """The calls of one run: those that are settled, and the open reservations by id.

    Amounts are billionths of a dollar. This one is in memory;
    :class:`skillyard.evals.storage.account.RunAccount` shares it between processes.
    """

    calls: int = 0
    settled: int = 0
    lost_calls: int = 0
    lost: int = 0
    reserved: dict[str, int] = field(default_factory=dict)

    def exclusive(self) -> AbstractContextManager[object]:
        """Keep other processes from reserving, and read what they have done."""
        return nullcontext()

    def reserve(self, call: str, amount: int) -> None:
        """Open a reservation."""
        self.reserved[call] = amount
        self.calls += 1

    def settle(self, call: str, amount: int, *, lost: bool) -> None:
        """Replace a reservation by what the call cost."""
        del self.reserved[call]
        self.settled += amount
        if lost:
            self.lost_calls += 1
            self.lost += amount

    def spending(self) -> Spending:
        """Return the sums. Open reservations count as lost: call it when the calls have ended."""
        open_cost = sum(self.reserved.values())
        return Spending(
            self.calls,
            (self.settled + open_cost) / UNITS,
            self.lost_calls + len(self.reserved),
            (self.lost + open_cost) / UNITS,
        )


@dataclass(frozen=True, slots=True)
class Reservation:
    """The reserved cost of one call, until it is settled."""

    ledger: Ledger
    call: str
    amount: int
    """Billionths of a US dollar: the most that the call may cost."""
    whole: bool
    """False if less than the worst case was left to reserve."""

    @property
    def cost(self) -> float:
        """US dollars: the most that the call may cost."""
        return self.amount / UNITS

    def settle(self, actual: float, *, lost: bool = False) -> None:
        """Replace the reservation by what the call cost, in US dollars.

        ``lost``: the call has no usable result. Raises InvalidInput when ``actual`` is no amount,
        or when the reservation was settled before.
        """
        self.ledger.settle(self.call, actual, lost=lost)


class Ledger:
    """Money and calls of one run. Safe for many threads.

    The caps hold for the whole ``account``, the figures are those of this process.
    """

    def __init__(
        self,
        max_cost: float | None = None,
        max_calls: int | None = None,
        account: Account | None = None,
    ) -> None:
        """``max_cost`` is US dollars, 0 and up; ``max_calls`` counts requests sent; None: no cap.

        Raises InvalidInput for anything else.
        """
        if max_cost is not None and not (math.isfinite(max_cost) and max_cost >= 0):
            raise InvalidInput(f"max_cost must be 0 or more US dollars, not {max_cost}")
        if max_calls is not None and max_calls < 0:
            raise InvalidInput(f"max_calls must be 0 or more, not {max_calls}")
        self.max_cost = max_cost
        self.max_calls = max_calls
        self.calls = 0
        """Requests sent so far."""
        self._account = Account() if account is None else account
        self._cap = math.inf if max_cost is None else math.floor(max_cost * UNITS + 1e-6)
        self._settled = 0
        self._in_flight: dict[str, int] = {}
        self._condition = Condition()

    @property
    def spent(self) -> float:
        """US dollars of the calls that are settled."""
        with self._condition:
            return self._settled / UNITS

    @property
    def reserved(self) -> float:
        """US dollars that the calls in flight may cost at most."""
        with self._condition:
            return sum(self._in_flight.values()) / UNITS

    def spending(self) -> Spending:
        """Return what the run has spent over all of its processes, once its calls have ended."""
        with self._condition, self._account.exclusive():
            return self._account.spending()

    def reserve(
        self, worst_cost: float, *, least_cost: float | None = None, stop: Event | None = None
    ) -> Reservation:
        """Set the worst case of one call aside, in US dollars, before it is sent.

        Where it does not fit: without ``stop``, raises RunStopped (``budget``) at once. With it,
        waits while calls are in flight, because they mostly settle far below their worst case, and
        raises when none is, or when ``stop`` is set. If ``least_cost`` fits when none is in flight,
        reserves all that is left instead. A cap on calls never waits. Raises InvalidInput for a
        worst case that is no amount.
        """
        most = _amount(worst_cost)
        least = most if least_cost is None else _amount(least_cost)
        with self._condition:
            while True:
                with self._account.exclusive():
                    if self.max_calls is not None and self._account.calls >= self.max_calls:
                        raise RunStopped(
                            "budget",
                            f"the run's {self.max_calls:,} calls are used; raise --max-calls",
                        )
                    left = self._cap - self._account.settled - sum(self._account.reserved.values())
                    if most <= left:
                        return self._open(most, whole=True)
                    if least <= left and not self._in_flight:
                        return self._open(int(left), whole=False)
                    if stop is None or stop.is_set() or not self._in_flight:
                        raise RunStopped("budget", self._over_budget(least))
                self._condition.wait()

    def _open(self, amount: int, *, whole: bool) -> Reservation:
        call = secrets.token_hex(8)
        self._account.reserve(call, amount)
        self._in_flight[call] = amount
        self.calls += 1
        return Reservation(self, call, amount, whole)

    def _over_budget(self, amount: int) -> str:
        open_cost = sum(self._account.reserved.values())
        reserved = f", {open_cost / UNITS:.4f} reserved" if open_cost else ""
        return (
            f"the run may cost {_shown(self.max_cost or 0.0)} US dollars: "
            f"{self._account.settled / UNITS:.4f} are spent{reserved}, and the next call may cost"
            f" up to {amount / UNITS:.4f}; raise --max-cost"
        )

    def settle(self, call: str, actual: float, *, lost: bool = False) -> None:
        """Replace the reservation of a call; see :meth:`Reservation.settle`."""
        amount = _amount(actual)
        with self._condition:
            if call not in self._in_flight:
                raise InvalidInput("a reservation is settled once")
            del self._in_flight[call]
            self._settled += amount
            self._condition.notify_all()
            self._account.settle(call, amount, lost=lost)


def _shown(dollars: float) -> str:
    """Return a cap with all the digits that count, and two at least: 0.0001 is not 0.00."""
    whole, digits = f"{dollars:.9f}".split(".")
    return f"{whole}.{digits[:2]}{digits[2:].rstrip('0')}"


def _amount(dollars: float) -> int:
    if not (math.isfinite(dollars) and dollars >= 0):
        raise InvalidInput(f"an amount is 0 or more US dollars, not {dollars}")
    return math.ceil(round(dollars * UNITS, 3))


def require_prices(
    max_cost: float | None, max_calls: int | None, prices: Mapping[str, Price | None]
) -> None:
    """Raise InvalidInput when a cap in dollars cannot be kept, before anything is sent.

    ``prices`` holds every model of the run. A cap on calls replaces an unknown price.
    """
    unknown = [model for model, price in prices.items() if price is None]
    if max_cost is None or max_calls is not None or not unknown:
        return
    raise InvalidInput(
        f"no price is known for {', '.join(map(repr, unknown))}, so a cap of {_shown(max_cost)} US"
        " dollars cannot be kept; give --max-calls too"
    )
