"""The selection tools: ``select_skill``, ``skill_evaluate`` and ``why_skill``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes.encoder import encode
from skillyard.base.shapes.recommendations import Evaluated
from skillyard.base.text import shorten
from skillyard.engine.catalog import Catalog
from skillyard.engine.operations.skill_explanation import Why
from skillyard.engine.operations.skill_explanation import why_skill as explain
from skillyard.engine.ranking.registry import default_scorer
from skillyard.engine.skill import Skill
from skillyard.hosts.operations.recommendations import evaluate_skills
from skillyard.hosts.operations.skill_feedback import judge_for_client
from skillyard.hosts.operations.skill_selection import Selected, select_skills
from skillyard.serve.mcp.call import Answer, Call, plain_scorer
from skillyard.serve.mcp.failures import ToolFailed
from skillyard.serve.mcp.frames import safe_json, safe_text
from skillyard.serve.mcp.library_tools import load_answer, skill_by_name
from skillyard.serve.runtime.snapshot import Ranking
from skillyard.serve.runtime.view import View

CONFIDENCE = "confidence"
MAX_RUNNERS_UP = 3
"""Number of runners-up that the text of an answer names."""
PERHAPS = (
    "Use one only where its description is what the request is about; else ask, or go on without a"
    " skill."
)
WorkResult = tuple[Answer, Iterable[Skill]]


async def select_skill(call: Call) -> Answer:
    """Select skills for a request and return the instructions of the best one, or abstain."""
    asked = call.request
    if not asked.query.strip() and not asked.files:
        raise ToolFailed(
            "invalid_argument", "select_skill needs query or files: give at least one of them"
        )
    scorer = plain_scorer(asked.scorer)
    query = asked.as_query()
    try:
        policy = asked.as_policy()
    except InvalidInput as error:
        raise ToolFailed("invalid_argument", str(error)) from None

    def choose(ranking: Ranking) -> Selected:
        context = call.shared.context
        selected = select_skills(
            ranking.catalog,
            context.with_feedback(query),
            policy,
            scorer=ranking.scorer,
            caller=context.options.caller,
        )
        return selected._replace(note=ranking.note)

    def work(view: View) -> WorkResult:
        selected = view.ranked.answer(scorer, choose)
        chosen = selected.selection.selected
        block = None
        if chosen and asked.max_tokens != 0:
            best = skill_by_name(view, chosen[0].skill.id)
            block = load_answer(view, call.shared, best, max_tokens=asked.max_tokens).text
        shape = encode(selected.document())
        for kind in ("selected", "maybe", "rejected"):
            for match in shape[kind]:
                for place in (match, *match.get("variants", ())):
                    place["path"] = view.path_below_root(place["path"])
        safe = safe_json({**shape, "block": None})
        text = _choice_text(selected, block)
        return Answer(text, {**safe, "block": block}), [match.skill for match in chosen]

    try:
        return await call.shared.views.answer(work)
    except InvalidInput as error:
        raise ToolFailed("invalid_argument", str(error)) from None


def _choice_text(selected: Selected, block: str | None) -> str:
    """Return a selection as text: the skills with their scores, the runners-up, the block."""
    selection = selected.selection
    lines = [
        f"{match.skill.name} ({match.score:.2f}): {match.reason}" for match in selection.selected
    ]
    lines += [
        f"{match.skill.name} needs these skills first: {', '.join(s.name for s in match.required)}"
        for match in selection.selected
        if match.required
    ]
    lines += [
        f"{match.skill.name} needs the tools {', '.join(match.unchecked_tools)}: if you lack one,"
        " go on without it, and name your tools in `tools`."
        for match in selection.selected
        if match.unchecked_tools
    ]
    if not lines:
        lines = ["No skill of this library fits; go on without one."]
        if selection.maybe:
            near = ", ".join(
                f"{match.skill.name} ({match.score:.2f}): {shorten(match.skill.description, 200)}"
                for match in selection.maybe[:MAX_RUNNERS_UP]
            )
            lines = [f"No skill surely fits. Perhaps: {near}", PERHAPS]
    if selected.question:
        lines.append(selected.question)
    if selected.note:
        lines.append(selected.note)
    text = safe_text("\n".join(lines))
    return text if block is None else f"{text}\n\n{block}"


async def skill_feedback(call: Call) -> Answer:
    """Store a judgement about a skill of the library."""
    asked = call.request

    def work(view: View) -> WorkResult:
        skill = skill_by_name(view, asked.name)
        receipt = judge_for_client(
            view.catalog,
            skill.id,
            right=asked.right,
            request=asked.request,
            note=asked.note or "",
            by="mcp",
        )
        word = "right" if receipt.right else "wrong"
        text = f"Stored: {skill.name} was {word}. It counts a little for similar requests."
        return Answer(safe_text(text), encode(receipt)), []

    try:
        return await call.shared.views.answer(work)
    except InvalidInput as error:
        raise ToolFailed("invalid_argument", str(error)) from None


async def skill_evaluate(call: Call) -> Answer:
    """Return the documented skill_evaluate answer. Raises ToolFailed without text and files."""
    asked = call.request
    if asked.text is None and asked.files is None and not asked.recent_activity:
        raise ToolFailed(
            "invalid_argument", "skill_evaluate needs files or text: give at least one of them"
        )

    def work(view: View) -> WorkResult:
        snapshot = view.ranked

        def evaluate(ranking: Ranking) -> Evaluated:
            return evaluate_skills(
                snapshot.ranking_for(CONFIDENCE).catalog,
                asked.text if asked.text is not None else "",
                asked.files,
                asked.recent_activity,
                threshold=asked.threshold,
                limit=asked.limit,
                show_details=asked.show_details,
                chooser=ranking.catalog,
                scorer=ranking.scorer,
            )

        evaluated = snapshot.answer(default_scorer(), evaluate)
        skills_by_name = view.cached("by name", lambda: _by_name(view))
        skills = [
            skill
            for result in evaluated.results
            for skill in skills_by_name.get(result.skillName, ())
        ]
        results = [replace(each, reason=safe_text(each.reason)) for each in evaluated.results]
        message = safe_text(evaluated.message)
        return Answer(message, {"results": encode(results), "message": message}), skills

    return await call.shared.views.answer(work)


def _by_name(view: View) -> dict[str, list[Skill]]:
    skills_by_name: dict[str, list[Skill]] = {}
    for skill in view.catalog:
        skills_by_name.setdefault(skill.name, []).append(skill)
    return skills_by_name


async def why_skill(call: Call) -> Answer:
    """Explain one skill's score and place for a request."""
    asked = call.request
    scorer = plain_scorer(asked.scorer)
    query = asked.as_query()

    def reasons(ranking: Ranking) -> tuple[Catalog, Why]:
        judged = call.shared.context.with_feedback(query)
        why = explain(ranking.catalog, asked.name, judged, scorer=ranking.scorer, limit=asked.limit)
        return ranking.catalog, why._replace(note=ranking.note)

    def work(view: View) -> WorkResult:
        why = _below_roots(view, *view.ranked.answer(scorer, reasons))
        shape = encode(why.document())
        return Answer(_explanation_text(why, shape["match"]), _safe_shape(view, shape)), [
            why.match.skill
        ]

    try:
        return await call.shared.views.answer(work)
    except InvalidInput as error:
        raise ToolFailed("invalid_argument", str(error)) from None


