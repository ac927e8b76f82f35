"""Administer a catalog store: schema, publishing, history and grants.

Every function takes the address of the store, opens it, and closes it again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from skillyard.base.errors import Diagnostic, InvalidInput, SkillNotFound, StoreSchema
from skillyard.base.shapes import store as shapes
from skillyard.base.shapes.encoder import from_attributes
from skillyard.base.shapes.store import (
    StoreChanged,
    StoreGranted,
    StoreGrants,
    StoreHistory,
    StoreLog,
    StoreMigrated,
    StorePublished,
    StoreStatus,
)
from skillyard.engine.catalog.roots import Admission
from skillyard.store.ingest.ingest_run import Tell, ingest
from skillyard.store.ingest.work_items import Options
from skillyard.store.opening import open_store
from skillyard.store.protocol import CatalogStore
from skillyard.store.values import (
    Durability,
    Grant,
    Published,
    StoreKey,
    Version,
)

WAIT_S = 120.0
"""Longest that a statement of a publish may take: it may have to wait for other writers."""
WHOLE_S = 600.0
"""Longest that one may take which changes all of a tenant's skills, or the tables."""
READER_ROLE = "skillyard_reader"


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
    return StoreMigrated(store=store.address, before=before, now=status.schema, reader_role=role)


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
        return from_attributes(
            StorePublished,
            done,
            store=store.address,
            tenant=options.tenant,
            dry_run=options.dry_run,
            partition=None if options.partition is None else str(options.partition),
            diagnostics=tuple(each.document() for each in done.diagnostics),
            seconds=round(done.seconds, 3),
        )


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
        return from_attributes(StoreChanged, change(store), store=store.address, tenant=tenant)


def store_log(url: str, limit: int = 20) -> StoreLog:
    """Return the last generations, newest first. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        generations = store.generations(limit=limit)
        return StoreLog(
            store=store.address,
            generations=tuple(from_attributes(shapes.Generation, each) for each in generations),
        )


def store_refusals(url: str, policy: Admission) -> Iterator[Diagnostic]:
    """Yield why a policy refuses each skill of a store that it refuses, in the store's order.

    Raises InvalidInput, StoreFailed.
    """
    from skillyard.store.node.records import refusal  # deferred: it loads what an index needs

    with open_store(url, statement_timeout_s=WHOLE_S) as store:
        for version in store.snapshot():
            diagnostic = refusal(version, policy)
            if diagnostic is not None:
                yield diagnostic


def store_history(
    url: str, place: str, *, tenant: str, namespace: str = "", source: str = ""
) -> StoreHistory:
    """Return every version of a skill. Raises SkillNotFound, InvalidInput, StoreFailed."""
    key = StoreKey(tenant, namespace, source, place)
    with open_store(url) as store:
        versions = store.history(key)
        if not versions:
            raise SkillNotFound(str(key))
        return StoreHistory(
            store=store.address, **key._asdict(), versions=tuple(map(_version, versions))
        )


def _version(version: Version) -> shapes.SkillVersion:
    skill = version.skill
    return from_attributes(
        shapes.SkillVersion,
        version,
        name=skill.name,
        id=skill.id,
        hash=skill.hash,
        install_count=skill.install_count,
        files=tuple(from_attributes(shapes.FileDigest, file) for file in version.files),
    )


def store_status(url: str) -> StoreStatus:
    """Return the status of a store. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        status = store.status()
    return from_attributes(
        StoreStatus,
        status,
        store=status.address,
        schema_version=status.schema,
        standbys=tuple(from_attributes(shapes.Standby, each) for each in status.standbys),
    )


def store_grant(url: str, grant: Grant) -> StoreGranted:
    """Grant a caller a tenant's skills, or some of them. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        return _granted(store, store.grant(grant), grant)


def store_revoke(url: str, grant: Grant) -> StoreGranted:
    """Revoke a grant, or some places of its list. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        return _granted(store, store.revoke(grant), grant)


def _granted(store: CatalogStore, generation: int, grant: Grant) -> StoreGranted:
    return from_attributes(StoreGranted, grant, store=store.address, generation=generation)


def store_grants(url: str, caller: str | None = None) -> StoreGrants:
    """Return the grants of one caller or of all. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        grants = tuple(from_attributes(shapes.Grant, each) for each in store.grants(caller))
        return StoreGrants(store=store.address, grants=grants)
