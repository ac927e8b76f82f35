"""Rate limits of remotes: which origin must not be contacted, and until when."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from skillyard.base.errors import SourceFailed
from skillyard.base.io.connections import retry_after_s

EPOCH = 1e9
"""A reset value above this is a time, below it a number of seconds: servers send both."""
MAX_WAIT_S = 3_600.0
UNSAID_WAIT_S = 60.0
"""Delay in seconds when a rate-limited response does not give one."""


class Quotas:
    """The time at which each rate-limited origin may be contacted again."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._spent_until: dict[str, float] = {}

    def check(self, origin: str, remedy: str = "") -> None:
        """Raise SourceFailed for an origin whose rate limit is reached.

        ``remedy`` says what a user can do besides waiting.
        """
        left = self._spent_until.get(origin, 0.0) - self._clock()
        if left > 0:
            raise rate_limit_error(origin, left, remedy)

    def note(self, origin: str, headers: Mapping[str, str]) -> None:
        """Record when a used-up quota is renewed."""
        if headers.get("x-ratelimit-remaining") == "0":
            reset = _number(headers.get("x-ratelimit-reset"))
            if reset is not None:
                until = reset if reset > EPOCH else self._clock() + reset
                self._spent_until[origin] = min(until, self._clock() + MAX_WAIT_S)

    def wait(
        self, origin: str, status: int, headers: Mapping[str, str], body: bytes
    ) -> float | None:
        """Record a rate limit and return its delay in seconds; None for any other response.

        ``body`` is the beginning of the response body.
        """
        after = retry_after_s(headers.get("retry-after"), self._clock())
        limited = (
            status == 429
            or (status in (403, 503) and after is not None)
            or (status == 403 and headers.get("x-ratelimit-remaining") == "0")
            or (status == 403 and b"rate limit" in body.lower())
        )
        if not limited:
            return None
        until = self._spent_until.get(origin, 0.0)
        if after is not None:
            until = max(until, self._clock() + min(after, MAX_WAIT_S))
        elif until <= self._clock():
            until = self._clock() + UNSAID_WAIT_S
        self._spent_until[origin] = until
        return until - self._clock()


def rate_limit_error(
    origin: str, wait_s: float, remedy: str = "", status: int | None = None
) -> SourceFailed:
    """Return the error for an origin that is rate-limited for this many seconds."""
    answered = f" ({status})" if status is not None else ""
    return SourceFailed(
        "rate_limited",
        f"{origin}: rate limit reached{answered}",
        hint=" or ".join(filter(None, (f"wait {wait_s:.0f} s", remedy))),
        retry_after_s=wait_s,
        status=status,
    )


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 1e11 else None
