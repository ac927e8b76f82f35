"""``/search``: federated search in Skyll's shape, cards within a token budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.base.errors import UnknownName
from skillyard.base.version import __version__
from skillyard.engine.context.budget import estimate_tokens
from skillyard.engine.ranking.registry import is_built_in, scorer_names
from skillyard.install.search import FoundSkill, SearchResult, SearchService
from skillyard.install.sources.settings import Settings
from skillyard.serve.http.fields import refuse_field
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_bytes, matches, tag_of
from skillyard.serve.runtime.errors import sources_refusal
from skillyard.serve.runtime.local import LOCAL
from skillyard.serve.runtime.search_runner import ranked_result
from skillyard.serve.runtime.snapshot import Snapshot

_OPTIONS = ("limit", "include_content", "explain", "cards")
"""Fields that change the response, besides query, sources and scorer."""


async def search(context: AppContext, request: RouteRequest) -> Reply:
    """Return a search. Raises Refused (502) when every queried source failed."""
    values = request.values
    query = values["query"]
    snapshot = await context.snapshot()
    names = values["source"] or context.searches.default_names
    scorer = context.searches.scorer_for(scorer_of(values["scorer"]), names)
    # Only searches of the catalog alone can be compared without querying anybody.
    local = set(names) == {LOCAL}
    basis = _basis(context.searches.settings, snapshot, query, scorer, values) if local else b""
    headers = {"Skillyard-Catalog": snapshot.digest[:16]}
    if basis and request.known and matches(tag_of(basis), request.known):
        return Reply(b"", tagged=True, basis=basis, headers=headers)
    raw, watched = values["include_raw"], context.searches.observed_sources
    # Remotes read settings and files when they are first used.
    sources = (
        watched(names, snapshot, raw, scorer)
        if local
        else await context.in_thread(watched, names, snapshot, raw, scorer)
    )
    whole = True

    async def run(searcher: SearchService) -> bytes:
        nonlocal whole
        result = await searcher.search(
            query, values["limit"], values["include_content"], values["include_references"]
        )
        if result.failed:
            raise sources_refusal([status.to_dict() for status in result.sources])
        result = ranked_result(result, scorer, sources)
        whole = all(each.failure is None for each in result.skills)
        return json_bytes(_shape(result, values))

    body = await context.searches.run(run, sources, scorer)
    # A result with unreadable files differs from the one that the basis names.
    basis = basis if whole else b""
    return Reply(body, tagged=local, basis=basis, headers=headers)


def _basis(
    settings: Settings, snapshot: Snapshot, query: str, scorer: str, values: Mapping[str, Any]
) -> bytes:
    """Return what determines a search of the catalog alone; empty when that is unknown.

    It does not cover files, which would have to be read for the comparison.
    """
    if values["include_raw"] or values["include_references"] or not is_built_in(scorer):
        return b""
    options = {name: values[name] for name in _OPTIONS}
    return json_bytes(
        [__version__, snapshot.identity, settings.over_fetch_floor, query.strip(), scorer, options]
    )


def scorer_of(name: str | None, place: str = "query") -> str | None:
    """Return the requested scorer. Raises UnknownName, and Refused for one with an embedder.

    Embedders may cost money, so clients cannot choose them.
    """
    if name is not None and "+" in name:
        raise refuse_field(
            "scorer", "scorer must be a plain name, without an embedder", place=place
        )
    if name is not None and not is_built_in(name) and name not in scorer_names():
        raise UnknownName("scorer", name, scorer_names())
    return name


def _shape(result: SearchResult, values: Mapping[str, Any]) -> dict[str, Any]:
    shape = result.to_dict(
        include_content=False,  # added below
        include_raw=values["include_raw"],
        explain=values["explain"],
    )
    left: int | None = values["cards"]
    for each, item in zip(result.skills, shape["skills"], strict=True):
        item["tokens"] = _tokens(each)
        item["omitted"] = False
        if left is not None:
            left = _charge_item(item, left)
        if values["include_content"] and not item["omitted"]:
            item["content"] = each.skill.body
    return shape


def skill_shape(found_skill: FoundSkill, *, raw: bool) -> dict[str, Any]:
    """Return the JSON shape of one skill with its content."""
    item = found_skill.to_dict(include_raw=raw)
    return {**item, "tokens": _tokens(found_skill), "omitted": False}


def _tokens(found_skill: FoundSkill) -> int:
    texts = (
        found_skill.skill.body,
        *(reference.content for reference in found_skill.skill.references),
    )
    return sum(estimate_tokens(text) for text in texts if text)


def _charge_item(item: dict[str, Any], left: int) -> int:
    """Return the remaining budget. A skill that exceeds it loses its texts."""
    if item["tokens"] <= left:
        return left - int(item["tokens"])
    item["content"] = item["raw_content"] = None
    for reference in item["references"]:
        reference["content"] = None
    item["omitted"] = True
    return left
