"""``/search``: federated search in Skyll's shape, cards within a token budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.context.budget import estimate_tokens
from skillyard.http.encoding import Reply, json_bytes
from skillyard.http.errors import failed
from skillyard.http.fields import refuse_field
from skillyard.http.local import LOCAL
from skillyard.http.service import Asked, Service
from skillyard.search import FoundSkill, SearchResult, SearchService

__all__ = ["scorer_of", "search", "skill_shape"]


async def search(service: Service, asked: Asked) -> Reply:
    """Answer a search. Raises Refused (502) when every source that was asked failed."""
    values = asked.values
    query = values["q"] if "q" in values else values["query"]
    snapshot = await service.snapshot()
    names = values["source"] or service.searching.default_names
    raw = values["include_raw"]
    sources = await service.in_thread(service.searching.watched, names, snapshot, raw)

    async def run(searcher: SearchService) -> bytes:
        found = await searcher.search(
            query, values["limit"], values["include_content"], values["include_references"]
        )
        if found.failed:
            raise failed([status.to_dict() for status in found.sources])
        return json_bytes(_shape(found, values))

    body = await service.searching.run(run, sources, scorer_of(values))
    # Only what is here can be told to be the same without asking anybody.
    local = all(source.name == LOCAL for source in sources)
    return Reply(body, tagged=local, headers={"Skillyard-Catalog": snapshot.digest[:16]})


def scorer_of(values: Mapping[str, Any], place: str = "query") -> str | None:
    """Return the scorer that was named. Raises Refused for one with an embedder.

    Which embedder may be asked, and paid for, is not for a client to say.
    """
    name: str | None = values["scorer"]
    if name is not None and "+" in name:
        raise refuse_field(
            "scorer", "scorer must be a plain name, without an embedder", place=place
        )
    return name


def _shape(found: SearchResult, values: Mapping[str, Any]) -> dict[str, Any]:
    shape = found.to_dict(
        include_content=values["include_content"],
        include_raw=values["include_raw"],
        explain=values["explain"],
    )
    left: int | None = values["cards"]
    for each, item in zip(found.skills, shape["skills"], strict=True):
        _tidy(item)
        item["tokens"] = _tokens(each)
        item["omitted"] = False
        if left is not None:
            left = _budgeted(item, left)
    return shape


def skill_shape(found: FoundSkill, *, raw: bool) -> dict[str, Any]:
    """Return the JSON shape of one skill with its content."""
    item = found.to_dict(include_raw=raw)
    _tidy(item)
    return {**item, "tokens": _tokens(found), "omitted": False}


def _tidy(item: dict[str, Any]) -> None:
    """Say null where there is no address."""
    item["refs"] = {name: address or None for name, address in item["refs"].items()}
    for reference in item["references"]:
        reference["raw_url"] = reference["raw_url"] or None


def _tokens(found: FoundSkill) -> int:
    texts = (found.skill.body, *(reference.content for reference in found.skill.references))
    return sum(estimate_tokens(text) for text in texts if text)


def _budgeted(item: dict[str, Any], left: int) -> int:
    """Return what is left of the budget; a skill that does not fit loses its texts."""
    if item["tokens"] <= left:
        return left - int(item["tokens"])
    item["content"] = item["raw_content"] = None
    for reference in item["references"]:
        reference["content"] = None
    item["omitted"] = True
    return left
