"""``/.well-known/agent-skills/``: the index of this catalog (draft 0.2.0), and its files."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from skillyard.base.errors import SourceFailed
from skillyard.base.shapes.encoder import encode
from skillyard.base.shapes.service import PublishedSkill
from skillyard.engine.skill import Skill
from skillyard.install.sources.well_known import SCHEMA
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_reply
from skillyard.serve.runtime.errors import Refused, changing, not_found
from skillyard.serve.runtime.local import file_of
from skillyard.serve.runtime.publication import Artifact, Unpublished, archive_of

INDEX_PATH = "/.well-known/agent-skills/index.json"
SKILL_PATH = "/.well-known/agent-skills/{name}/SKILL.md"
ARCHIVE_PATH = "/.well-known/agent-skills/{name}.zip"
DESCRIPTION_UNITS = 1_024
"""Longest description that clients accept, in UTF-16 units, which JavaScript counts."""
FRESH = "max-age=60, must-revalidate"


async def index(context: AppContext, request: RouteRequest) -> Reply:
    """Return the index. Its addresses are relative to it."""
    snapshot = await context.snapshot()
    artifacts = await context.in_thread(context.publication.artifacts, snapshot)
    shape = {"$schema": SCHEMA, "skills": encode([_index_entry(each) for each in artifacts])}
    return _open(context, request, json_reply(shape, tagged=True))


def _index_entry(artifact: Artifact) -> PublishedSkill:
    name = quote(artifact.skill.name, safe="")
    return PublishedSkill(
        name=artifact.skill.name,
        type="archive" if artifact.is_archive else "skill-md",
        description=_cut_description(artifact.skill.description),
        url=f"{name}.zip" if artifact.is_archive else f"{name}/SKILL.md",
        digest=f"sha256:{artifact.digest}",
    )


def _cut_description(text: str) -> str:
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * DESCRIPTION_UNITS]
    return units.decode("utf-16-le", "ignore")


async def skill_file(context: AppContext, request: RouteRequest) -> Reply:
    """Return the SKILL.md of a published skill, byte for byte. Raises Refused: 404, 503."""
    return await _file(context, request, file_of, "text/markdown; charset=utf-8")


async def skill_archive(context: AppContext, request: RouteRequest) -> Reply:
    """Return all files of a published skill with several files. Raises Refused: 404, 503."""
    return await _file(context, request, archive_of, "application/zip")


async def _file(
    context: AppContext, request: RouteRequest, content: Callable[[Skill], bytes], media: str
) -> Reply:
    name = request.values["name"]
    snapshot = await context.snapshot()
    skills = await context.in_thread(context.publication.skills, snapshot)
    if name not in skills:
        raise not_found(name)
    try:
        data = await context.in_thread(content, skills[name])
    except Unpublished as error:
        raise Refused(
            404,
            "skill_not_found",
            str(error),
            hint="the index names what can be fetched",
            extra={"near": []},
        ) from None
    except SourceFailed as error:
        context.follower.refresh()
        raise changing(error) from None
    return _open(context, request, Reply(data, media, tagged=True))


def _open(context: AppContext, request: RouteRequest, reply: Reply) -> Reply:
    """Allow pages of the configured origins to read it, and caches to store it for a minute."""
    scope = "private" if context.options.token else "public"
    reply = reply.with_headers(Cache_Control=f"{scope}, {FRESH}", Vary="Origin")
    if request.origin and context.guard.allows(request.origin):
        return reply.with_headers(
            Access_Control_Allow_Origin=request.origin,
            Access_Control_Expose_Headers="ETag",
            Cross_Origin_Resource_Policy="cross-origin",
        )
    return reply
