"""How long the parts of an answer stand: noted while they are gathered, as their sources ask.

Only the transport is told how long an answer may be believed, and each source asks it by itself.
So the sources of a service ask through :class:`Noting`, which writes down what they were given.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf

from skillyard.remote.sources.transport import MOST_BYTES, NEGATIVE_S, Check, Reply, Transport

__all__ = ["Age", "Notes", "Noting", "noted", "refuse"]


class Age(float):
    """Seconds since a remote last said something, and the moment when it did.

    It goes through a source as any number does; who keeps what the source made of it can tell
    later how old that is by then.
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


class Notes:
    """What the transport gave for one search."""

    def __init__(self) -> None:
        self.stands = True
        """False when a part of it failed, or was older than it may be."""
        self.until = inf
        """When the first part of it has to be asked for again, in seconds since the epoch."""

    def refuse(self) -> None:
        """Note that what is gathered must not be given again."""
        self.stands = False

    def note(self, reply: Reply, asked: float, fresh_s: float, *, offline: bool) -> Reply:
        """Return an answer with an age that can grow, after it was noted.

        ``asked`` is the time before it was asked for, ``fresh_s`` how long it is believed.
        """
        checked = asked - reply.age_s
        if reply.stale and not offline:
            self.refuse()
        self.until = min(self.until, checked + fresh_s)
        return reply._replace(age_s=Age(reply.age_s, checked))


_NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)
"""The notes of the search that is gathered; tasks take it along from where they are made."""


@contextmanager
def noted() -> Iterator[Notes]:
    """Give the notes of everything that is asked for inside, and in the tasks made there."""
    notes = Notes()
    token = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(token)


def refuse() -> None:
    """Note that what is gathered here was read from where no transport tells of a change."""
    notes = _NOTES.get()
    if notes is not None:
        notes.refuse()


class Noting(Transport):
    """A transport as the sources of a search see it.

    It is a second view of the one it is made of: connections, requests on their way and what is
    kept are the same.
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
        most_bytes: int = MOST_BYTES,
        check: Check | None = None,
    ) -> Reply:
        """Return what the transport gives, and note how long it stands. Raises SourceFailed."""
        notes, asked = _NOTES.get(), self._clock()
        try:
            reply = await self._real.get(
                host, path, fresh_s=fresh_s, accept=accept, most_bytes=most_bytes, check=check
            )
        except BaseException:  # a timeout arrives here as a cancellation
            if notes is not None:
                notes.refuse()
            raise
        if notes is None:
            return reply
        believed_s = inf if self.offline else fresh_s if reply.status == 200 else NEGATIVE_S
        believed_s = min(believed_s, self.cache.oldest_s)
        return notes.note(reply, asked, believed_s, offline=self.offline)