def _below_roots(view: View, catalog: Catalog, why: Why) -> Why:
    """Return the explanation with paths in its texts relative to their root."""
    winner = catalog.shadowed.get(why.match.skill)
    if winner is None:
        return why

    def relative(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text.replace(winner.path, view.path_below_root(winner.path)) for text in texts)

    return why._replace(
        hints=relative(why.hints),
        left_out=relative(why.left_out),
        advice=relative(why.advice),
    )


def _safe_shape(view: View, shape: dict[str, Any]) -> dict[str, Any]:
    """Return the explanation with safe texts and paths relative to their root."""
    for match in (shape["match"], *(ahead["match"] for ahead in shape["ahead"])):
        match["path"] = view.path_below_root(match["path"])
    safe: dict[str, Any] = safe_json(shape)
    return safe


def _explanation_text(why: Why, match: dict[str, Any]) -> str:
    """Return the explanation as text; ``match`` is its match as JSON."""
    would = "would" if why.chosen else "would not"
    lines = [*why.sentences, f"A selection {would} take {why.match.skill.name}."]
    lines += [f"- {label}: {value:.4g}" for label, value in match["signals"].items()]
    if why.ahead:
        lines.append("Before it:")
    for ahead in why.ahead:
        by = ", ".join(f"{signal.label} {signal.lead:+.4g}" for signal in ahead.signals[:3])
        because = ahead.because or by
        lines.append(f"{ahead.rank}. {ahead.match.skill.name} ({ahead.match.score:.4g}): {because}")
    lines += [f"Hint: {hint}" for hint in why.advice]
    if why.note:
        lines.append(why.note)
    return safe_text("\n".join(lines))
