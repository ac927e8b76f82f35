"""The selection tools: ``select_skill``, ``skill_evaluate`` and ``why_skill``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes.encoder import encode
from skillyard.base.shapes.recommendations import Evaluated
from skillyard.base.text import shorten
from skillyard.engine.catalog import Catalog
from skillyard.engine.operations.skill_explanation import Why
from skillyard.engine.operations.skill_explanation import why_skill as explain
from skillyard.engine.ranking.registry import default_scorer
from skillyard.hosts.operations.recommendations import evaluate_skills
from skillyard.hosts.operations.skill_feedback import judge_for_client
from skillyard.hosts.operations.skill_selection import Selected, select_skills
from skillyard.serve.mcp.call import Answer, Call, plain_scorer
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


def select_skill(call: Call, view: View) -> Answer:
    """Select skills for a request and return the instructions of the best one, or abstain."""
    asked, context = call.request, call.shared.context
    if not asked.query.strip() and not asked.files:
        raise InvalidInput("select_skill needs query or files: give at least one of them")

    def choose(ranking: Ranking) -> Selected:
        selected = select_skills(
            ranking.catalog,
            context.with_feedback(asked.as_query()),
            asked.as_policy(),
            scorer=ranking.scorer,
            caller=context.options.caller,
        )
        return selected._replace(note=ranking.note)

    selected = view.ranked.answer(plain_scorer(asked.scorer), choose)
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
    text = safe_text("\n".join(_choice_lines(selected)))
    return Answer(
        text if block is None else f"{text}\n\n{block}",
        {**safe_json(shape), "block": block},
        [match.skill for match in chosen],
    )


def _choice_lines(selected: Selected) -> list[str]:
    """Return a selection as text: the skills with their scores, or the runners-up."""
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
    if not lines and selection.maybe:
        near = ", ".join(
            f"{match.skill.name} ({match.score:.2f}): {shorten(match.skill.description, 200)}"
            for match in selection.maybe[:MAX_RUNNERS_UP]
        )
        lines = [f"No skill surely fits. Perhaps: {near}", PERHAPS]
    lines = lines or ["No skill of this library fits; go on without one."]
    return [*lines, *filter(None, (selected.question, selected.note))]


def skill_feedback(call: Call, view: View) -> Answer:
    """Store a judgement about a skill of the library."""
    asked = call.request
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
    return Answer(safe_text(text), encode(receipt))


def skill_evaluate(call: Call, view: View) -> Answer:
    """Return the documented skill_evaluate answer."""
    asked, snapshot = call.request, view.ranked
    if asked.text is None and asked.files is None and not asked.recent_activity:
        raise InvalidInput("skill_evaluate needs files or text: give at least one of them")

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
    names = {result.skillName for result in evaluated.results}
    results = [replace(each, reason=safe_text(each.reason)) for each in evaluated.results]
    message = safe_text(evaluated.message)
    skills = [skill for skill in view.catalog if skill.name in names]
    return Answer(message, {"results": encode(results), "message": message}, skills)


def why_skill(call: Call, view: View) -> Answer:
    """Explain one skill's score and place for a request."""
    asked = call.request

    def reasons(ranking: Ranking) -> tuple[Catalog, Why]:
        judged = call.shared.context.with_feedback(asked.as_query())
        why = explain(ranking.catalog, asked.name, judged, scorer=ranking.scorer, limit=asked.limit)
        return ranking.catalog, why._replace(note=ranking.note)

    why = _below_roots(view, *view.ranked.answer(plain_scorer(asked.scorer), reasons))
    shape = encode(why.document())
    for match in (shape["match"], *(ahead["match"] for ahead in shape["ahead"])):
        match["path"] = view.path_below_root(match["path"])
    text = _explanation_text(why, shape["match"]["signals"])
    return Answer(text, safe_json(shape), [why.match.skill])


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


def _explanation_text(why: Why, signals: Mapping[str, float]) -> str:
    would = "would" if why.chosen else "would not"
    lines = [*why.sentences, f"A selection {would} take {why.match.skill.name}."]
    lines += [f"- {label}: {value:.4g}" for label, value in signals.items()]
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
