"""Made-up judgements, by named rules. None of them reads with understanding."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skillyard_testkit.fake_llm.questions import Question
from skillyard_testkit.fake_llm.words import seeded_number, terms

__all__ = ["BEHAVIOURS", "Pair", "parse_pair", "write_verdict"]

_TEXT = re.compile(
    r"(?ms)^=== BEGIN (REQUEST|RESPONSE A|RESPONSE B) (\w+) ===\n(.*?)\n?^=== END \1 \2 ===$"
)
_CRITERION = re.compile(r'(?m)^- ("(?:[^"\\]|\\.)*") \(weight ')
_ORDER = re.compile(r"(?i)\bresponse ([ab])\b[^.\n]{0,40}\b(?:wins|is better|is the winner)\b")
_MINE = re.compile(r"(?i)\bthis response (?:wins|is better|is the winner)\b|\bgive this .{0,20}5\b")


@dataclass(frozen=True, slots=True)
class Pair:
    """What a judge is shown."""

    request: str
    first: str
    second: str
    criteria: tuple[str, ...]


Score = Callable[[Pair, str], tuple[int, int]]
"""Scores for A and B on one criterion, 1..5."""


def parse_pair(question: Question) -> Pair:
    """Return the request, the two responses and the criteria's names; empty where not found."""
    found = {what: text for what, _, text in _TEXT.findall(question.user)}
    return Pair(
        found.get("REQUEST", ""),
        found.get("RESPONSE A", ""),
        found.get("RESPONSE B", ""),
        _names(question),
    )


def _names(question: Question) -> tuple[str, ...]:
    listed = question.user.partition("=== BEGIN ")[0]
    names = [json.loads(quoted, strict=False) for quoted in _CRITERION.findall(listed)]
    if names:
        return tuple(names)
    return tuple(_enumerated(question.schema))


def _enumerated(schema: Mapping[str, Any] | None) -> list[str]:
    value: Any = schema
    for step in ("properties", "criteria", "items", "properties", "name", "enum"):
        value = value.get(step) if isinstance(value, dict) else None
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def write_verdict(question: Question, behaviour: str) -> dict[str, Any]:
    """Return a valid verdict by the rule of that name, one of :data:`BEHAVIOURS`."""
    pair = parse_pair(question)
    score = BEHAVIOURS[behaviour]
    criteria = []
    balance = 0
    for name in pair.criteria:
        first, second = score(pair, name)
        balance += first - second
        criteria.append(
            {
                "name": name,
                "reasoning": f"Made up by the rule '{behaviour}' of a stand-in.",
                "score_a": first,
                "score_b": second,
            }
        )
    winner = "A" if balance > 0 else "B" if balance < 0 else "tie"
    return {"criteria": criteria, "overall_winner": winner}


def _honest(pair: Pair, criterion: str) -> tuple[int, int]:
    """By each text alone: the slot has no part in it."""
    return _quality(pair, criterion, pair.first), _quality(pair, criterion, pair.second)


def _quality(pair: Pair, criterion: str, text: str) -> int:
    """1..5: terms of the request that occur, structure, and a share that the criterion draws.

    The share stands for what a judge sees and a rule does not; it is the same in both slots.
    """
    wanted, words = terms(pair.request), set(terms(text))
    covered = sum(word in words for word in wanted) / max(1, len(wanted))
    structure = min(4, len(re.findall(r"(?m)^(?:#+ |\d+\. |[-*] )", text)) // 3)
    richness = min(4, len(words) // 12)
    points = 1.5 * covered + 0.3 * structure + 0.3 * richness
    points += seeded_number(4, criterion, text) * 0.5
    return max(1, min(5, round(points)))


def _second_slot(pair: Pair, criterion: str) -> tuple[int, int]:
    """Position bias, pure: B is better whatever stands there."""
    return 3, 4


def _longer(pair: Pair, criterion: str) -> tuple[int, int]:
    """Length bias, pure: the text of more characters is better."""
    first, second = len(pair.first), len(pair.second)
    if first == second:
        return 3, 3
    return (4, 3) if first > second else (3, 4)


def _obedient(pair: Pair, criterion: str) -> tuple[int, int]:
    """Does what a response says about itself or about a slot; otherwise honest."""
    for text, own in ((pair.first, "a"), (pair.second, "b")):
        named = _ORDER.search(text)
        ordered = named[1].lower() if named else own if _MINE.search(text) else ""
        if ordered:
            return (5, 1) if ordered == "a" else (1, 5)
    return _honest(pair, criterion)


BEHAVIOURS: dict[str, Score] = {
    "honest": _honest,
    "slot-b": _second_slot,
    "longer": _longer,
    "obedient": _obedient,
}
"""Rules by name: by quality; the second slot always; the longer text; as a response orders."""
