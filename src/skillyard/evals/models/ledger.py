"""The budget of a run. Each call reserves its worst case before it is sent.

Settled plus reserved cost never exceeds the cap, as long as no call costs more than its worst case.
Sums are whole billionths of a dollar, rounded up, so rounding cannot exceed the cap either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from threading import Condition, Event

from skillyard.errors import InvalidInput
from skillyard.evals.models.prices import Price
from skillyard.evals.models.run_stop import RunStopped

__all__ = ["Ledger", "Reservation", "require_prices"]

_UNIT = 1_000_000_000
"""Parts of a US dollar: the dearest model of the price table costs 600,000 of them a token, the
cheapest a few."""


class Ledger:
    """Money and calls of one run. Safe for many threads."""

    def __init__(self, max_cost: float | None = None, max_calls: int | None = None) -> None:
        """``max_cost`` is US dollars, 0 and up; ``max_calls`` counts requests sent; None: no cap.

        Raises InvalidInput for anything else.
        """
        if max_cost is not None and not (math.isfinite(max_cost) and max_cost >= 0):
            raise InvalidInput(f"max_cost must be 0 or more US dollars, not {max_cost}")
        if max_calls is not None and max_calls < 0:
            raise InvalidInput(f"max_calls must be 0 or more, not {max_calls}")
        self.max_cost = max_cost
        self.max_calls = max_calls
        self._cap = None if max_cost is None else math.floor(max_cost * _UNIT + 1e-6)
        self._settled = 0
        self._reserved = 0
        self._calls = 0
        self._in_flight = 0
        self._condition = Condition()

    @property
    def spent(self) -> float:
        """US dollars of the calls that are settled."""
        with self._condition:
            return self._settled / _UNIT

    @property
    def reserved(self) -> float:
        """US dollars that the calls in flight may cost at most."""
        with self._condition:
            return self._reserved / _UNIT

    @property
    def calls(self) -> int:
        """Requests sent so far."""
        with self._condition:
            return self._calls

    def reserve(self, worst_cost: float, *, stop: Event | None = None) -> Reservation:
        """Set the worst case of one call aside, in US dollars, before it is sent.

        Where it does not fit: without ``stop``, raises RunStopped (``budget``) at once. With it,
        waits while calls are in flight, because they mostly settle far below their worst case, and
        raises when none is, or when ``stop`` is set. A cap on calls never waits. Raises
        InvalidInput for a worst case that is no amount.
        """
        amount = _amount(worst_cost)
        with self._condition:
            while True:
                if self.max_calls is not None and self._calls >= self.max_calls:
                    raise RunStopped(
                        "budget", f"the run's {self.max_calls:,} calls are used; raise --max-calls"
                    )
                if self._cap is None or self._settled + self._reserved + amount <= self._cap:
                    break
                if stop is None or stop.is_set() or not self._in_flight:
                    raise RunStopped("budget", self._over_budget(amount))
                self._condition.wait()
            self._reserved += amount
            self._calls += 1
            self._in_flight += 1
        return Reservation(self, amount)

    def _over_budget(self, amount: int) -> str:
        reserved = f", {self._reserved / _UNIT:.4f} reserved" if self._reserved else ""
        return (
            f"the run may cost {self.max_cost:.2f} US dollars: "
            f"{self._settled / _UNIT:.4f} are spent{reserved}, and the next call may cost up to "
            f"{amount / _UNIT:.4f}; raise --max-cost"
        )

    def _settle(self, reserved: int, actual: float) -> None:
        amount = _amount(actual)
        with self._condition:
            self._reserved -= reserved
            self._settled += amount
            self._in_flight -= 1
            self._condition.notify_all()


class Reservation:
    """The reserved cost of one call, until it is settled."""

    def __init__(self, ledger: Ledger, amount: int) -> None:
        self._ledger = ledger
        self._amount = amount
        self._open = True

    def settle(self, actual: float) -> None:
        """Replace the reservation by what the call cost, in US dollars.

        Raises InvalidInput when that is no amount, or when it was settled before.
        """
        if not self._open:
            raise InvalidInput("a reservation is settled once")
        _amount(actual)
        self._open = False
        self._ledger._settle(self._amount, actual)


def _amount(dollars: float) -> int:
    if not (math.isfinite(dollars) and dollars >= 0):
        raise InvalidInput(f"an amount is 0 or more US dollars, not {dollars}")
    return math.ceil(round(dollars * _UNIT, 3))


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
        f"no price is known for {', '.join(map(repr, unknown))}, so a cap of {max_cost:.2f} US"
        " dollars cannot be kept; give --max-calls too"
    )
