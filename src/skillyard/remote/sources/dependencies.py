"""Tracks what a search result depends on: how long each response behind it stays fresh.

Only the transport knows how long a response is fresh, and each source sends its own requests. So
the sources of a service use a :class:`DependencyTracker`, which records the responses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

from skillyard.remote.sources.transport import MAX_BYTES, NEGATIVE_S, Check, Reply, Transport

__all__ = ["Age", "Dependencies", "DependencyTracker", "forbid_caching", "track_dependencies"]


class Age(float):
    """Seconds since a remote last confirmed an answer, and when it did.

    Sources pass it on like any number. A cache can compute a later age from it.
    """

    __slots__ = ("checked",)

    checked: float
    """Seconds since the epoch."""

    def __new__(cls, age_s: float, checked: float) -> Age:
        """Return an age of ``age_s`` seconds."""
        age = super().__new__(cls, age_s)
        age.checked = checked
        return age

    def at(self, now: float) -> float:
        """Return the age at another moment; never below 0."""
        return max(0.0, now - self.checked)


class Dependencies:
    """What one search depends on."""

    def __init__(self) -> None:
        self.is_cacheable = True
        """False when a part of the result failed or was stale."""
        self.until = inf
        """When the first response expires, in seconds since the epoch."""
        self.uses_transport = False
        """True when a source used the transport."""

    def forbid_caching(self) -> None:
        """Record that the result must not be cached."""
        self.is_cacheable = False

    def add(self, reply: Reply, requested_at: float, fresh_s: float, *, offline: bool) -> Reply:
        """Record a response; return it with an :class:`Age`.

        ``requested_at`` is the time before the request, ``fresh_s`` how long the response is fresh.
        """
        checked = requested_at - reply.age_s
        if reply.stale and not offline:
            self.forbid_caching()
        self.until = min(self.until, checked + fresh_s)
        return reply._replace(age_s=Age(reply.age_s, checked))


_CURRENT: ContextVar[Dependencies | None] = ContextVar("dependencies", default=None)
"""The dependencies of the running search. Tasks inherit them from the task that created them."""


@contextmanager
def track_dependencies() -> Iterator[Dependencies]:
    """Yield the dependencies of all requests made in the block and in tasks created there."""
    dependencies = Dependencies()
    token = _CURRENT.set(dependencies)
    try:
        yield dependencies
    finally:
        _CURRENT.reset(token)


def forbid_caching() -> None:
    """Record that the running search read something whose changes no transport reports."""
    dependencies = _CURRENT.get()
    if dependencies is not None:
        dependencies.forbid_caching()


class DependencyTracker(Transport):
    """A transport that records the dependencies of the running search.

    It is a view of another transport and shares its connections, running requests and cache.
    """

    __slots__ = ("_real",)  # beside the dictionary, which belongs to the other one

    def __init__(self, transport: Transport) -> None:
        self._real = transport
        self.__dict__ = transport.__dict__

    def now(self) -> float:
        """Return the time by the transport's clock, in seconds since the epoch."""
        return self._clock()

    async def get(
        self,
        host: str,
        path: str,
        *,
        fresh_s: float = 0.0,
        accept: str = "application/json",
        max_bytes: int = MAX_BYTES,
        check: Check | None = None,
    ) -> Reply:
        """Return the transport's response, and record how long it is fresh. Raises SourceFailed."""
        dependencies, requested_at = _CURRENT.get(), self._clock()
        if dependencies is not None:
            dependencies.uses_transport = True
        try:
            reply = await self._real.get(
                host, path, fresh_s=fresh_s, accept=accept, max_bytes=max_bytes, check=check
            )
        except BaseException:  # a timeout arrives here as a cancellation
            if dependencies is not None:
                dependencies.forbid_caching()
            raise
        if dependencies is None:
            return reply
        believed_s = inf if self.offline else fresh_s if reply.status == 200 else NEGATIVE_S
        believed_s = min(believed_s, self.cache.oldest_s)
        return dependencies.add(reply, requested_at, believed_s, offline=self.offline)
