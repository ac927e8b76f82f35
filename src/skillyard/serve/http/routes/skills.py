"""``/skill/{name}`` and ``/skills/{source}/{id}``: one skill, or 404."""

from __future__ import annotations

from skillyard.base.errors import SkillNotFound, SourceFailed
from skillyard.install.search import FoundSkill, SearchService
from skillyard.install.sources.repository import is_repository
from skillyard.serve.http.routes.search import skill_shape
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_bytes, json_reply
from skillyard.serve.runtime.errors import Refused, not_found
from skillyard.serve.runtime.local import LOCAL
from skillyard.serve.runtime.skill_lookup import (
    all_sources_failed,
    local_skill,
    remote_skill,
    remote_sources,
    skill_by_source,
)


async def by_name(context: AppContext, request: RouteRequest) -> Reply:
    """Return the skill with a name: from the catalog, or else by exact name or id from a remote.

    Three or more segments are owner/repo and an id. Raises Refused: 400 for a blank name, 404 with
    similar names, 409 for a name of several skills of the catalog, 502.
    """
    name = request.values["name"].strip().strip("/")
    if not name:
        raise Refused(400, "blank_name", "the name is blank", field="name")
    snapshot = await context.snapshot()
    references: bool = request.values["include_references"]
    raw: bool = request.values["include_raw"]
    try:
        found_skill = await local_skill(context, snapshot, name, references=references, raw=raw)
        return _skill_reply(request, found_skill).with_headers(
            Skillyard_Catalog=snapshot.digest[:16]
        )
    except SkillNotFound as error:
        near = list(error.near)
    parts = name.split("/")
    if len(parts) > 2:
        if not is_repository("/".join(parts[:2])):
            raise not_found(name, near)
        source = "/".join(parts[:2])
        found_skill = await remote_skill(
            context, snapshot, source, parts[-1], references=references
        )
        return _skill_reply(request, found_skill)
    sources = await remote_sources(context, snapshot)
    if not sources:
        raise not_found(name, near, asked=False)

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
    return _skill_reply(request, found_skill)


async def by_source(context: AppContext, request: RouteRequest) -> Reply:
    """Return the skill of a source and id. Raises Refused: 404, 409, 422, 502."""
    values = request.values
    snapshot = await context.snapshot()
    found_skill = await skill_by_source(
        context,
        snapshot,
        values["source"],
        values["id"],
        references=values["include_references"],
        raw=values["include_raw"],
    )
    reply = _skill_reply(request, found_skill)
    if values["source"] == LOCAL:
        return reply.with_headers(Skillyard_Catalog=snapshot.digest[:16])
    return reply


def _skill_reply(request: RouteRequest, found_skill: FoundSkill) -> Reply:
    shape = skill_shape(found_skill, raw=request.values["include_raw"])
    return json_reply(shape, tagged=True)._replace(basis=json_bytes({**shape, "age_s": None}))
