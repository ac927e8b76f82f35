"""Finds one skill by name, or by source and id, in the catalog or in a remote."""

from __future__ import annotations

import re

from skillyard.base.errors import SkillNotFound, SourceFailed
from skillyard.install.search import FoundSkill
from skillyard.install.sources.repository import is_repository
from skillyard.install.sources.settings import LOCAL
from skillyard.serve.requests import ID_PATTERN, SOURCE_PATTERN
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.errors import changing, not_found, refusal_of, refuse_field
from skillyard.serve.runtime.local import find_skill
from skillyard.serve.runtime.snapshot import Snapshot


async def skill_by_name(
    context: AppContext, snapshot: Snapshot, name: str, *, references: bool, raw: bool = False
) -> FoundSkill:
    """Return the skill with a name: from the catalog, or else by exact name or id from a remote.

    Three or more segments are owner/repo and an id. Raises Refused (404, with similar names) and
    SkillyardError.
    """
    try:
        return await _local_skill(context, snapshot, name, references=references, raw=raw)
    except SkillNotFound as error:
        if error.unloaded is not None:
            raise
        near = error.near
    parts = name.split("/")
    if len(parts) > 2:
        source = "/".join(parts[:2])
        if not is_repository(source):
            raise not_found(name, near)
        return await _remote_skill(context, source, parts[-1], references=references)
    if not context.searches.asks_remotes:
        raise not_found(name, near, with_remotes=False)
    try:
        found_skill = await context.searches.ask_remotes(
            lambda searcher: searcher.find(name, references=references)
        )
    except SkillNotFound as error:
        raise not_found(name, (*near, *error.near)) from None
    if found_skill.failure is not None:  # the skill exists but could not be fetched
        raise refusal_of(found_skill.failure)
    return found_skill


async def skill_by_source(
    context: AppContext,
    snapshot: Snapshot,
    source: str,
    skill_id: str,
    *,
    references: bool,
    raw: bool = False,
) -> FoundSkill:
    """Return the skill of a source and id. Raises Refused (404, 422, 503) and SkillyardError."""
    if source == LOCAL:
        return await _local_skill(context, snapshot, skill_id, references=references, raw=raw)
    return await _remote_skill(context, source, skill_id, references=references)


async def _local_skill(
    context: AppContext, snapshot: Snapshot, name: str, *, references: bool, raw: bool
) -> FoundSkill:
    try:
        return await context.in_thread(
            lambda: find_skill(snapshot, name, references=references, raw=raw)
        )
    except SourceFailed as error:  # its file changed after the snapshot was made
        context.follower.refresh()
        raise changing(error) from None


async def _remote_skill(
    context: AppContext, source: str, skill_id: str, *, references: bool
) -> FoundSkill:
    if not re.fullmatch(SOURCE_PATTERN, source):
        raise refuse_field("source", "source must be owner/repo, a domain or local", "path")
    if not re.fullmatch(ID_PATTERN, skill_id):
        raise refuse_field("id", "id must be one path segment", "path")
    if not context.searches.asks_remotes:
        raise not_found(f"{source}/{skill_id}", with_remotes=False)
    try:
        return await context.searches.ask_remotes(
            lambda searcher: searcher.get(source, skill_id, references=references)
        )
    except SourceFailed as error:
        if error.code == "not_found":
            raise not_found(f"{source}/{skill_id}") from None
        raise
