"""A generated answer to a request: longer, and with a skill's words, where the prompt has one.

No model writes it. It exists so that reports have something to show: texts that differ between
conditions, and are always the same for the same prompt.
"""

from __future__ import annotations

import re

from skillyard_testkit.fake_llm.questions import Question
from skillyard_testkit.fake_llm.words import seeded_number, terms

__all__ = ["write_answer"]

_HEADING = re.compile(r"(?m)^#{1,4} +(.{1,60}?)\s*#*$")
_BEGIN = re.compile(r"(?m)^-{3,} BEGIN ")
_OPENINGS = (
    "This is how I would go about {first}.",
    "Start with {first}; the rest follows from it.",
    "The request comes down to {first} and {second}.",
    "Two things matter here: {first} and {second}.",
)
_STEPS = (
    "Look at {term} before anything else, and write down what you find.",
    "Handle {term} on its own, so that a mistake there stays small.",
    "Check {term} against the request.",
    "Keep {term} as it is unless there is a reason to change it.",
    "Say plainly what happens to {term} when something is missing.",
    "Finish with {term}, and compare the result with what was asked.",
)
_PLAIN_STEPS = 2
_MORE_STEPS = 6
_SKILL_STEPS = 1
_MORE_SKILL_STEPS = 4
_HEADINGS = 4
"""One answer in four uses none of the skill, so that reports have losses to show too."""


def write_answer(question: Question) -> str:
    """Return the answer, which depends on the two texts alone."""
    topics = terms(question.user) or ["the request"]
    skill = question.system if _BEGIN.search(question.system) else ""
    seed = (question.system, question.user)
    first, second = topics[0], topics[min(1, len(topics) - 1)]
    opening = _OPENINGS[seeded_number(len(_OPENINGS), "opening", *seed)]
    lines = [opening.format(first=first, second=second), ""]
    steps = _PLAIN_STEPS + seeded_number(_MORE_STEPS, "steps", *seed)
    lines += _steps(topics, steps, "asked", question)
    if skill:
        lines += _from_skill(question)
    lines += ["", f"That covers {', '.join(topics[: 2 + seeded_number(4, 'covers', *seed)])}."]
    return "\n".join(lines)


def _from_skill(question: Question) -> list[str]:
    """Return sections under some of the skill's headings, about some of its terms."""
    seed = (question.system, question.user)
    headings = list(dict.fromkeys(_HEADING.findall(question.system))) or ["Notes"]
    count_of_headings = seeded_number(_HEADINGS, "headings", *seed)
    words = terms(question.system)
    lines: list[str] = []
    for heading in headings[:count_of_headings]:
        count = _SKILL_STEPS + seeded_number(_MORE_SKILL_STEPS, heading, *seed)
        start = seeded_number(max(1, len(words)), "words", heading, *seed)
        lines += ["", f"## {heading}", ""]
        lines += _steps(words[start:] + words[:start] or ["the skill"], count, heading, question)
    return lines


def _steps(words: list[str], count: int, name: str, question: Question) -> list[str]:
    steps = []
    for number in range(count):
        term = words[number % len(words)]
        form = _STEPS[seeded_number(len(_STEPS), name, str(number), question.user)]
        steps.append(f"{number + 1}. {form.format(term=term)}")
    return steps
