"""Finds one skill by source and id, in the catalog or in a remote."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillyard.base.errors import SkillError, SkillNotFound, SourceFailed
from skillyard.install.search import FoundSkill, SearchService
from skillyard.install.sources.repository import is_repository
from skillyard.install.sources.settings import LOCAL
from skillyard.serve.requests import ID_PATTERN, SOURCE_PATTERN
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.errors import (
    Refused,
    changing,
    not_found,
    refusal_of,
    refuse_field,
    sources_refusal,
)
from skillyard.serve.runtime.local import find_skill
from skillyard.serve.runtime.search_runner import ObservedSource
from skillyard.serve.runtime.snapshot import Snapshot

_SOURCE = re.compile(SOURCE_PATTERN)
_ID = re.compile(ID_PATTERN)


async def skill_by_name(
    context: AppContext, snapshot: Snapshot, name: str, *, references: bool, raw: bool
) -> FoundSkill:
    """Return the skill with a name: from the catalog, or else by exact name or id from a remote.

    Three or more segments are owner/repo and an id. Raises Refused: 404 with similar names, 502,
    and AmbiguousName for a name of several skills of the catalog.
    """
    try:
        return await local_skill(context, snapshot, name, references=references, raw=raw)
    except SkillNotFound as error:
        if error.unloaded is not None:
            raise
        near = error.near
    parts = name.split("/")
    if len(parts) > 2:
        source = "/".join(parts[:2])
        if not is_repository(source):
            raise not_found(name, near)
        return await remote_skill(context, snapshot, source, parts[-1], references=references)
    sources = await remote_sources(context, snapshot)
    if not sources:
        raise not_found(name, near, with_remotes=False)

    async def find(searcher: SearchService) -> FoundSkill:
        return await searcher.find(name, references=references)

    try:
        found_skill = await context.searches.run(find, sources, None)
    except SkillNotFound as error:
        raise not_found(name, (*near, *error.near)) from None
    except SourceFailed as error:
        raise all_sources_failed(sources, error) from None
    if found_skill.failure is not None:  # the skill exists but could not be fetched
        raise all_sources_failed(sources, found_skill.failure)
    return found_skill


async def skill_by_source(
    context: AppContext,
    snapshot: Snapshot,
    source: str,
    skill_id: str,
    *,
    references: bool,
    raw: bool,
) -> FoundSkill:
    """Return the skill of a source and id. Raises Refused: 404, 409, 422, 502, 503."""
    if source != LOCAL:
        return await remote_skill(context, snapshot, source, skill_id, references=references)
    try:
        return await local_skill(context, snapshot, skill_id, references=references, raw=raw)
    except SkillError as error:
        raise refusal_of(error) from None


async def local_skill(
    context: AppContext, snapshot: Snapshot, name: str, *, references: bool, raw: bool
) -> FoundSkill:
    """Return a skill of the catalog. Raises SkillNotFound, AmbiguousName, Refused (503)."""
    try:
        return await context.in_thread(
            lambda: find_skill(snapshot, name, references=references, raw=raw)
        )
    except SourceFailed as error:  # its file changed after the snapshot was made
        context.follower.refresh()
        raise changing(error) from None


async def remote_skill(
    context: AppContext, snapshot: Snapshot, source: str, skill_id: str, *, references: bool
) -> FoundSkill:
    """Return a skill of a remote. Raises Refused: 404, 422, 502."""
    if not _SOURCE.fullmatch(source):
        raise refuse_field("source", "source must be owner/repo, a domain or local", "path")
    if not _ID.fullmatch(skill_id):
        raise refuse_field("id", "id must be one path segment", "path")
    sources = await remote_sources(context, snapshot)
    if not sources:
        raise not_found(f"{source}/{skill_id}", with_remotes=False)

    async def get(searcher: SearchService) -> FoundSkill:
        return await searcher.get(source, skill_id, references=references)

    try:
        return await context.searches.run(get, sources, None)
    except SourceFailed as error:
        if error.code == "not_found":
            raise not_found(f"{source}/{skill_id}") from None
        raise all_sources_failed(sources, error) from None


async def remote_sources(context: AppContext, snapshot: Snapshot) -> list[ObservedSource]:
    """Return the remotes that this service may ask."""
    names = [name for name in context.searches.default_names if name != LOCAL]
    return await context.in_thread(context.searches.observed_sources, names, snapshot)


def all_sources_failed(sources: Sequence[ObservedSource], error: SourceFailed) -> Refused:
    """Return the 502 with the reason of each source that failed."""
    reasons = [source.failure for source in sources if source.failure is not None]
    return sources_refusal(reasons) if reasons else refusal_of(error)
