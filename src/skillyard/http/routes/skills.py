"""``/skill/{name}`` and ``/skills/{source}/{id}``: one skill, or an honest 404."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillyard.errors import SkillNotFound
from skillyard.http.encoding import Reply, json_bytes, json_reply
from skillyard.http.errors import Refused, failed, not_found, refusal_of
from skillyard.http.fields import refuse_field
from skillyard.http.live import Snapshot
from skillyard.http.local import LOCAL, found_in
from skillyard.http.outcomes import Watched
from skillyard.http.routes.search import skill_shape
from skillyard.http.service import Asked, Service
from skillyard.search import FoundSkill, SearchService
from skillyard.sources.github import is_repository
from skillyard.sources.protocol import SourceFailed

__all__ = ["by_name", "by_source"]

_DOMAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::[0-9]{1,5})?")
_ID_PARTS = re.compile(r"[^/\\\x00-\x1f\x7f]+")


async def by_name(service: Service, asked: Asked) -> Reply:
    """Answer with the skill that is called so: here, else, by exact name or id, elsewhere.

    Three or more segments are owner/repo and an id. Raises Refused: 400 for a blank name, 404
    with near names, 409 for a name that several skills of the catalog share, 502.
    """
    name = asked.values["name"].strip().strip("/")
    if not name:
        raise Refused(400, "blank_name", "the name is blank", field="name")
    snapshot = await service.snapshot()
    try:
        return await _here(service, asked, snapshot, name)
    except SkillNotFound as error:
        near = list(error.near)
    parts = name.split("/")
    if len(parts) > 2:
        if not is_repository("/".join(parts[:2])):
            raise not_found(name, near)
        return await _there(service, asked, snapshot, "/".join(parts[:2]), parts[-1])
    sources = await _remotes(service, snapshot)
    if not sources:
        raise not_found(name, near)

    async def find(searcher: SearchService) -> FoundSkill:
        return await searcher.find(name, references=asked.values["include_references"])

    try:
        found = await service.searching.run(find, sources, None)
    except SkillNotFound as error:
        raise not_found(name, (*near, *error.near)) from None
    except SourceFailed as error:
        raise _failed(sources, error) from None
    if found.failure is not None:  # it is known, and could not be had
        raise _failed(sources, found.failure)
    return _shown(asked, found)


async def by_source(service: Service, asked: Asked) -> Reply:
    """Answer with the skill of that source and id. Raises Refused: 404, 409, 422, 502."""
    source, skill_id = asked.values["source"], asked.values["id"]
    snapshot = await service.snapshot()
    if source == LOCAL:
        try:
            return await _here(service, asked, snapshot, skill_id)
        except SkillNotFound as error:
            raise refusal_of(error) from None
    return await _there(service, asked, snapshot, source, skill_id)


async def _here(service: Service, asked: Asked, snapshot: Snapshot, name: str) -> Reply:
    """Answer from the catalog. Raises SkillNotFound, AmbiguousName, Refused (503)."""

    def read() -> FoundSkill:
        return found_in(
            snapshot,
            name,
            references=asked.values["include_references"],
            raw=asked.values["include_raw"],
        )

    try:
        found = await service.in_thread(read)
    except SourceFailed as error:  # its file is not what it was when the snapshot was made
        service.live.look()
        raise Refused(
            503, "changing", str(error), hint="ask again", headers={"Retry-After": "1"}
        ) from None
    return _shown(asked, found).with_headers(Skillyard_Catalog=snapshot.digest[:16])


async def _there(
    service: Service, asked: Asked, snapshot: Snapshot, source: str, skill_id: str
) -> Reply:
    if not is_repository(source) and not _DOMAIN.fullmatch(source):
        raise refuse_field("source", "source must be owner/repo, a domain or local", place="path")
    if not _ID_PARTS.fullmatch(skill_id) or skill_id in (".", ".."):
        raise refuse_field("id", "id must be one path segment", place="path")
    sources = await _remotes(service, snapshot)
    if not sources:
        raise not_found(f"{source}/{skill_id}")

    async def get(searcher: SearchService) -> FoundSkill:
        wanted = asked.values["include_references"]
        return await searcher.get(source, skill_id, references=wanted)

    try:
        found = await service.searching.run(get, sources, None)
    except SourceFailed as error:
        if error.code == "not_found":
            raise not_found(f"{source}/{skill_id}") from None
        raise _failed(sources, error) from None
    return _shown(asked, found)


async def _remotes(service: Service, snapshot: Snapshot) -> list[Watched]:
    names = [name for name in service.searching.default_names if name != LOCAL]
    return await service.in_thread(service.searching.watched, names, snapshot)


def _failed(sources: Sequence[Watched], error: SourceFailed) -> Refused:
    """Return the 502 with the reason of each source that failed."""
    reasons = [source.failure for source in sources if source.failure is not None]
    return failed(reasons) if reasons else refusal_of(error)


def _shown(asked: Asked, found: FoundSkill) -> Reply:
    shape = skill_shape(found, raw=asked.values["include_raw"])
    return json_reply(shape, tagged=True)._replace(basis=json_bytes({**shape, "age_s": None}))
