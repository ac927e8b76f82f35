"""The values that a catalog store accepts and returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

from skillyard.errors import InvalidInput
from skillyard.skill import Reference, Skill

__all__ = [
    "START",
    "Changes",
    "Durability",
    "FileDigest",
    "Generation",
    "Grant",
    "Position",
    "Published",
    "Snapshot",
    "Standby",
    "Standing",
    "Status",
    "StoreKey",
    "Submission",
    "Version",
]

Durability = Literal["local", "synchronous"]


class StoreKey(NamedTuple):
    """The identity of a skill across its versions.

    The source is part of it: a skill from elsewhere never becomes a version of yours.
    """

    tenant: str
    namespace: str
    """Parts joined by ``/``; empty for the tenant's own top."""
    source: str
    """``Skill.source``; empty for a skill without one."""
    place: str
    """What tells it from the others of its source: its slug, where nothing else was said."""

    def __str__(self) -> str:
        place = f"{self.source}#{self.place}" if self.source else self.place
        return "/".join(part for part in (self.tenant, self.namespace, place) if part)


class FileDigest(NamedTuple):
    """One file of a skill."""

    path: str
    """Below the skill's folder, with ``/``."""
    sha256: str
    """64 hexadecimal digits."""
    size: int
    """Bytes."""


class Submission(NamedTuple):
    """A skill to publish, with what a :class:`~skillyard.skill.Skill` does not hold."""

    skill: Skill
    place: str | None = None
    """See :class:`StoreKey`; None for the skill's slug."""
    files: tuple[FileDigest, ...] = ()
    commit: str | None = None
    """The commit of its source that it was read from."""
    url: str | None = None
    """Where a person finds it."""
    expected: int | None = None
    """The version that the store must hold now; 0: none."""


@dataclass(frozen=True, slots=True)
class Version:
    """One published version of a skill."""

    key: StoreKey
    version: int
    """1 for the first; one more whenever the content differs from what stood there."""
    generation: int
    """The generation that brought it."""
    skill: Skill
    digest: str
    """SHA-256 of all that makes the content: 64 digits."""
    files: tuple[FileDigest, ...]
    commit: str | None
    url: str | None
    publisher: str
    published_at: int
    """Unix seconds, by the clock of the store. Nothing is ordered by it."""


class Standing(NamedTuple):
    """The current state of a key without its text: enough to detect changes."""

    key: StoreKey
    version: int
    digest: str
    """See :class:`Version`."""
    installs: int
    hash: str | None
    """``Skill.hash``: SHA-256 of the file. None where the skill is too large to be looked at
    like this; the four below are then empty."""
    slug: str = ""
    origin: str | None = None
    references: tuple[Reference, ...] = ()
    files: tuple[FileDigest, ...] = ()


class Generation(NamedTuple):
    """One entry of the log of a store: what changed, when, for whom and by whom."""

    generation: int
    published_at: int
    """Unix seconds, by the clock of the store."""
    tenant: str
    publisher: str
    """For a grant: the caller whose view changed."""
    action: str
    """``publish``, ``withdraw``, ``rollback``, ``grant`` or ``revoke``."""
    added: int
    changed: int
    withdrawn: int


class Published(NamedTuple):
    """The result of a publish, a withdrawal or a rollback, in skills.

    ``generation`` is the new one, or the current one when nothing changed.
    """

    generation: int
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    withdrawn: int = 0


class Position(NamedTuple):
    """The position of a follower. It can be printed as one word and parsed again.

    A stamp distinguishes generations of the same number: after a failover to a standby that lacks
    the last generations, or a restored backup, the follower starts afresh.
    """

    generation: int
    """The last one that the follower holds whole."""
    stamp: str = ""
    """Of that generation; empty: unknown, so only its number is looked at."""
    until: int = 0
    """The generation that the pages lead to; 0 between two rounds of pages."""
    until_stamp: str = ""
    at_generation: int = 0
    """Generation and number of the last change that the follower was given."""
    at_ordinal: int = 0
    whole: bool = False
    """The pages hold everything, not only what is new."""

    def __str__(self) -> str:
        if not self.until:
            return f"{self.generation}.{self.stamp}"
        parts = (*self[:-1], int(self.whole))
        return ".".join(map(str, parts))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a printed position. Raises InvalidInput."""
        parts = text.split(".") if isinstance(text, str) and len(text) <= 256 else []
        if len(parts) not in (2, 7):
            raise InvalidInput("a position is written <generation>.<stamp>")
        numbers = parts[::2] if len(parts) == 2 else [parts[i] for i in (0, 2, 4, 5, 6)]
        if not all(number.isascii() and number.isdigit() for number in numbers):
            raise InvalidInput("a position holds whole numbers and stamps")
        if len(parts) == 2:
            return cls(int(parts[0]), parts[1])
        until, at, ordinal = (int(parts[i]) for i in (2, 4, 5))
        return cls(int(parts[0]), parts[1], until, parts[3], at, ordinal, parts[6] == "1")


START = Position(0)
"""The position of a follower that holds nothing."""


class Changes(NamedTuple):
    """One page of changes."""

    generation: int
    """Where the pages lead. The follower holds it once ``complete`` is True, and not before."""
    upserts: tuple[Version, ...]
    withdrawals: tuple[StoreKey, ...]
    position: Position
    """What to ask for the next page with."""
    complete: bool
    whole: bool
    """The pages hold everything: what they do not name, the follower drops."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Every skill of one generation. Iterating streams them by page, in commit order.

    Iterating again starts from the beginning. Raises StoreUnavailable when the store was restored
    to a state before ``generation`` meanwhile.
    """

    generation: int
    position: Position
    """What to follow the changes from."""
    pages: Callable[[], Iterator[Version]]
    """What starts the stream."""

    def __iter__(self) -> Iterator[Version]:
        return self.pages()


class Grant(NamedTuple):
    """What a caller may see: the skills of a tenant, in a namespace, or those on a list."""

    caller: str
    tenant: str
    namespace: str = ""
    """This one and all below it; empty: all."""
    places: tuple[str, ...] = ()
    """The allow-list, by ``StoreKey.place``; empty: all."""


class Standby(NamedTuple):
    """One server that replays what this one writes."""

    name: str
    state: str
    """``sync`` and ``quorum`` are waited for; ``async`` and ``potential`` are not."""
    lag_s: float | None
    """Seconds between a write here and its replay there, as last measured; None: idle."""


class Status(NamedTuple):
    """The status of a store."""

    backend: str
    address: str
    """Without credentials."""
    schema: int
    generation: int
    skills: int
    """How many of them the asking caller sees."""
    writable: bool
    notifies: bool
    """It tells of new generations by itself; otherwise it is asked."""
    standbys: tuple[Standby, ...]
