"""``/rank``, ``/select``, ``/evaluate``, ``/why`` and ``/feedback``: over the catalog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from skillyard.base.shapes.encoder import encode
from skillyard.engine.operations.skill_explanation import WhyRequest, why_skill
from skillyard.hosts.operations.recommendations import EvaluateRequest
from skillyard.hosts.operations.skill_feedback import judge_for_client
from skillyard.hosts.operations.skill_selection import (
    RankRequest,
    RankResult,
    SelectRequest,
    SelectResult,
    rank_skills,
    select_skills,
)
from skillyard.serve.runtime.app_context import AppContext, RouteRequest
from skillyard.serve.runtime.encoding import Reply, json_bytes, json_reply
from skillyard.serve.runtime.errors import Refused, refuse_field
from skillyard.serve.runtime.snapshot import Ranking, Snapshot

MAX_QUICK_FILES = 20
"""Above this number of files, a ranking runs in the thread for slow work. Hosts send fewer."""


async def rank(context: AppContext, request: RouteRequest) -> Reply:
    """Return a ranking, without a floor or abstention."""
    fields = RankRequest(**request.values)
    query = fields.as_query()

    def work(ranking: Ranking) -> bytes:
        ranked = rank_skills(
            ranking.catalog,
            context.with_feedback(query),
            scorer=ranking.scorer,
            limit=fields.limit,
            explain=fields.explain,
        )
        return _encoded(ranked._replace(note=ranking.note), fields.diagnostics)

    scorer = context.scorer_of(fields.scorer) or context.scorer
    return await _ranking_reply(
        context, query.files, lambda snapshot: snapshot.answer(scorer, work)
    )


async def select(context: AppContext, request: RouteRequest) -> Reply:
    """Return a selection or an abstention; both have status 200."""
    fields = SelectRequest(**request.values)
    query, policy = fields.as_query(), fields.as_policy()

    def work(ranking: Ranking) -> bytes:
        selected = select_skills(
            ranking.catalog,
            context.with_feedback(query),
            policy,
            scorer=ranking.scorer,
            limit=fields.limit,
            explain=fields.explain,
            caller=context.options.caller,
        )
        return _encoded(selected._replace(note=ranking.note), fields.diagnostics)

    scorer = context.scorer_of(fields.scorer) or context.scorer
    return await _ranking_reply(
        context, query.files, lambda snapshot: snapshot.answer(scorer, work)
    )


async def evaluate(context: AppContext, request: RouteRequest) -> Reply:
    """Return the documented ``skill_evaluate`` answer."""
    fields = EvaluateRequest(**request.values)
    if fields.text is None and not fields.files and not fields.recent_activity:
        raise refuse_field("text", "text or files is required", place="body")

    def answer(snapshot: Snapshot) -> bytes:
        return json_bytes(encode(snapshot.evaluate(fields)))

    return await _ranking_reply(context, fields.files or (), answer)


async def why(context: AppContext, request: RouteRequest) -> Reply:
    """Return everything about one skill and one query."""
    fields = WhyRequest(**request.values)
    query = fields.as_query()

    def work(ranking: Ranking) -> bytes:
        explanation = why_skill(
            ranking.catalog,
            fields.name,
            context.with_feedback(query),
            scorer=ranking.scorer,
            limit=fields.limit,
        )
        explanation = explanation._replace(note=ranking.note)
        return json_bytes(encode(explanation.document(explain=fields.explain)))

    scorer = context.scorer_of(fields.scorer) or context.scorer
    return await _ranking_reply(
        context, query.files, lambda snapshot: snapshot.answer(scorer, work)
    )


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
    context: AppContext, files: Sequence[str], answer: Callable[[Snapshot], bytes]
) -> Reply:
    """Return the response of a snapshot, computed and encoded in a thread.

    Comparing many files may take a tenth of a second; that runs in the thread for slow work.
    """
    snapshot = await context.snapshot()
    in_thread = context.in_slow_thread if len(files) > MAX_QUICK_FILES else context.in_thread
    body = await in_thread(answer, snapshot)
    return Reply(body, headers={"Skillyard-Catalog": snapshot.digest[:16]})


def _encoded(answer: RankResult | SelectResult, listed: bool) -> bytes:
    """Return the answer with the number of diagnostics; they are listed only on request.

    A library with a thousand invalid files would otherwise send them with every response.
    """
    document = answer.document(answer.diagnostics if listed else None)
    return json_bytes(encode(replace(document, diagnostics_count=len(answer.diagnostics))))
