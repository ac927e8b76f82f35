"""The catalog store, over any database with a backend."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from skillyard.base.errors import InvalidInput, StoreRefused
from skillyard.base.io.locks import Closeable
from skillyard.engine.skill import Skill
from skillyard.store.backend import Backend, Options
from skillyard.store.changes import change, change_grants
from skillyard.store.identifiers import (
    checked_grant,
    checked_key,
    checked_namespace,
    checked_number,
    checked_tenant,
    checked_words,
    to_plain,
)
from skillyard.store.pages import changes_after, head_of
from skillyard.store.rows import StoredRow, key_of, row_of, version_of
from skillyard.store.statements import (
    COUNT,
    DECIDE_PUBLISH,
    DECIDE_ROLLBACK,
    DECIDE_WITHDRAW,
    GENERATIONS,
    GRANTED,
    HISTORY,
    PLACES,
)
from skillyard.store.values import (
    Changes,
    Durability,
    Generation,
    Grant,
    Position,
    Published,
    Standing,
    StoreKey,
    StoreStatus,
    Submission,
    Version,
)

MAX_LISTED = 100_000
"""Maximum number of places or generations that one call returns."""
_KEY_ONLY = (None,) * (len(StoredRow._fields) - 3)
"""A staged row starts with the key of a skill; a withdrawal ignores the other columns."""


class CatalogStore(Closeable):
    """Versions of skills, in generations. Any thread and any process may use the same store.

    A generation is one publish, withdrawal or rollback that changed something. Generations are
    numbered without gaps and become visible in that order: a reader who sees one sees all before
    it. Each method is one transaction.

    Every method raises StoreUnavailable when the store is down, too slow or full, StoreRefused when
    it rejects the call, and StoreSchema when its tables have another version; ``committed`` of the
    error says whether the write stands.
    """

    def __init__(self, backend: Backend, caller: str | None = None) -> None:
        self._backend = backend
        self._caller = None if caller is None else checked_words("caller", caller)

    def __repr__(self) -> str:
        viewer = "" if self._caller is None else f", seen by {self._caller!r}"
        return f"<{type(self).__name__} {self.address}{viewer}>"

    @property
    def address(self) -> str:
        """The address without credentials."""
        return self._backend.address

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
        self._refuse_caller("publish")
        checked_namespace(namespace)
        if expected is not None and (type(expected) is not int or expected < 0):
            raise InvalidInput("expected must be a version, 0 or more")
        rows = (self._row(skill, tenant, namespace, expected) for skill in skills)
        return change(
            self._backend,
            "publish",
            DECIDE_PUBLISH,
            tenant=tenant,
            publisher=publisher,
            durability=durability,
            staged=rows,
        )

    def _row(
        self,
        skill: Skill | Submission | StoredRow,
        tenant: str,
        namespace: str,
        expected: int | None,
    ) -> StoredRow:
        if not isinstance(skill, StoredRow):
            return row_of(
                skill, tenant=tenant, namespace=namespace, expected=expected, store=self.address
            )
        if skill.namespace != namespace:
            raise InvalidInput(f"a row was made for the namespace {skill.namespace!r}")
        return skill if skill.expected is not None else skill._replace(expected=expected)

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
        self._refuse_caller("withdraw")
        return change(
            self._backend,
            "withdraw",
            DECIDE_WITHDRAW,
            tenant=tenant,
            publisher=publisher,
            durability=durability,
            staged=(self._key_row(key, tenant) for key in keys),
        )

    def _key_row(self, key: StoreKey, tenant: str) -> tuple[str | None, ...]:
        if not isinstance(key, StoreKey) or key.tenant != tenant:
            raise InvalidInput(f"withdraw takes StoreKey values of the tenant {tenant}")
        checked_key(key, self.address)
        return (key.namespace, key.source, key.place, *_KEY_ONLY)

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
        self._refuse_caller("rollback")
        return change(
            self._backend,
            "rollback",
            DECIDE_ROLLBACK,
            tenant=tenant,
            publisher=publisher,
            durability=durability,
            parameters={"to": to_generation},
            check=lambda head: checked_number("to_generation", to_generation, head, least=0),
        )

    def changes(self, after: int | Position, limit: int = 1_000) -> Changes:
        """Return a page of the changes after a generation, in commit order.

        Call again with the page's ``position`` until it is ``complete``; the state is then exactly
        that of its ``generation``, whatever is published meanwhile. Of several changes of one skill
        only the last is returned. Raises InvalidInput.
        """
        return changes_after(self._backend, self._caller, after, limit)

    def history(self, key: StoreKey) -> tuple[Version, ...]:
        """Return every published version of a skill, oldest first."""
        if any(part != to_plain(part) for part in key):
            return ()  # no database can store such a text
        with self._backend.reading(self._caller) as session:
            rows = session.execute(self._entries(HISTORY), key._asdict()).fetchall()
        return tuple(version_of(row, self.address) for row in rows)

    def _entries(self, sql: str) -> str:
        """Return a statement on all entries, or on what the caller sees."""
        return sql.replace("{entries}", "{s}entries" if self._caller is None else "{s}visible")

    def standing(self, keys: Iterable[StoreKey]) -> dict[StoreKey, Standing]:
        """Return the current state of these keys in one query; unknown keys have no entry.

        The keys belong to one tenant and are held in memory. Raises InvalidInput.
        """
        self._refuse_caller("read the current state")
        checked = [checked_key(key, self.address) for key in keys]
        if not checked:
            return {}
        if len({key.tenant for key in checked}) > 1:
            raise InvalidInput("the current state is read for one tenant at a time")
        words = [{"namespace": key[1], "source": key[2], "place": key[3]} for key in checked]
        parameters = {"tenant": checked[0].tenant, "keys": json.dumps(words)}
        with self._backend.reading(None) as session:
            rows = session.execute(self._backend.dialect.standing, parameters).fetchall()
        return {key_of(row): Standing(*row[4:]) for row in rows}

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
        self._refuse_caller("list places")
        checked_tenant(tenant)
        checked_namespace(namespace)
        checked_number("limit", limit, MAX_LISTED)
        parameters = {
            "tenant": tenant,
            "namespace": namespace,
            "source": to_plain(source),
            "after": to_plain(after),
            "limit": limit,
        }
        with self._backend.reading(None) as session:
            rows = session.execute(PLACES, parameters).fetchall()
        return tuple(row[0] for row in rows)

    def generations(self, limit: int = 20) -> tuple[Generation, ...]:
        """Return the last generations, newest first. Raises InvalidInput."""
        self._refuse_caller("read the log")
        checked_number("limit", limit, MAX_LISTED)
        with self._backend.reading(None) as session:
            rows = session.execute(GENERATIONS, {"limit": limit}).fetchall()
        return tuple(Generation(*row) for row in rows)

    def generation(self) -> int:
        """Return the number of the last generation; 0 for an empty store."""
        with self._backend.reading(self._caller) as session:
            return head_of(session)[0]

    def listen(self, after: int, timeout_s: float) -> int:
        """Return the last generation as soon as it is above ``after``, or after the timeout."""
        if not 0 <= timeout_s <= 86_400:
            raise InvalidInput("timeout_s must be from 0 to 86,400 seconds")
        return self._backend.listen(after, timeout_s)

    def status(self) -> StoreStatus:
        """Return the status of the store."""
        with self._backend.reading(self._caller) as session:
            generation, _ = head_of(session)
            skills = session.execute(self._entries(COUNT), {}).fetchone()[0]
        return replace(self._backend.status(), generation=generation, skills=skills)

    def grant(self, grant: Grant) -> int:
        """Add a grant of a caller; return the generation from which it holds."""
        self._refuse_caller("grant")
        return change_grants(self._backend, checked_grant(grant), add=True)

    def revoke(self, grant: Grant) -> int:
        """Remove a grant, or some places of its list; return the generation that did."""
        self._refuse_caller("revoke")
        return change_grants(self._backend, checked_grant(grant), add=False)

    def grants(self, caller: str | None = None) -> tuple[Grant, ...]:
        """Return the grants of one caller or of all, sorted."""
        self._refuse_caller("list grants")
        with self._backend.reading(None) as session:
            rows = session.execute(GRANTED, {"caller": caller}).fetchall()
        # A grant of all places is independent of the list of places.
        grouped = groupby(rows, lambda row: (row[0], row[1], row[2], row[3] == ""))
        return tuple(
            Grant(*words[:3], tuple(row[3] for row in some if row[3])) for words, some in grouped
        )

    def close(self) -> None:
        """Close every connection. Idempotent."""
        self._backend.close()

    def _refuse_caller(self, what: str) -> None:
        if self._caller is not None:
            raise StoreRefused(
                self.address,
                f"{self._caller!r} may not {what}: a caller's view is read only",
                hint="open the store without a caller",
            )


def open_sql_store(backend: Backend, options: Options) -> CatalogStore:
    """Return the store over a backend, after checking or creating its schema.

    A backend that cannot be used is closed. Raises StoreFailed.
    """
    try:
        backend.migrate() if options.migrate else backend.check()
    except BaseException:
        backend.close()
        raise
    return CatalogStore(backend, options.caller)
