"""Administer a catalog store: schema, publishing, history and grants.

Every function takes the address of the store, opens it, and closes it again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from skillyard.errors import InvalidInput, SkillNotFound, StoreSchema
from skillyard.store.ingest.ingest_run import Tell, ingest
from skillyard.store.ingest.work_items import Ingested, Options
from skillyard.store.opening import open_store
from skillyard.store.protocol import CatalogStore
from skillyard.store.values import (
    Durability,
    Generation,
    Grant,
    Published,
    Status,
    StoreKey,
    Version,
)

__all__ = [
    "StoreChanged",
    "StoreGranted",
    "StoreGrants",
    "StoreHistory",
    "StoreLog",
    "StoreMigrated",
    "StorePublished",
    "StoreStatus",
    "store_grant",
    "store_grants",
    "store_history",
    "store_init",
    "store_log",
    "store_migrate",
    "store_publish",
    "store_revoke",
    "store_rollback",
    "store_status",
    "store_withdraw",
]

WAIT_S = 120.0
"""Longest that a statement of a publish may take: it may have to wait for other writers."""
WHOLE_S = 600.0
"""Longest that one may take which changes all of a tenant's skills, or the tables."""
READER_ROLE = "skillyard_reader"


class StoreMigrated(NamedTuple):
    """The schema version of a store, before and after."""

    store: str
    before: int | None
    """The schema version that was there; None: there was no store."""
    now: int
    reader_role: str | None
    """The database role that callers' views are read as; None where the kind has no roles."""

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.store-schema/1``."""
        return {"schema": "skillyard.store-schema/1", **self._asdict()}


class StorePublished(NamedTuple):
    """The result of a publish, or of its dry run."""

    store: str
    tenant: str
    dry_run: bool
    partition: str | None
    done: Ingested

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.store-publish/1``."""
        counts = self.done._asdict()
        counts["seconds"] = round(self.done.seconds, 3)
        counts["diagnostics"] = [each.to_dict() for each in self.done.diagnostics]
        head = self._asdict()
        del head["done"]
        return {"schema": "skillyard.store-publish/1", **head, **counts}


class StoreChanged(NamedTuple):
    """The result of a withdrawal or a rollback."""

    store: str
    tenant: str
    done: Published

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.store-changed/1``."""
        head = {"store": self.store, "tenant": self.tenant}
        return {"schema": "skillyard.store-changed/1", **head, **self.done._asdict()}


class StoreLog(NamedTuple):
    """The last generations, newest first."""

    store: str
    generations: tuple[Generation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.store-log/1``."""
        generations = [each._asdict() for each in self.generations]
        return {"schema": "skillyard.store-log/1", "store": self.store, "generations": generations}


