"""The catalog store over any database with a backend."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby

from skillyard.base.errors import AmbiguousName, InvalidInput, SkillNotFound, StoreRefused
from skillyard.base.io.closeable import Closeable
from skillyard.engine.skill import Skill
from skillyard.store.backend import Backend, Options
from skillyard.store.changes import change, change_grants
from skillyard.store.identifiers import (
    checked_caller,
    checked_durability,
    checked_grant,
    checked_key,
    checked_namespace,
    checked_publisher,
    checked_tenant,
    to_plain,
)
from skillyard.store.pages import changes_after, head_of, snapshot_of
from skillyard.store.rows import StoredRow, row_of, standing_of, version_of
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

MAX_LISTED = 100_000
"""Maximum number of places or generations that one call returns."""
_KEY_ONLY = (None,) * 15
"""A staged row starts with the key of a skill; a withdrawal ignores the other columns."""


class SqlStore(Closeable):
    """A :class:`~skillyard.store.protocol.CatalogStore` over one database."""

    def __init__(self, backend: Backend, caller: str | None = None) -> None:
        self._backend = backend
        self._caller = None if caller is None else checked_caller(caller)

    def __repr__(self) -> str:
        viewer = "" if self._caller is None else f", seen by {self._caller!r}"
        return f"<{type(self).__name__} {self.address}{viewer}>"

    @property
    def address(self) -> str:
        """The address without credentials."""
        return self._backend.address

    @property
    def caller(self) -> str | None:
        """The caller whose view this is; None sees everything."""
        return self._caller

    def seen_by(self, caller: str) -> SqlStore:
        """See the protocol."""
        if self._caller is not None and caller != self._caller:
            raise StoreRefused(self.address, "a caller's view gives no view of another")
        return SqlStore(self._backend, caller)

    def migrate(self) -> tuple[int | None, int]:
        """Migrate the schema; return its version before (None: no schema) and after.

        Raises StoreSchema for a newer schema.
        """
        self._refuse_caller("migrate")
        return self._backend.migrate()

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
        """See the protocol."""
        self._refuse_caller("publish")
        checked_tenant(tenant)
        checked_namespace(namespace)
        if expected is not None and (type(expected) is not int or expected < 0):
            raise InvalidInput("expected must be a version, 0 or more")
        rows = (self._row(skill, tenant, namespace, expected) for skill in skills)
        return change(
            self._backend,
            "publish",
            self._backend.sql.decide_publish,
            tenant=tenant,
            publisher=checked_publisher(publisher),
            durability=checked_durability(durability),
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
        """See the protocol."""
        self._refuse_caller("withdraw")
        checked_tenant(tenant)
        return change(
            self._backend,
            "withdraw",
            self._backend.sql.decide_withdraw,
            tenant=tenant,
            publisher=checked_publisher(publisher),
            durability=checked_durability(durability),
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
        """See the protocol."""
        self._refuse_caller("rollback")

        def check(head: int) -> None:
            if type(to_generation) is not int or not 0 <= to_generation <= head:
                raise InvalidInput(f"to_generation must be a whole number from 0 to {head}")

        return change(
            self._backend,
            "rollback",
            self._backend.sql.decide_rollback,
            tenant=checked_tenant(tenant),
            publisher=checked_publisher(publisher),
            durability=checked_durability(durability),
            parameters={"to": to_generation},
            check=check,
        )

    def changes(self, after: int | Position, limit: int = 1_000) -> Changes:
        """See the protocol."""
        return changes_after(self._backend, self._caller, after, limit)

    def snapshot(self, generation: int | None = None) -> Snapshot:
        """See the protocol."""
        return snapshot_of(self._backend, self._caller, generation)

    def get(self, skill: str | StoreKey, *, tenant: str | None = None) -> Version:
        """See the protocol."""
        if isinstance(skill, StoreKey):
            versions = self._versions(self._backend.sql.by_key, skill._asdict())
        elif isinstance(skill, str) and skill == to_plain(skill):
            versions = self._versions(self._backend.sql.by_id, {"id": skill, "tenant": tenant})
        else:
            raise InvalidInput("a skill is asked for by its id or its StoreKey")
        if not versions:
            raise SkillNotFound(str(skill))
        if len({version.digest for version in versions}) > 1:
            raise AmbiguousName(str(skill), [str(version.key) for version in versions])
        return versions[0]

    def history(self, key: StoreKey) -> tuple[Version, ...]:
        """See the protocol."""
        return self._versions(self._backend.sql.history, key._asdict())

    def _versions(self, sql: str, parameters: dict[str, str | None]) -> tuple[Version, ...]:
        for part in parameters.values():
            if part is not None and (not isinstance(part, str) or part != to_plain(part)):
                return ()  # no database can store such a text
        with self._backend.reading(self._caller) as session:
            statement = sql.format(entries=self._backend.relation(self._caller))
            rows = session.execute(statement, parameters).fetchall()
        return tuple(version_of(row, self.address) for row in rows)

    def standing(self, keys: Iterable[StoreKey]) -> dict[StoreKey, Standing]:
        """See the protocol."""
        self._refuse_caller("read the current state")
        checked = [checked_key(key, self.address) for key in keys]
        if not checked:
            return {}
        if len({key.tenant for key in checked}) > 1:
            raise InvalidInput("the current state is read for one tenant at a time")
        words = [{"namespace": key[1], "source": key[2], "place": key[3]} for key in checked]
        parameters = {"tenant": checked[0].tenant, "keys": json.dumps(words)}
        with self._backend.reading(None) as session:
            rows = session.execute(self._backend.sql.standing, parameters).fetchall()
        standings = (standing_of(row, self.address) for row in rows)
        return {standing.key: standing for standing in standings}

    def places(
        self,
        tenant: str,
        *,
        namespace: str = "",
        source: str = "",
        after: str = "",
        limit: int = 10_000,
    ) -> tuple[str, ...]:
        """See the protocol."""
        self._refuse_caller("list places")
        checked_tenant(tenant)
        checked_namespace(namespace)
        _refuse_limit(limit)
        parameters = {
            "tenant": tenant,
            "namespace": namespace,
            "source": to_plain(source),
            "after": to_plain(after),
            "limit": limit,
        }
        with self._backend.reading(None) as session:
            rows = session.execute(self._backend.sql.places, parameters).fetchall()
        return tuple(row[0] for row in rows)

    def generations(self, before: int | None = None, limit: int = 20) -> tuple[Generation, ...]:
        """See the protocol."""
        self._refuse_caller("read the log")
        if before is not None and (type(before) is not int or not 0 <= before < 2**63):
            raise InvalidInput("before must be a generation, 0 or more")
        _refuse_limit(limit)
        parameters = {"before": before, "limit": limit}
        with self._backend.reading(None) as session:
            rows = session.execute(self._backend.sql.generations, parameters).fetchall()
        return tuple(Generation(*row) for row in rows)

    def generation(self) -> int:
        """See the protocol."""
        with self._backend.reading(self._caller) as session:
            return head_of(session, self._backend)[0]

    def listen(self, after: int, timeout_s: float) -> int:
        """See the protocol."""
        if not 0 <= timeout_s <= 86_400:
            raise InvalidInput("timeout_s must be from 0 to 86,400 seconds")
        return self._backend.listen(self._caller, after, timeout_s)

    def status(self) -> Status:
        """See the protocol."""
        condition = self._backend.condition()
        with self._backend.reading(self._caller) as session:
            generation, _ = head_of(session, self._backend)
            count = self._backend.sql.count.format(entries=self._backend.relation(self._caller))
            skills = session.execute(count, {}).fetchone()[0]
        return Status(
            self._backend.name,
            self.address,
            condition.schema,
            generation,
            skills,
            condition.writable,
            condition.notifies,
            condition.standbys,
        )

    def grant(self, grant: Grant) -> int:
        """See the protocol."""
        self._refuse_caller("grant")
        return change_grants(self._backend, checked_grant(grant), add=True)

    def revoke(self, grant: Grant) -> int:
        """See the protocol."""
        self._refuse_caller("revoke")
        return change_grants(self._backend, checked_grant(grant), add=False)

    def grants(self, caller: str | None = None) -> tuple[Grant, ...]:
        """See the protocol."""
        self._refuse_caller("list grants")
        with self._backend.reading(None) as session:
            rows = session.execute(self._backend.sql.granted, {"caller": caller}).fetchall()
        # A grant of all places is independent of the list of places.
        grouped = groupby(rows, lambda row: (row[0], row[1], row[2], row[3] == ""))
        return tuple(
            Grant(*words[:3], tuple(row[3] for row in some if row[3])) for words, some in grouped
        )

    def close(self) -> None:
        """See the protocol."""
        self._backend.close()

    def _refuse_caller(self, what: str) -> None:
        if self._caller is not None:
            raise StoreRefused(
                self.address,
                f"{self._caller!r} may not {what}: a caller's view is read only",
                hint="open the store without a caller",
            )


def open_sql_store(backend: Backend, options: Options) -> SqlStore:
    """Return the store over a backend, after checking or creating its schema.

    A backend that cannot be used is closed. Raises StoreFailed.
    """
    try:
        backend.migrate() if options.migrate else backend.check()
    except BaseException:
        backend.close()
        raise
    return SqlStore(backend, options.caller)


def _refuse_limit(limit: int) -> None:
    if type(limit) is not int or not 1 <= limit <= MAX_LISTED:
        raise InvalidInput(f"limit must be a whole number from 1 to {MAX_LISTED:,}")
