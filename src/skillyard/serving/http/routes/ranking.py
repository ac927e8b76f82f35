"""``/rank``, ``/select``, ``/evaluate`` and ``/why``: the use cases over the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from skillyard.catalog import Catalog
from skillyard.errors import InvalidInput, SkillError
from skillyard.ranking.query import Query
from skillyard.ranking.registry import DEFAULT_SCORER
from skillyard.selection import SelectionPolicy, bounds
from skillyard.serving.http.fields import refuse_field
from skillyard.serving.http.routes.search import scorer_of
from skillyard.serving.runtime.app_context import AppContext, RouteRequest
from skillyard.serving.runtime.encoding import Reply, json_bytes
from skillyard.serving.runtime.errors import refusal_of
from skillyard.shapes.encoder import encode
from skillyard.usecases import (
    Ranked,
    Selected,
    evaluate_skills,
    rank_skills,
    select_skills,
    why_skill,
)

__all__ = ["evaluate", "rank", "select", "why"]

MANY_FILES = 20
"""More than a host names that asks for the work at hand."""


async def rank(context: AppContext, request: RouteRequest) -> Reply:
    """Answer with a ranking as it is: no floor, no abstention."""
    values = request.values
    query = _query(values, values["q"])
    scorer = _scorer(values, "query")

    def work(catalog: Catalog) -> dict[str, Any]:
        ranking = rank_skills(
            catalog, query, scorer=scorer, limit=values["limit"], explain=values["explain"]
        )
        return _served(ranking, values)

    return await _answered(context, scorer, query.files, work)


async def select(context: AppContext, request: RouteRequest) -> Reply:
    """Answer with a choice, or an abstention: both are 200."""
    values = request.values
    query = _query(values, values["text"])
    scorer = _scorer(values, "body")
    policy = _policy(values, scorer)

    def work(catalog: Catalog) -> dict[str, Any]:
        selected = select_skills(
            catalog,
            query,
            policy,
            scorer=scorer,
            limit=values["limit"],
            explain=values["explain"],
        )
        return _served(selected, values)

    return await _answered(context, scorer, query.files, work)


def _policy(values: Mapping[str, Any], scorer: str) -> SelectionPolicy:
    try:
        policy = SelectionPolicy(
            values["top_k"],
            values["min_score"],
            fallback_tag=values["fallback_tag"],
            wrong_cost=values["wrong_cost"],
        )
        bounds(policy, scorer)
    except InvalidInput as error:
        raise refuse_field(error.field or "wrong_cost", str(error), place="body") from None
    return policy


async def evaluate(context: AppContext, request: RouteRequest) -> Reply:
    """Answer as the documented ``skill_evaluate``."""
    values = request.values
    if values["text"] is None and not values["files"] and not values["recent_activity"]:
        raise refuse_field("text", "text or files is required", place="body")

    snapshot = await context.snapshot()

    def work(catalog: Catalog) -> dict[str, Any]:
        return evaluate_skills(
            catalog,
            values["text"],
            values["files"],
            values["recent_activity"],
            threshold=values["threshold"],
            limit=values["limit"],
            show_details=values["show_details"],
            chooser=snapshot.ranked_by(DEFAULT_SCORER),
        ).to_dict()

    return await _answered(context, "confidence", values["files"] or (), work)


async def why(context: AppContext, request: RouteRequest) -> Reply:
    """Answer with everything about one skill and one query."""
    values = request.values
    query = _query(values, values["q"])
    scorer = _scorer(values, "query")

    def work(catalog: Catalog) -> dict[str, Any]:
        try:
            explanation = why_skill(
                catalog, values["name"], query, scorer=scorer, limit=values["limit"]
            )
        except SkillError as error:
            raise refusal_of(error) from None
        return explanation.to_dict(explain=values["explain"])

    return await _answered(context, scorer, query.files, work)


async def _answered(
    context: AppContext,
    scorer: str,
    files: Sequence[str],
    work: Callable[[Catalog], dict[str, Any]],
) -> Reply:
    """Return what ``work`` makes of the catalog, made and written out in a thread.

    Comparing many files may take a tenth of a second: that is done aside.
    """
    snapshot = await context.snapshot()

    def run() -> bytes:
        return json_bytes(work(snapshot.ranked_by(scorer)))

    body = await (
        context.in_slow_thread(run) if len(files) > MANY_FILES else context.in_thread(run)
    )
    return Reply(body, headers={"Skillyard-Catalog": snapshot.digest[:16]})


def _query(values: Mapping[str, Any], text: str) -> Query:
    return Query(
        text,
        values["files"],
        values["recent_activity"],
        values["include_tags"],
        values["exclude_tags"],
        values["include_references"],
    )


def _scorer(values: Mapping[str, Any], place: str) -> str:
    return scorer_of(values, place) or DEFAULT_SCORER


def _served(answer: Ranked | Selected, values: Mapping[str, Any]) -> dict[str, Any]:
    """Say how many remarks there are on the library's files; list them only when asked.

    A library with a thousand bad files would send them with every answer.
    """
    diagnostics = answer.diagnostics
    document = answer.document(diagnostics if values["diagnostics"] else None)
    shape: dict[str, Any] = encode(replace(document, diagnostics_count=len(diagnostics)))
    return shape
