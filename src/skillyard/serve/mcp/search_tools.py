"""The tools beyond this library: search, get, add, and cache statistics.

``add_skill`` returns a skill and writes nothing. Installation is left to the command line, where a
person confirms it.
"""

from __future__ import annotations

import time
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes import tools as shapes
from skillyard.base.shapes.encoder import encode
from skillyard.base.text import clean_line, plural, shorten
from skillyard.install.search import FoundSkill, SearchResult
from skillyard.install.sources.settings import LOCAL
from skillyard.serve.mcp.call import Answer
from skillyard.serve.mcp.frames import frame_skill, safe_json
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.local import tokens_of
from skillyard.serve.runtime.skill_lookup import skill_by_name, skill_by_source
from skillyard.serve.runtime.snapshot import Snapshot

MAX_RESULTS = 20
"""Skyll's own range of ``limit`` is 0 to 20."""


async def search_skills(context: AppContext, request: Any) -> Answer:
    """Search the enabled sources. Returns cards, and bodies within a token budget."""
    limit = max(0, min(MAX_RESULTS, request.limit))
    if not request.query.strip():
        raise InvalidInput("query must not be empty")
    snapshot = await context.follower.fresh()
    if limit == 0:
        return _answer(context, request, [], [], "nothing was asked for: limit is 0")
    result: SearchResult = await context.searches.search(
        snapshot,
        request.sources or context.searches.default_names,
        context.scorer_of(request.scorer),
        lambda result: result,
        request.query,
        limit,
        include_references=request.include_references,
    )
    statuses = [status.to_dict() for status in result.sources]
    left = request.max_tokens
    cards = []
    for each in result.skills:
        shape = _shape(snapshot, each)
        if shape["tokens"] <= left and shape["content"] is not None:
            left -= shape["tokens"]
        else:
            shape = _without_texts(shape)
        cards.append(shape)
    summary = ""
    if cards and result.abstained:
        summary = (
            f"None of the {plural(len(cards), 'skill')} found surely fits: the best scores"
            f" {result.skills[0].score:.2f}, and {result.floor:.3g} is what it takes."
        )
    return _answer(
        context, request, cards, statuses, summary, abstained=result.abstained, note=result.note
    )


def _answer(
    context: AppContext,
    request: Any,
    cards: list[dict[str, Any]],
    statuses: list[dict[str, Any]],
    summary: str = "",
    *,
    abstained: bool = True,
    note: str = "",
) -> Answer:
    lines = [summary or f"{plural(len(cards), 'skill')} found, best first."]
    for number, each in enumerate(cards, 1):
        about = shorten(each["description"] or "", 300)
        lines.append(
            f"{number}. {each['title']} ({each['source']}/{each['id']}, from"
            f" {', '.join(each['found_by'])}, score"
            f" {each['relevance_score']:.4g}): {about}"
        )
    lines += [each["content"] for each in cards if each["content"]]
    if all(status["name"] == LOCAL for status in statuses):
        lines.append("Only this library was searched; no remote source was asked.")
    for status in statuses:
        if status["state"] != "ok":
            lines.append(f"Source {status['name']} {status['state']}: {status.get('message', '')}")
    if cards and context.options.tools == "all":
        lines.append("get_skill(source, skill_id) brings the instructions of one.")
    elif cards:
        lines.append(
            "load_skill(name) brings the instructions of one of this library; a search"
            " with max_tokens brings those of others."
        )
    if note:
        lines.append(note)
    structured = {
        "query": request.query,
        "count": len(cards),
        "abstained": abstained,
        "skills": cards,
        "sources": statuses,
        **({"note": note} if note else {}),
    }
    return Answer("\n".join(lines), structured)


def _shape(snapshot: Snapshot, found_skill: FoundSkill) -> dict[str, Any]:
    """Return Skyll's fields and skillyard's, with framed and safe texts."""
    shape = found_skill.to_dict()
    for name in ("raw_content", "diagnostics", "explanation"):
        shape.pop(name, None)
    origin = _origin(snapshot, found_skill)
    shape = safe_json(shape)
    skill = found_skill.skill
    if skill.body:
        files = [each.path for each in skill.references]
        framed = frame_skill(skill.name, skill.body, origin=origin, digest=skill.hash, files=files)
        shape["content"] = framed.text
    else:
        shape["content"] = None
    return {**shape, "origin": origin, "tokens": tokens_of(found_skill), "omitted": False}


def _without_texts(shape: dict[str, Any]) -> dict[str, Any]:
    references = [{**each, "content": None} for each in shape["references"]]
    omitted = shape["content"] is not None
    return {**shape, "content": None, "references": references, "omitted": omitted}


def _origin(snapshot: Snapshot, found_skill: FoundSkill) -> str:
    if found_skill.skill.path and LOCAL in found_skill.found_by:
        return snapshot.origin_of(found_skill.skill)
    commit = found_skill.package.commit if found_skill.package is not None else ""
    where = f"{found_skill.hit.source}/{found_skill.hit.id}" + (
        f" at {commit[:12]}" if commit else ""
    )
    return clean_line(f"remote: {where}, found by {', '.join(found_skill.found_by)}")


async def get_skill(context: AppContext, request: Any) -> Answer:
    """Return the skill of a source and id. Raises Refused."""
    snapshot = await context.follower.fresh()
    source, skill_id = request.source.strip(), request.skill_id.strip()
    references = request.include_references
    found_skill = await skill_by_source(context, snapshot, source, skill_id, references=references)
    return _one(snapshot, found_skill)


async def add_skill(context: AppContext, request: Any) -> Answer:
    """Return the skill with exactly this name, from this library or else from a remote."""
    name = request.name.strip().strip("/")
    if not name:
        raise InvalidInput("name must not be empty")
    snapshot = await context.follower.fresh()
    references = request.include_references
    found_skill = await skill_by_name(context, snapshot, name, references=references)
    return _one(snapshot, found_skill)


def _one(snapshot: Snapshot, found_skill: FoundSkill) -> Answer:
    shape = _shape(snapshot, found_skill)
    text = shape["content"] or f"{shape['title']} has no instructions: {shape['fetch_error']}"
    return Answer(text, {"skill": shape})


def get_cache_stats(context: AppContext, request: Any, snapshot: Snapshot) -> Answer:
    """Return the statistics of the response cache, and the state of the sources."""
    stats = context.searches.cache_stats()
    age = None if stats.oldest is None else round(max(0.0, time.time() - stats.oldest), 1)
    structured = shapes.CacheState(
        entries=stats.entries,
        bytes=stats.bytes,
        oldest_age_s=age,
        remote_requests=context.searches.remote_requests,
        sources=context.searches.states(),
        catalog=shapes.LibraryStateDocument(
            skills=snapshot.whole.counts.skills,
            generation=snapshot.generation,
            digest=snapshot.digest,
            reloads=context.follower.reloads,
            counts=snapshot.whole.counts.document(),
        ),
    )
    return Answer(
        f"{plural(stats.entries, 'remote answer')} kept, {stats.bytes:,} bytes;"
        f" {snapshot.whole.counts.words} in the library.",
        encode(structured),
    )