class StoreHistory(NamedTuple):
    """Every version of one skill, oldest first."""

    store: str
    key: StoreKey
    versions: tuple[Version, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.store-history/1``."""
        return {
            "schema": "skillyard.store-history/1",
            "store": self.store,
            **self.key._asdict(),
            "versions": [_version(version) for version in self.versions],
        }


def _version(version: Version) -> dict[str, Any]:
    return {
        "version": version.version,
        "generation": version.generation,
        "published_at": version.published_at,
        "publisher": version.publisher,
        "name": version.skill.name,
        "id": version.skill.id,
        "hash": version.skill.hash,
        "digest": version.digest,
        "install_count": version.skill.install_count,
        "files": [file._asdict() for file in version.files],
        "commit": version.commit,
        "url": version.url,
    }


class StoreStatus(NamedTuple):
    """The status of a store."""

    status: Status

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.store-status/1``."""
        status = self.status
        return {
            "schema": "skillyard.store-status/1",
            "store": status.address,
            "backend": status.backend,
            "schema_version": status.schema,
            "generation": status.generation,
            "skills": status.skills,
            "writable": status.writable,
            "notifies": status.notifies,
            "standbys": [standby._asdict() for standby in status.standbys],
        }


class StoreGrants(NamedTuple):
    """The grants of a store, sorted."""

    store: str
    grants: tuple[Grant, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.store-grants/1``."""
        return {
            "schema": "skillyard.store-grants/1",
            "store": self.store,
            "grants": [_grant(grant) for grant in self.grants],
        }


class StoreGranted(NamedTuple):
    """A grant that was added or removed."""

    store: str
    generation: int
    """From which the caller's view is what it is now."""
    grant: Grant

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.store-granted/1``."""
        head = {"store": self.store, "generation": self.generation}
        return {"schema": "skillyard.store-granted/1", **head, **_grant(self.grant)}


def _grant(grant: Grant) -> dict[str, Any]:
    return {**grant._asdict(), "places": list(grant.places)}


def store_init(url: str) -> StoreMigrated:
    """Create the tables of a new store.

    An existing store is not changed. Raises InvalidInput and StoreFailed; StoreSchema for an older
    schema, which only :func:`store_migrate` migrates.
    """
    try:
        with open_store(url) as store:
            return _migrated(store, store.status().schema)
    except StoreSchema as error:
        if error.found is not None or error.known is None:
            raise
    return _with_schema(url, None)


def store_migrate(url: str) -> StoreMigrated:
    """Migrate the schema of a store. Raises StoreSchema when there is no store."""
    try:
        with open_store(url) as store:
            return _migrated(store, store.status().schema)
    except StoreSchema as error:
        if error.found is None or error.known is None or error.found > error.known:
            raise
        before = error.found
    return _with_schema(url, before)


def _with_schema(url: str, before: int | None) -> StoreMigrated:
    with open_store(url, migrate=True, statement_timeout_s=WHOLE_S) as store:
        return _migrated(store, before)


def _migrated(store: CatalogStore, before: int | None) -> StoreMigrated:
    status = store.status()
    role = READER_ROLE if status.backend == "postgresql" else None
    return StoreMigrated(store.address, before, status.schema, role)


def store_publish(
    url: str,
    options: Options,
    *,
    roots: Sequence[str] = (),
    lines: Sequence[str] = (),
    stop: threading.Event | None = None,
    tell: Tell | None = None,
) -> StorePublished:
    """Publish skill folders and JSON lines. See ``skillyard.store.ingest.ingest_run``."""
    with open_store(url, statement_timeout_s=WAIT_S) as store:
        done = ingest(store, options, roots=roots, lines=lines, stop=stop, tell=tell)
        partition = None if options.partition is None else str(options.partition)
        return StorePublished(store.address, options.tenant, options.dry_run, partition, done)


def store_withdraw(
    url: str,
    places: Sequence[str],
    *,
    tenant: str,
    publisher: str,
    namespace: str = "",
    source: str = "",
    durability: Durability = "local",
) -> StoreChanged:
    """Withdraw skills from the catalog. A missing skill counts as ``unchanged``.

    Raises InvalidInput, StoreFailed.
    """
    if not places:
        raise InvalidInput("nothing was named: give the places of skills")
    keys = [StoreKey(tenant, namespace, source, place) for place in places]
    return _changed(
        url,
        tenant,
        lambda store: store.withdraw(
            keys, tenant=tenant, publisher=publisher, durability=durability
        ),
    )


def store_rollback(
    url: str, generation: int, *, tenant: str, publisher: str, durability: Durability = "local"
) -> StoreChanged:
    """Restore a tenant's skills of an earlier generation. Raises InvalidInput, StoreFailed."""
    return _changed(
        url,
        tenant,
        lambda store: store.rollback(
            generation, tenant=tenant, publisher=publisher, durability=durability
        ),
    )


def _changed(url: str, tenant: str, change: Callable[[CatalogStore], Published]) -> StoreChanged:
    with open_store(url, statement_timeout_s=WHOLE_S) as store:
        return StoreChanged(store.address, tenant, change(store))


def store_log(url: str, limit: int = 20) -> StoreLog:
    """Return the last generations, newest first. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        return StoreLog(store.address, store.generations(limit=limit))


def store_history(
    url: str, place: str, *, tenant: str, namespace: str = "", source: str = ""
) -> StoreHistory:
    """Return every version of a skill. Raises SkillNotFound, InvalidInput, StoreFailed."""
    key = StoreKey(tenant, namespace, source, place)
    with open_store(url) as store:
        versions = store.history(key)
        if not versions:
            raise SkillNotFound(str(key))
        return StoreHistory(store.address, key, versions)


def store_status(url: str) -> StoreStatus:
    """Return the status of a store. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        return StoreStatus(store.status())


def store_grant(url: str, grant: Grant) -> StoreGranted:
    """Grant a caller a tenant's skills, or some of them. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        return StoreGranted(store.address, store.grant(grant), grant)


def store_revoke(url: str, grant: Grant) -> StoreGranted:
    """Revoke a grant, or some places of its list. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        return StoreGranted(store.address, store.revoke(grant), grant)


def store_grants(url: str, caller: str | None = None) -> StoreGrants:
    """Return the grants of one caller or of all. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        return StoreGrants(store.address, store.grants(caller))
