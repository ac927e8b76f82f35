"""The tools that choose: ``skill_evaluate`` and ``why_skill``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from skillyard.errors import InvalidInput
from skillyard.mcp.call import Answer, Call
from skillyard.mcp.failures import ToolFailed
from skillyard.mcp.library import View
from skillyard.mcp.wrapping import safe_json, safe_text
from skillyard.ranking.query import Query
from skillyard.ranking.registry import DEFAULT_SCORER
from skillyard.service import Why, evaluate_skills
from skillyard.service import why_skill as explain
from skillyard.skill import Skill

__all__ = ["skill_evaluate", "why_skill"]

CONFIDENCE = "confidence"
Worked = tuple[Answer, Iterable[Skill]]


async def skill_evaluate(call: Call) -> Answer:
    """Answer as the skill evaluation document says. Raises ToolFailed without text and files."""
    values = call.values
    if values["text"] is None and values["files"] is None and not values["recentActivity"]:
        raise ToolFailed(
            "invalid_argument", "skill_evaluate needs files or text: give at least one of them"
        )

    def work(view: View) -> Worked:
        catalog = view.snapshot.ranked_by(CONFIDENCE)
        found = evaluate_skills(
            catalog,
            values["text"] if values["text"] is not None else "",
            values["files"],
            values["recentActivity"],
            threshold=values["threshold"],
            limit=values["limit"],
            show_details=values["showDetails"],
        )
        named = view.remembered("by name", lambda: _by_name(view))
        shown = [skill for result in found.results for skill in named.get(result["skillName"], ())]
        results = [{**each, "reason": safe_text(each["reason"])} for each in found.results]
        message = safe_text(found.message)
        return Answer(message, {"results": results, "message": message}), shown

    return await call.shared.library.answer(work, ranking=_kind(CONFIDENCE, values["text"] or ""))


def _kind(scorer: str, text: str) -> str:
    """Return what tells how long a ranking takes: the scorer, and the text's length in octaves."""
    return f"{scorer} {len(text).bit_length()}"


def _by_name(view: View) -> dict[str, list[Skill]]:
    named: dict[str, list[Skill]] = {}
    for skill in view.catalog:
        named.setdefault(skill.name, []).append(skill)
    return named


async def why_skill(call: Call) -> Answer:
    """Explain one skill's score and place for a request."""
    values = call.values
    scorer = values["scorer"] or DEFAULT_SCORER
    if "+" in scorer:  # which embedder is asked, and paid for, is not for a client to say
        raise ToolFailed("invalid_argument", "scorer must be a plain name, without an embedder")
    query = Query(
        values["query"],
        files=tuple(values["files"] or ()),
        recent_activity=tuple(values["recent_activity"] or ()),
    )

    def work(view: View) -> Worked:
        catalog = view.snapshot.ranked_by(scorer)
        why = explain(catalog, values["name"], query, scorer=scorer, limit=values["limit"])
        found = why.to_dict()
        return Answer(_said(why, found["match"]), _shown(view, found)), [why.match.skill]

    try:
        return await call.shared.library.answer(
            work, ranking=_kind(f"why {scorer}", values["query"])
        )
    except InvalidInput as error:
        raise ToolFailed("invalid_argument", str(error)) from None


def _shown(view: View, found: dict[str, Any]) -> dict[str, Any]:
    """Return the explanation with safe texts; its paths are written over, below their root."""
    for match in (found["match"], *(ahead["match"] for ahead in found["ahead"])):
        match["path"] = view.shown_path(match["path"])
    shown: dict[str, Any] = safe_json(found)
    return shown


def _said(why: Why, match: dict[str, Any]) -> str:
    """Return the explanation in lines; ``match`` is its match as JSON, worked out once."""
    place = "has no score" if why.rank is None else f"ranks {why.rank} of {why.total}"
    would = "would" if why.chosen else "would not"
    scored = f"score {why.match.score:.4g}, scorer {why.scorer}"
    lines = [
        f"{why.match.skill.name} {place} for this request ({scored}); a selection {would} take it.",
        f"Grounds: {match['reason'] or 'none'}",
    ]
    lines += [f"- {label}: {value:.4g}" for label, value in match["signals"].items()]
    if why.ahead:
        lines.append("Before it:")
    for ahead in why.ahead:
        by = ", ".join(f"{signal.label} {signal.lead:+.4g}" for signal in ahead.signals[:3])
        because = ahead.because or by
        lines.append(f"{ahead.rank}. {ahead.match.skill.name} ({ahead.match.score:.4g}): {because}")
    lines += [f"Hint: {hint}" for hint in why.hints]
    return safe_text("\n".join(lines))
