"""Choices of skills, by the words that a request shares with a line of the index."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from skillyard_testkit.fake_llm.questions import Question
from skillyard_testkit.fake_llm.words import terms

__all__ = ["pick_skills"]

_LINE = re.compile(r"(?m)^- ([^:\n]{1,200}): (.*)$")
_FEWEST = 1.0
_NEAR = 0.75
"""Share of the best weight from which another skill is picked too."""
_STEM = 5


def pick_skills(question: Question) -> dict[str, Any]:
    """Return the skills of the index whose lines share the most words with the request."""
    lines = _LINE.findall(question.system) or _LINE.findall(question.user)
    stems_of_request = _stems(question.user)
    index = {name.strip(): _stems(f"{name} {text}") for name, text in lines}
    lines_with_stem = Counter(stem for stems in index.values() for stem in stems)
    weights = {
        name: sum(1.0 / lines_with_stem[stem] for stem in stems & stems_of_request)
        for name, stems in index.items()
    }
    best = max(weights.values(), default=0.0)
    shared = {name: len(stems & stems_of_request) for name, stems in index.items()}
    order = sorted(weights, key=lambda name: (-weights[name], name))
    picked = [
        name
        for name in order
        if weights[name] >= _NEAR * best and (weights[name] >= _FEWEST or shared[name] > 1)
    ]
    reasoning = (
        f"They share {shared[picked[0]]} words with the request." if picked else "None fits."
    )
    return {"skills": picked[:2], "reasoning": reasoning}


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in terms(text)}
