"""Rate limits: how many requests a host accepts in a window."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from threading import Lock
from typing import NamedTuple

__all__ = ["RateLimit", "RateLimitState"]


class RateLimitState(NamedTuple):
    """The limit of one account after a request."""

    limit: int
    used: int
    reset_at: float
    """Seconds since 1970 at which the window ends."""
    wait_s: int
    """Whole seconds until then, at least 1."""
    allowed: bool

    @property
    def remaining(self) -> int:
        """Requests that are left in the window."""
        return max(0, self.limit - self.used)


@dataclass
class RateLimit:
    """Requests in a window, for anonymous clients together and for each token of its own."""

    anonymous: int | None = None
    """None: no limit, and no headers about it."""
    authorised: int | None = None
    window_s: float = 3600.0
    status: int = 403
    """Status of a request above the limit: 403 or 429."""
    at_once: int | None = None
    """Concurrent requests above which the secondary limit applies."""
    _used: dict[str, tuple[int, float]] = field(default_factory=dict, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def charge(self, account: str, cost: int, now: float) -> RateLimitState | None:
        """Count requests of an account, the empty one being anonymous; None without a limit.

        A refused request does not count. One that costs nothing is always allowed.
        """
        limit = self.authorised if account else self.anonymous
        if limit is None:
            return None
        with self._lock:
            used, ends = self._used.get(account, (0, now + self.window_s))
            if now >= ends:
                used, ends = 0, now + self.window_s
            allowed = used + cost <= limit or not cost
            used += cost if allowed else 0
            self._used[account] = (used, ends)
        return RateLimitState(limit, used, ends, max(1, ceil(ends - now)), allowed)

    def refill(self) -> None:
        """Reset every account."""
        with self._lock:
            self._used.clear()
