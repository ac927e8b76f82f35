"""``/.well-known/agent-skills/``: the index of this catalog, and the files that it names."""

from __future__ import annotations

from skillyard.hosting.errors import Refused, not_found
from skillyard.hosting.local import file_of
from skillyard.hosting.service import Asked, Service
from skillyard.http.encoding import Reply, json_reply
from skillyard.http.well_known import index_of, published
from skillyard.sources.protocol import SourceFailed

__all__ = ["index", "skill_file"]

FRESH = "max-age=60, must-revalidate"


async def index(service: Service, asked: Asked) -> Reply:
    """Answer with the index."""
    snapshot = await service.snapshot()
    shape = await service.in_thread(index_of, snapshot.whole)
    return _open(service, asked, json_reply(shape, tagged=True))


async def skill_file(service: Service, asked: Asked) -> Reply:
    """Answer with the very bytes that the index's digest is of. Raises Refused: 404, 503."""
    snapshot = await service.snapshot()
    skill = (await service.in_thread(published, snapshot.whole)).get(asked.values["name"])
    if skill is None:
        raise not_found(asked.values["name"])
    try:
        data = await service.in_thread(file_of, skill)
    except SourceFailed as error:
        service.live.look()
        raise Refused(
            503, "changing", str(error), hint="ask again", headers={"Retry-After": "1"}
        ) from None
    return _open(service, asked, Reply(data, "text/markdown; charset=utf-8", tagged=True))


def _open(service: Service, asked: Asked, reply: Reply) -> Reply:
    """Let pages of the named origins read it, and caches keep it for a minute."""
    scope = "private" if service.options.token else "public"
    reply = reply.with_headers(Cache_Control=f"{scope}, {FRESH}", Vary="Origin")
    if asked.origin and service.guard.allows(asked.origin):
        return reply.with_headers(
            Access_Control_Allow_Origin=asked.origin,
            Access_Control_Expose_Headers="ETag",
            Cross_Origin_Resource_Policy="cross-origin",
        )
    return reply
