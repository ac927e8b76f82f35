"""``/rank``, ``/select``, ``/evaluate``, ``/why`` and ``/feedback``: over the catalog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes.encoder import encode
from skillyard.engine.operations.skill_explanation import WhyRequest, why_skill
from skillyard.engine.selection import SelectionPolicy, bounds
from skillyard.hosts.operations.recommendations import EvaluateRequest, evaluate_skills
from skillyard.hosts.operations.skill_feedback import judge_for_client
from skillyard.hosts.operations.skill_selection import (
    Ranked,
    RankRequest,
    Selected,
    SelectRequest,
    rank_skills,
    select_skills,
)
from skillyard.serve.http.routes.search import scorer_of
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_bytes, json_reply
from skillyard.serve.runtime.errors import Refused, refuse_field
from skillyard.serve.runtime.snapshot import Ranking

CONFIDENCE = "confidence"
MAX_QUICK_FILES = 20
"""Above this number of files, a ranking runs in the thread for slow work. Hosts send fewer."""


async def rank(context: AppContext, request: RouteRequest) -> Reply:
    """Return a ranking, without a floor or abstention."""
    fields = RankRequest(**request.values)
    query = fields.as_query()
    scorer = scorer_of(fields.scorer) or context.scorer

    def work(ranking: Ranking) -> dict[str, Any]:
        ranked = rank_skills(
            ranking.catalog,
            context.with_feedback(query),
            scorer=ranking.scorer,
            limit=fields.limit,
            explain=fields.explain,
        )
        return _answer_shape(ranked._replace(note=ranking.note), fields.diagnostics)

    return await _ranking_reply(context, scorer, query.files, work)


async def select(context: AppContext, request: RouteRequest) -> Reply:
    """Return a selection or an abstention; both have status 200."""
    fields = SelectRequest(**request.values)
    query = fields.as_query()
    scorer = scorer_of(fields.scorer, "body") or context.scorer
    policy = _policy(fields, scorer)

    def work(ranking: Ranking) -> dict[str, Any]:
        selected = select_skills(
            ranking.catalog,
            context.with_feedback(query),
            policy,
            scorer=ranking.scorer,
            limit=fields.limit,
            explain=fields.explain,
            caller=context.options.caller,
        )
        return _answer_shape(selected._replace(note=ranking.note), fields.diagnostics)

    return await _ranking_reply(context, scorer, query.files, work)


def _policy(fields: SelectRequest, scorer: str) -> SelectionPolicy:
    try:
        policy = fields.as_policy()
        bounds(policy, scorer)
    except InvalidInput as error:
        raise refuse_field(error.field or "wrong_cost", str(error), place="body") from None
    return policy


async def evaluate(context: AppContext, request: RouteRequest) -> Reply:
    """Return the documented ``skill_evaluate`` answer."""
    fields = EvaluateRequest(**request.values)
    if fields.text is None and not fields.files and not fields.recent_activity:
        raise refuse_field("text", "text or files is required", place="body")

    snapshot = await context.snapshot()

    def work(ranking: Ranking) -> dict[str, Any]:
        evaluated = evaluate_skills(
            snapshot.ranking_for(CONFIDENCE).catalog,
            fields.text,
            fields.files,
            fields.recent_activity,
            threshold=fields.threshold,
            limit=fields.limit,
            show_details=fields.show_details,
            chooser=ranking.catalog,
            scorer=ranking.scorer,
        )
        shape: dict[str, Any] = encode(evaluated)
        return shape

    return await _ranking_reply(context, context.scorer, fields.files or (), work)


async def why(context: AppContext, request: RouteRequest) -> Reply:
    """Return everything about one skill and one query."""
    fields = WhyRequest(**request.values)
    query = fields.as_query()
    scorer = scorer_of(fields.scorer) or context.scorer

    def work(ranking: Ranking) -> dict[str, Any]:
        explanation = why_skill(
            ranking.catalog,
            fields.name,
            context.with_feedback(query),
            scorer=ranking.scorer,
            limit=fields.limit,
        )
        explanation = explanation._replace(note=ranking.note)
        shape: dict[str, Any] = encode(explanation.document(explain=fields.explain))
        return shape

    return await _ranking_reply(context, scorer, query.files, work)


async def feedback(context: AppContext, request: RouteRequest) -> Reply:
    """Store a judgement and return it. Raises Refused (403) unless the service takes feedback."""
    if not context.options.feedback:
        raise Refused(
            403,
            "feedback_off",
            "this service takes no feedback",
            hint="start it with `skillyard serve --feedback`",
        )
    values = {**request.values, "note": request.values["note"] or "", "by": "http"}
    snapshot = await context.snapshot()
    receipt = await context.in_thread(lambda: judge_for_client(snapshot.whole, **values))
    return json_reply(encode(receipt))


async def _ranking_reply(
    context: AppContext,
    scorer: str,
    files: Sequence[str],
    work: Callable[[Ranking], dict[str, Any]],
) -> Reply:
    """Return the response of ``work`` for a ranking, computed and encoded in a thread.

    Comparing many files may take a tenth of a second; that runs in the thread for slow work.
    """
    snapshot = await context.snapshot()

    def run() -> bytes:
        return json_bytes(snapshot.answer(scorer, work))

    body = await (
        context.in_slow_thread(run) if len(files) > MAX_QUICK_FILES else context.in_thread(run)
    )
    return Reply(body, headers={"Skillyard-Catalog": snapshot.digest[:16]})


def _answer_shape(answer: Ranked | Selected, listed: bool) -> dict[str, Any]:
    """Return the answer with the number of diagnostics; they are listed only on request.

    A library with a thousand invalid files would otherwise send them with every response.
    """
    diagnostics = answer.diagnostics
    document = answer.document(diagnostics if listed else None)
    shape: dict[str, Any] = encode(replace(document, diagnostics_count=len(diagnostics)))
    return shape
