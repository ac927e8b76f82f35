"""``/skill/{name}`` and ``/skills/{source}/{id}``: one skill, or 404."""

from __future__ import annotations

from skillyard.install.search import FoundSkill
from skillyard.serve.http.routes.search import skill_shape
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_bytes, json_reply
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.local import LOCAL
from skillyard.serve.runtime.skill_lookup import skill_by_name, skill_by_source
from skillyard.serve.runtime.snapshot import Snapshot


async def by_name(context: AppContext, request: RouteRequest) -> Reply:
    """Return the skill with a name: from the catalog, or else by exact name or id from a remote.

    Raises Refused: 400 for a blank name, 404 with similar names, 502; and AmbiguousName.
    """
    values = request.values
    name = values["name"].strip().strip("/")
    if not name:
        raise Refused(400, "blank_name", "the name is blank", field="name")
    snapshot = await context.snapshot()
    references, raw = values["include_references"], values["include_raw"]
    found_skill = await skill_by_name(context, snapshot, name, references=references, raw=raw)
    return _skill_reply(snapshot, found_skill, raw=raw)


async def by_source(context: AppContext, request: RouteRequest) -> Reply:
    """Return the skill of a source and id. Raises Refused: 404, 409, 422, 502."""
    values = request.values
    snapshot = await context.snapshot()
    references, raw = values["include_references"], values["include_raw"]
    found_skill = await skill_by_source(
        context, snapshot, values["source"], values["id"], references=references, raw=raw
    )
    return _skill_reply(snapshot, found_skill, raw=raw)


def _skill_reply(snapshot: Snapshot, found_skill: FoundSkill, *, raw: bool) -> Reply:
    shape = skill_shape(found_skill, raw=raw)
    reply = json_reply(shape, tagged=True)._replace(basis=json_bytes({**shape, "age_s": None}))
    if LOCAL not in found_skill.found_by:
        return reply
    return reply.with_headers(Skillyard_Catalog=snapshot.digest[:16])
