"""The page for trying out a request with files: confidences beside a selection."""

from __future__ import annotations

from typing import NamedTuple

from skillyard.ranking.match import Match
from skillyard.serving.web.addresses import EVALUATE, local_address
from skillyard.serving.web.layout import document
from skillyard.serving.web.markup import Markup, concat, tag
from skillyard.serving.web.parts import lead, note, text_of
from skillyard.serving.web.signals import bar, score_badge
from skillyard.serving.web.verdict import verdict_of
from skillyard.serving.web.words import percent
from skillyard.shapes.recommendations import Evaluated, Recommendation
from skillyard.usecases.skill_selection import Selected

__all__ = ["ANSWERS", "TEXT", "Trial", "evaluate_page"]

TEXT = 20_000
"""Maximum characters of each field."""
ANSWERS = "verdict"
"""The id of the heading of the result, which the form's address targets."""


class Trial(NamedTuple):
    """A request with its result."""

    text: str = ""
    files: str = ""
    """Paths as typed, one per line."""
    evaluated: Evaluated | None = None
    """None before anything was submitted."""
    selected: Selected | None = None


def evaluate_page(trial: Trial) -> bytes:
    """Return the page."""
    return document(
        "Evaluate",
        tag("h1", "Evaluate a request"),
        lead("Which skills of this catalog would fire for a request and the files in play?"),
        _form(trial),
        _answers(trial),
        here=EVALUATE,
    )


def _form(trial: Trial) -> Markup:
    return tag(
        "form",
        tag("label", "Request", for_="text"),
        tag("textarea", trial.text, id="text", name="text", rows=3, maxlength=TEXT, dir="auto",
            placeholder="For example: the unit tests of the parser fail"),
        tag("label", "Files, one path a line", for_="files"),
        tag("textarea", trial.files, id="files", name="files", rows=3, maxlength=TEXT,
            spellcheck="false", aria_describedby="files-hint",
            placeholder="tests/test_parser.py"),
        tag("p", "Paths are compared with the file patterns of skills, and never opened.",
            id="files-hint", class_="aside"),
        tag("button", "Evaluate", type="submit"),
        action=f"{EVALUATE}#{ANSWERS}",
        method="post",
        class_="stacked",
    )  # fmt: skip


def _answers(trial: Trial) -> Markup | None:
    if trial.evaluated is None or trial.selected is None:
        return None
    return tag(
        "div",
        tag(
            "section",
            verdict_of(trial.selected, trial.text).block(),
            lead(f"What a selection takes, ranked by {trial.selected.selection.scorer}."),
            _choice(trial.selected, trial.text),
            aria_labelledby=ANSWERS,
        ),
        tag(
            "section",
            tag("h2", "Confidence", id="confidence"),
            lead("How sure skill_evaluate is of each skill by itself."),
            _confidences(trial.evaluated),
            aria_labelledby="confidence",
        ),
        class_="columns",
    )


def _confidences(evaluated: Evaluated) -> Markup:
    if not evaluated.results:
        return note("No skill reaches the confidence that it takes.")
    return tag("ol", [_confidence(result) for result in evaluated.results], class_="answers")


def _confidence(result: Recommendation) -> Markup:
    name, level, confidence = result.skillName, result.level, result.confidence
    address = local_address(name)
    return tag(
        "li",
        tag(
            "div",
            tag("h3", _skill_link(name, address)),
            tag("p", tag("span", level, class_=f"level {level}"), " ",
                tag("strong", percent(confidence)), class_="score"),
            class_="head",
        ),
        bar(confidence),
        tag("p", text_of(result.reason, 400), class_="evidence", dir="auto"),
    )  # fmt: skip


def _choice(selected: Selected, query: str) -> Markup:
    chosen = selected.selection
    items = [_match(match, query) for match in chosen.selected if len(chosen.selected) > 1]
    left = [_match(match, query) for match in chosen.rejected[:5]]
    return concat(
        tag("ol", items, class_="answers") if items else None,
        tag("details", tag("summary", "Not chosen"), tag("ul", left, class_="answers"))
        if left
        else None,
    )


def _match(match: Match, query: str) -> Markup:
    skill = match.skill
    because = match.rejected_because or match.reason
    return tag(
        "li",
        tag(
            "div",
            tag("h3", _skill_link(skill.title or skill.name, local_address(skill.id, query))),
            score_badge(match.score, match.level),
            class_="head",
        ),
        tag("p", text_of(because, 400), class_="evidence", dir="auto") if because else None,
    )


def _skill_link(name: str, address: str | None) -> Markup:
    text = text_of(name)
    return tag("a", text, href=address, dir="auto") if address else tag("span", text, dir="auto")
