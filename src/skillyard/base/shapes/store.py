"""What the commands of ``store`` write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.details import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMigrated:
    """The schema version of a store, before and after."""

    schema: Schema[Literal["skillyard.store-schema/1"]] = "skillyard.store-schema/1"
    store: Annotated[str, "Its address, without credentials."]
    before: Annotated[int | None, "The version that was there; null: there was no store."]
    now: Annotated[int, "The version."]
    reader_role: Annotated[str | None, "The database role of callers; null without roles."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StorePublished:
    """The result of a publish, or of its dry run, in skills."""

    schema: Schema[Literal["skillyard.store-publish/1"]] = "skillyard.store-publish/1"
    store: Annotated[str, "Its address, without credentials."]
    tenant: Annotated[str, "The owner of the skills."]
    dry_run: Annotated[bool, "True where nothing was published."]
    partition: Annotated[str | None, "The part of the skills, as I/N."]
    generation: Annotated[int, "The last one of this run, else that of the store."]
    generations: Annotated[int, "How many this run made."]
    added: Annotated[int, "New."]
    changed: Annotated[int, "With a new version."]
    unchanged: Annotated[int, "Published already."]
    withdrawn: Annotated[int, "No longer there, and withdrawn."]
    refused: Annotated[int, "Unreadable, invalid, or in the place of another one."]
    repeated: Annotated[int, "Met a second time with the same content."]
    elsewhere: Annotated[int, "Left to other partitions."]
    warnings: Annotated[int, "Remarks on published skills."]
    complete: Annotated[bool, "False when it was stopped."]
    pruned: Annotated[bool, "True where skills that were not met were withdrawn."]
    diagnostics: Annotated[tuple[Diagnostic, ...], "The first errors."]
    left_out: Annotated[int, "Errors that are not among them."]
    seconds: Annotated[float, "How long it took."]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLog:
    """The last generations."""

    schema: Schema[Literal["skillyard.store-log/1"]] = "skillyard.store-log/1"
    store: Annotated[str, "Its address, without credentials."]
    generations: Annotated[tuple[Generation, ...], "Newest first."]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDigest:
    """One file of a skill."""

    path: Annotated[str, "Below the skill's folder."]
    sha256: Annotated[str, "64 hexadecimal digits."]
    size: Annotated[int, "Bytes."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillVersion:
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
    versions: Annotated[tuple[SkillVersion, ...], "Oldest first."]


@dataclass(frozen=True, slots=True, kw_only=True)
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
    generation: Annotated[int, "The last one."]
    skills: Annotated[int, "How many the caller sees."]
    writable: Annotated[bool, "False for a standby or a file without the right to write."]
    notifies: Annotated[bool, "True where it announces new generations."]
    standbys: Annotated[tuple[Standby, ...], "Its standbys."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a caller may see."""

    caller: Annotated[str, "Who may see it."]
    tenant: Annotated[str, "The owner of the skills."]
    namespace: Annotated[str, "This one and all below it; empty: all."]
    places: Annotated[tuple[str, ...], "These skills alone; empty: all."]


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
