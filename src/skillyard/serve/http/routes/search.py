"""``/search`` in Skyll's shape, cards within a token budget, and single skills."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.install.search import FoundSkill, SearchResult
from skillyard.install.sources.settings import LOCAL
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_bytes, json_reply
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.local import tokens_of
from skillyard.serve.runtime.skill_lookup import skill_by_name, skill_by_source
from skillyard.serve.runtime.snapshot import Snapshot


async def search(context: AppContext, request: RouteRequest) -> Reply:
    """Return a search. Raises Refused (502) when every queried source failed."""
    values = request.values
    snapshot = await context.snapshot()
    names = values["source"] or context.searches.default_names
    body = await context.searches.search(
        snapshot,
        names,
        context.scorer_of(values["scorer"]),
        lambda result: json_bytes(_shape(result, values)),
        values["query"],
        values["limit"],
        raw=values["include_raw"],
        include_content=values["include_content"],
        include_references=values["include_references"],
    )
    headers = {"Skillyard-Catalog": snapshot.digest[:16]}
    return Reply(body, tagged=set(names) == {LOCAL}, headers=headers)


def _shape(result: SearchResult, values: Mapping[str, Any]) -> dict[str, Any]:
    shape = result.to_dict(
        include_content=False,  # added below
        include_raw=values["include_raw"],
        explain=values["explain"],
    )
    left: int | None = values["cards"]
    for each, item in zip(result.skills, shape["skills"], strict=True):
        item["tokens"] = tokens_of(each)
        item["omitted"] = False
        if left is not None:
            left = _charge_item(item, left)
        if values["include_content"] and not item["omitted"]:
            item["content"] = each.skill.body
    return shape


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
    shape = found_skill.to_dict(include_raw=raw)
    shape |= {"tokens": tokens_of(found_skill), "omitted": False}
    reply = json_reply(shape, tagged=True)._replace(basis=json_bytes({**shape, "age_s": None}))
    if LOCAL not in found_skill.found_by:
        return reply
    return reply.with_headers(Skillyard_Catalog=snapshot.digest[:16])


def _charge_item(item: dict[str, Any], left: int) -> int:
    """Return the remaining budget. A skill that exceeds it loses its texts."""
    if item["tokens"] <= left:
        return left - int(item["tokens"])
    item["content"] = item["raw_content"] = None
    for reference in item["references"]:
        reference["content"] = None
    item["omitted"] = True
    return left
