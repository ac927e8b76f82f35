"""The values that a catalog store accepts and returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple, Self

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes import Schema
from skillyard.engine.skill import Skill

Durability = Literal["local", "synchronous"]


class StoreKey(NamedTuple):
    """The identity of a skill across its versions.

    It includes the source, so a skill from another source never becomes a version of this one.
    """

    tenant: str
    namespace: str
    """Parts joined by ``/``; empty for the tenant's root."""
    source: str
    """``Skill.source``; empty for a skill without one."""
    place: str
    """Distinguishes the skills of a source; the slug, unless another place was given."""

    def __str__(self) -> str:
        place = f"{self.source}#{self.place}" if self.source else self.place
        return "/".join(part for part in (self.tenant, self.namespace, place) if part)


@dataclass(frozen=True, slots=True, order=True)
class FileDigest:
    """One file of a skill."""

    path: Annotated[str, "Below the skill's folder."]
    sha256: Annotated[str, "64 hexadecimal digits."]
    size: Annotated[int, "Bytes."]


class Submission(NamedTuple):
    """A skill to publish, with data that a ``Skill`` does not contain."""

    skill: Skill
    place: str | None = None
    """See :class:`StoreKey`; None for the skill's slug."""
    files: tuple[FileDigest, ...] = ()
    commit: str | None = None
    """The commit of its source from which it was read."""
    url: str | None = None
    """The address at which a person can read it."""
    expected: int | None = None
    """The version that the store must have now; 0: none."""


@dataclass(frozen=True, slots=True)
class Version:
    """One published version of a skill."""

    key: StoreKey
    version: int
    """1 for the first version; increased by one with each change of the content."""
    generation: int
    """The generation that added it."""
    skill: Skill
    digest: str
    """SHA-256 of the content: 64 digits."""
    files: tuple[FileDigest, ...]
    commit: str | None
    url: str | None
    publisher: str
    published_at: int
    """Unix seconds, by the clock of the store. It is not used for ordering."""


class Standing(NamedTuple):
    """The current state of a key without its content: enough to detect changes."""

    digest: str
    """See :class:`Version`."""
    installs: int


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of a store."""

    generation: Annotated[int, "Its number."]
    published_at: Annotated[int, "Unix seconds, by the clock of the store."]
    tenant: Annotated[str, "Whose skills changed."]
    publisher: Annotated[str, "Who changed them; for a grant, the caller."]
    action: Annotated[str, "publish, withdraw, rollback, grant or revoke."]
    added: Annotated[int, "New skills."]
    changed: Annotated[int, "Skills with a new version."]
    withdrawn: Annotated[int, "Withdrawn skills."]


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
    """The position of a follower. Between two rounds of pages it is printed as one word.

    A stamp distinguishes generations of the same number: after a failover to a standby that lacks
    the last generations, or a restored backup, the follower starts afresh.
    """

    generation: int
    """The last generation that the follower has completely."""
    stamp: str = ""
    """The stamp of that generation; empty: unknown, so only the number is compared."""
    until: int = 0
    """The generation that the pages lead to; 0 between two rounds of pages."""
    until_stamp: str = ""
    at_generation: int = 0
    """Generation and number of the last change that the follower received."""
    at_ordinal: int = 0
    whole: bool = False
    """True when the pages contain everything, not only changes."""

    def __str__(self) -> str:
        return f"{self.generation}.{self.stamp}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a printed position between two rounds. Raises InvalidInput."""
        generation, dot, stamp = text.partition(".")
        if not dot or not (generation.isascii() and generation.isdigit()):
            raise InvalidInput("a position is written <generation>.<stamp>")
        return cls(int(generation), stamp)


START = Position(0)
"""The position of a follower without any data."""


class Changes(NamedTuple):
    """One page of changes."""

    generation: int
    """The generation that the pages lead to. The follower has it only after ``complete``."""
    upserts: tuple[Version, ...]
    withdrawals: tuple[StoreKey, ...]
    position: Position
    """The position of the next page."""
    complete: bool
    whole: bool
    """True when the pages contain everything: the follower drops all other skills."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a caller may see: the skills of a tenant, in a namespace, or those on a list."""

    caller: Annotated[str, "Who may see it."]
    tenant: Annotated[str, "The owner of the skills."]
    # A document leaves out a member with its default, and never one with a factory.
    namespace: Annotated[str, "This one and all below it; empty: all."] = field(default_factory=str)
    places: Annotated[tuple[str, ...], "These skills alone; empty: all."] = field(
        default_factory=tuple
    )


@dataclass(frozen=True, slots=True)
class Standby:
    """One server that replays what the store writes."""

    name: Annotated[str, "Its name."]
    state: Annotated[str, "sync and quorum are waited for; async and potential are not."]
    lag_s: Annotated[float | None, "Seconds between a write and its replay; null: idle."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatus:
    """The state of a store."""

    schema: Schema[Literal["skillyard.store-status/1"]] = "skillyard.store-status/1"
    store: Annotated[str, "Its address, without credentials."]
    backend: Annotated[str, "sqlite or postgresql."]
    schema_version: Annotated[int, "The version of its tables."]
    generation: Annotated[int, "The last one."] = field(default_factory=int)
    skills: Annotated[int, "How many the caller sees."] = field(default_factory=int)
    writable: Annotated[bool, "False for a standby or a file without the right to write."]
    notifies: Annotated[bool, "True where it announces new generations."]
    standbys: Annotated[tuple[Standby, ...], "Its standbys."]
