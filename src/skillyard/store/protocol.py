"""The contract of a catalog store."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from skillyard.engine.skill import Skill
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


@runtime_checkable
class CatalogStore(Protocol):
    """Versions of skills, in generations. Any thread and any process may use the same store.

    A generation is one publish, withdrawal or rollback that changed something. Generations are
    numbered without gaps and become visible in that order: a reader who sees one sees all before
    it. Each method is one transaction.

    Every method raises StoreUnavailable when the store is down, too slow or full, StoreRefused when
    it rejects the call, and StoreSchema when its tables have another version; ``committed`` of the
    error says whether the write stands.
    """

    @property
    def address(self) -> str:
        """The address without credentials."""
        ...

    @property
    def caller(self) -> str | None:
        """The caller whose view this is; None sees everything, and only it may write."""
        ...

    def seen_by(self, caller: str) -> CatalogStore:
        """Return a read-only view of the store with what the caller was granted.

        A caller without grants sees nothing. The view shares the connections; closing either closes
        both.
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

        Unchanged skills are skipped; a changed install count alone makes a generation but no
        version. ``expected`` is the version that must be current for every skill that does not name
        its own (0: none), unless the content is already current. The iterable is read once and
        streamed to the store. A row of :func:`~skillyard.store.rows.row_of` for the same namespace,
        made in another process for example, is used as it is.

        ``local`` returns when the data is on this server's disk; ``synchronous`` when a standby has
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
        """Remove skills of the tenant from the catalog, in one generation; their history stays.

        A missing skill counts as ``unchanged``. Raises NoStandby, InvalidInput.
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
        """Restore the tenant's skills of an earlier generation, in a new generation.

        Install counts are not restored. Raises NoStandby, and InvalidInput for an unknown
        generation.
        """
        ...

    def changes(self, after: int | Position, limit: int = 1_000) -> Changes:
        """Return a page of the changes after a generation, in commit order.

        Call again with the page's ``position`` until it is ``complete``; the state is then exactly
        that of its ``generation``, whatever is published meanwhile. Of several changes of one skill
        only the last is returned. Raises InvalidInput.
        """
        ...

    def snapshot(self, generation: int | None = None) -> Snapshot:
        """Return every skill of a generation, also of a past one; None: the current one.

        Raises InvalidInput for an unknown generation.
        """
        ...

    def get(self, skill: str | StoreKey, *, tenant: str | None = None) -> Version:
        """Return the current version of a skill, by its document id or its key.

        Raises SkillNotFound, and AmbiguousName when skills of different content have the id.
        """
        ...

    def history(self, key: StoreKey) -> tuple[Version, ...]:
        """Return every published version of a skill, oldest first."""
        ...

    def standing(self, keys: Iterable[StoreKey]) -> dict[StoreKey, Standing]:
        """Return the current state of these keys in one query; unknown keys have no entry.

        The keys belong to one tenant and are held in memory. Raises InvalidInput.
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
        """Return the generations below ``before`` (None: the last ones), newest first.

        Raises InvalidInput.
        """
        ...

    def generation(self) -> int:
        """Return the number of the last generation; 0 for an empty store."""
        ...

    def listen(self, after: int, timeout_s: float) -> int:
        """Return the last generation as soon as it is above ``after``, or after the timeout."""
        ...

    def status(self) -> Status:
        """Return the status of the store."""
        ...

    def grant(self, grant: Grant) -> int:
        """Add a grant of a caller; return the generation from which it holds."""
        ...

    def revoke(self, grant: Grant) -> int:
        """Remove a grant, or some places of its list; return the generation that did."""
        ...

    def grants(self, caller: str | None = None) -> tuple[Grant, ...]:
        """Return the grants of one caller or of all, sorted."""
        ...

    def close(self) -> None:
        """Close every connection. Idempotent."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
