"""What a catalog store promises."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from skillyard.skill import Skill
from skillyard.store.rows import StoredRow
from skillyard.store.values import (
    Changes,
    Durability,
    Generation,
    Grant,
    Position,
    Published,
    Snapshot,
    Standing,
    Status,
    StoreKey,
    Submission,
    Version,
)

__all__ = ["CatalogStore"]


@runtime_checkable
class CatalogStore(Protocol):
    """Skills by version, in generations. Any thread and any process may use the same store.

    A generation is one publish, withdrawal or rollback that changed something. Its number is one
    more than the last one's, and they become visible in this order: a reader who sees one sees
    all before it. Each method is one transaction: it happened whole, or not at all.

    Every method raises StoreUnavailable when the store is away, too slow or full, StoreRefused
    when it will not, and StoreSchema when its tables are not what they should be; the errors'
    ``committed`` says whether what was to be written stands.
    """

    @property
    def address(self) -> str:
        """Where it is, without credentials."""
        ...

    @property
    def caller(self) -> str | None:
        """Whose view this is; None: everything, and the only one that may write."""
        ...

    def seen_by(self, caller: str) -> CatalogStore:
        """Return the same store as the caller sees it: read only, and only what was granted.

        A caller who was granted nothing sees nothing. The view shares the connections; closing
        either closes both.
        """
        ...

    def publish(
        self,
        skills: Iterable[Skill | Submission | StoredRow],
        *,
        tenant: str,
        publisher: str,
        namespace: str = "",
        durability: Durability = "local",
        expected: int | None = None,
    ) -> Published:
        """Make these the current versions of their skills, in one generation.

        A skill whose content is what stands there is left alone; new install counts alone bring a
        generation and no version. ``expected`` is the version that must stand there for every
        skill that does not say its own (0: none), unless its content stands there already. The
        iterable is read once, and held by the store, not in memory. A row that
        :func:`~skillyard.store.rows.row_of` made for the same namespace, in another process
        say, is taken as it is.

        ``local`` returns when this server has it on disk; ``synchronous`` when a standby has
        replayed it too. Raises StoreConflict, NoStandby, InvalidInput.
        """
        ...

    def withdraw(
        self,
        keys: Iterable[StoreKey],
        *,
        tenant: str,
        publisher: str,
        durability: Durability = "local",
    ) -> Published:
        """Take skills of the tenant out of the catalog, in one generation; their past stays.

        What is not there counts as ``unchanged``. Raises NoStandby, InvalidInput.
        """
        ...

    def rollback(
        self,
        to_generation: int,
        *,
        tenant: str,
        publisher: str,
        durability: Durability = "local",
    ) -> Published:
        """Make the tenant's skills what they were at a generation, in a new generation.

        Install counts stay what they are. Raises NoStandby, and InvalidInput for a generation
        that there was not.
        """
        ...

    def changes(self, after: int | Position, limit: int = 1_000) -> Changes:
        """Return a page of what changed after a generation, in commit order.

        Ask again with the page's ``position`` until it is ``complete``; the state is then exactly
        that of its ``generation``, however much is published meanwhile. Of a skill that changed
        several times only the last is named. Raises InvalidInput.
        """
        ...

    def snapshot(self, generation: int | None = None) -> Snapshot:
        """Return every skill of a generation, past ones too; None: the current one.

        Raises InvalidInput for a generation that there was not.
        """
        ...

    def get(self, skill: str | StoreKey, *, tenant: str | None = None) -> Version:
        """Return the current version of a skill, by its document id or its key.

        Raises SkillNotFound, and AmbiguousName when skills with several contents have the id.
        """
        ...

    def history(self, key: StoreKey) -> tuple[Version, ...]:
        """Return every version that was published of a skill, oldest first."""
        ...

    def standing(self, keys: Iterable[StoreKey]) -> dict[StoreKey, Standing]:
        """Return what stands under the keys, in one query; where nothing does, there is no entry.

        The keys are of one tenant, and held in memory. Raises InvalidInput.
        """
        ...

    def places(
        self,
        tenant: str,
        *,
        namespace: str = "",
        source: str = "",
        after: str = "",
        limit: int = 10_000,
    ) -> tuple[str, ...]:
        """Return the places at which skills of a namespace and a source stand, by code points.

        The first one is the next after ``after``; namespaces below it are not looked at. Raises
        InvalidInput.
        """
        ...

    def generations(self, before: int | None = None, limit: int = 20) -> tuple[Generation, ...]:
        """Return what made the generations below ``before`` (None: the last ones), newest first.

        Raises InvalidInput.
        """
        ...

    def generation(self) -> int:
        """Return the number of the last generation; 0 for an empty store."""
        ...

    def listen(self, after: int, timeout_s: float) -> int:
        """Return the last generation as soon as it is above ``after``, or when the time is up."""
        ...

    def status(self) -> Status:
        """Return how the store is."""
        ...

    def grant(self, grant: Grant) -> int:
        """Let a caller see more; return the generation from which the caller does."""
        ...

    def revoke(self, grant: Grant) -> int:
        """Take back a grant, or some places of its list; return the generation that did."""
        ...

    def grants(self, caller: str | None = None) -> tuple[Grant, ...]:
        """Return what was granted, to one caller or to all, sorted."""
        ...

    def close(self) -> None:
        """Close every connection. Closing twice is allowed."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
