"""Administer a catalog store: schema, history and grants.

Every function takes the address of the store, opens it, and closes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.errors import InvalidInput, SkillNotFound, StoreSchema
from skillyard.base.shapes import Schema
from skillyard.base.shapes.encoder import from_attributes
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import (
    Durability,
    FileDigest,
    Generation,
    Grant,
    Published,
    StoreKey,
    StoreStatus,
    Version,
)

WHOLE_S = 600.0
"""Longest that one may take which changes all of a tenant's skills, or the tables."""
READER_ROLE = "skillyard_reader"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMigrated:
    """The schema version of a store, before and after."""

    schema: Schema[Literal["skillyard.store-schema/1"]] = "skillyard.store-schema/1"
    store: Annotated[str, "Its address, without credentials."]
    before: Annotated[int | None, "The version that was there; null: there was no store."]
    now: Annotated[int, "The version."]
    reader_role: Annotated[str | None, "The database role of callers; null without roles."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreChanged:
    """The result of a withdrawal or a rollback, in skills."""

    schema: Schema[Literal["skillyard.store-changed/1"]] = "skillyard.store-changed/1"
    store: Annotated[str, "Its address, without credentials."]
    tenant: Annotated[str, "The owner of the skills."]
    generation: Annotated[int, "The new one, or the current one when nothing changed."]
    added: Annotated[int, "New."]
    changed: Annotated[int, "With a new version."]
    unchanged: Annotated[int, "As before."]
    withdrawn: Annotated[int, "Withdrawn."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLog:
    """The last generations."""

    schema: Schema[Literal["skillyard.store-log/1"]] = "skillyard.store-log/1"
    store: Annotated[str, "Its address, without credentials."]
    generations: Annotated[tuple[Generation, ...], "Newest first."]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedVersion:
    """One version of a skill."""

    version: Annotated[int, "1 for the first."]
    generation: Annotated[int, "The generation that brought it."]
    published_at: Annotated[int, "Unix seconds, by the clock of the store."]
    publisher: Annotated[str, "Who published it."]
    name: Annotated[str, "Its name."]
    id: Annotated[str, "Its document id."]
    hash: Annotated[str | None, "SHA-256 of its file."]
    digest: Annotated[str, "SHA-256 of all its content."]
    install_count: Annotated[int, "Installs that the marketplace counts."]
    files: Annotated[tuple[FileDigest, ...], "Its files."]
    commit: Annotated[str | None, "The commit of its source."]
    url: Annotated[str | None, "Where a person finds it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreHistory:
    """Every version of one skill."""

    schema: Schema[Literal["skillyard.store-history/1"]] = "skillyard.store-history/1"
    store: Annotated[str, "Its address, without credentials."]
    tenant: Annotated[str, "The owner of the skill."]
    namespace: Annotated[str, "Part of the tenant; empty for its top."]
    source: Annotated[str, "The source of the skill; empty without one."]
    place: Annotated[str, "What tells it from the others of its source."]
    versions: Annotated[tuple[PublishedVersion, ...], "Oldest first."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreGrants:
    """The grants of a store."""

    schema: Schema[Literal["skillyard.store-grants/1"]] = "skillyard.store-grants/1"
    store: Annotated[str, "Its address, without credentials."]
    grants: Annotated[tuple[Grant, ...], "Sorted."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreGranted:
    """A grant that was added or removed."""

    schema: Schema[Literal["skillyard.store-granted/1"]] = "skillyard.store-granted/1"
    store: Annotated[str, "Its address, without credentials."]
    generation: Annotated[int, "From which the caller's view is what it is now."]
    caller: Annotated[str, "Who may see it."]
    tenant: Annotated[str, "The owner of the skills."]
    namespace: Annotated[str, "This one and all below it; empty: all."]
    places: Annotated[tuple[str, ...], "These skills alone; empty: all."]


def store_init(url: str) -> StoreMigrated:
    """Create the tables of a new store.

    An existing store is not changed. Raises InvalidInput and StoreFailed; StoreSchema for an older
    schema, which only :func:`store_migrate` migrates.
    """
    return _with_schema(url, is_new=True)


def store_migrate(url: str) -> StoreMigrated:
    """Migrate the schema of a store. Raises StoreSchema when there is no store."""
    return _with_schema(url, is_new=False)


def _with_schema(url: str, *, is_new: bool) -> StoreMigrated:
    try:
        with open_store(url) as store:
            return _migrated(store, store.status().schema_version)
    except StoreSchema as error:
        before, known = error.found, error.known
        if known is None or (before is None) != is_new or (before or 0) > known:
            raise
    with open_store(url, migrate=True, statement_timeout_s=WHOLE_S) as store:
        return _migrated(store, before)


def _migrated(store: CatalogStore, before: int | None) -> StoreMigrated:
    status = store.status()
    role = READER_ROLE if status.backend == "postgresql" else None
    return StoreMigrated(
        store=store.address, before=before, now=status.schema_version, reader_role=role
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
        return StoreLog(store=store.address, generations=store.generations(limit=limit))


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


def _version(version: Version) -> PublishedVersion:
    skill = version.skill
    return from_attributes(
        PublishedVersion,
        version,
        name=skill.name,
        id=skill.id,
        hash=skill.hash,
        install_count=skill.install_count,
    )


def store_status(url: str) -> StoreStatus:
    """Return the status of a store. Raises InvalidInput, StoreFailed."""
    with open_store(url) as store:
        return store.status()


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
        return StoreGrants(store=store.address, grants=store.grants(caller))
