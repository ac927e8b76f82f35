"""Retries after 429 and 503, with the delay of the service and within a budget."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from skillyard.base.errors import InvalidInput
from skillyard.base.io.retry_after import retry_after_s

PATIENT = frozenset({429, 503})
"""Statuses of requests that the service has not started."""


@dataclass(frozen=True, slots=True)
class Retries:
    """The retry policy of a client. Raises InvalidInput for negative numbers."""

    times: int = 3
    """The maximum number of retries of a request."""
    longest_s: float = 10.0
    """Maximum delay that is accepted from the service; a longer one becomes an error that states
    it."""
    budget_s: float = 30.0
    """Maximum total delay of one call in seconds."""
    unsaid_s: float = 0.5
    """The first delay when the service specifies none; it doubles each time."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            expected = int if name == "times" else int | float
            right = isinstance(value, expected) and not isinstance(value, bool)
            if not right or not 0 <= value < 1e6:
                raise InvalidInput(f"retries.{name} must be a number of at least 0", field=name)

    def wait_s(self, attempts: int, waited_s: float, after: float | None) -> float | None:
        """Return the delay before the next attempt in seconds, or None to give up.

        ``attempts`` have failed so far, ``waited_s`` is the sum of the delays, ``after`` the
        Retry-After of the service.
        """
        wait = self.unsaid_s * 2 ** (attempts - 1) if after is None else after
        patient = wait <= self.longest_s and waited_s + wait <= self.budget_s
        return wait if attempts <= self.times and patient else None


def after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header, or None."""
    return retry_after_s(headers.get("retry-after"), time.time())
