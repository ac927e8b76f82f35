"""``/skill/{name}`` and ``/skills/{source}/{id}``: one skill, or an honest 404."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skillyard.errors import SkillError, SkillNotFound
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

__all__ = ["by_name", "by_source", "found_by_source"]

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
    wanted: bool = asked.values["include_references"]
    raw: bool = asked.values["include_raw"]
    try:
        here = await _here(service, snapshot, name, references=wanted, raw=raw)
        return _shown(asked, here).with_headers(Skillyard_Catalog=snapshot.digest[:16])
    except SkillNotFound as error:
        near = list(error.near)
    parts = name.split("/")
    if len(parts) > 2:
        if not is_repository("/".join(parts[:2])):
            raise not_found(name, near)
        source = "/".join(parts[:2])
        there = await _there(service, snapshot, source, parts[-1], references=wanted)
        return _shown(asked, there)
    sources = await _remotes(service, snapshot)
    if not sources:
        raise not_found(name, near)

    async def find(searcher: SearchService) -> FoundSkill:
        return await searcher.find(name, references=wanted)

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
    values = asked.values
    snapshot = await service.snapshot()
    found = await found_by_source(
        service,
        snapshot,
        values["source"],
        values["id"],
        references=values["include_references"],
        raw=values["include_raw"],
    )
    reply = _shown(asked, found)
    if values["source"] == LOCAL:
        return reply.with_headers(Skillyard_Catalog=snapshot.digest[:16])
    return reply


async def found_by_source(
    service: Service,
    snapshot: Snapshot,
    source: str,
    skill_id: str,
    *,
    references: bool,
    raw: bool,
) -> FoundSkill:
    """Return the skill of that source and id. Raises Refused: 404, 409, 422, 502, 503."""
    if source != LOCAL:
        return await _there(service, snapshot, source, skill_id, references=references)
    try:
        return await _here(service, snapshot, skill_id, references=references, raw=raw)
    except SkillError as error:
        raise refusal_of(error) from None


async def _here(
    service: Service, snapshot: Snapshot, name: str, *, references: bool, raw: bool
) -> FoundSkill:
    """Return it from the catalog. Raises SkillNotFound, AmbiguousName, Refused (503)."""
    try:
        return await service.in_thread(
            lambda: found_in(snapshot, name, references=references, raw=raw)
        )
    except SourceFailed as error:  # its file is not what it was when the snapshot was made
        service.live.look()
        raise Refused(
            503, "changing", str(error), hint="ask again", headers={"Retry-After": "1"}
        ) from None


async def _there(
    service: Service, snapshot: Snapshot, source: str, skill_id: str, *, references: bool
) -> FoundSkill:
    if not is_repository(source) and not _DOMAIN.fullmatch(source):
        raise refuse_field("source", "source must be owner/repo, a domain or local", place="path")
    if not _ID_PARTS.fullmatch(skill_id) or skill_id in (".", ".."):
        raise refuse_field("id", "id must be one path segment", place="path")
    sources = await _remotes(service, snapshot)
    if not sources:
        raise not_found(f"{source}/{skill_id}")

    async def get(searcher: SearchService) -> FoundSkill:
        return await searcher.get(source, skill_id, references=references)

    try:
        return await service.searching.run(get, sources, None)
    except SourceFailed as error:
        if error.code == "not_found":
            raise not_found(f"{source}/{skill_id}") from None
        raise _failed(sources, error) from None


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
