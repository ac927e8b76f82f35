"""The scorer ``name-words``: the share of a skill's name that the request mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import skillyard as sy
from skillyard.scorers import DefaultPolicy, Explanation, Level, Scored

__all__ = ["NAME_WORDS", "NameWords"]

_WORD = re.compile(r"[a-z0-9]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


@dataclass(frozen=True)
class NameWords:
    """Scores a skill by the words of its name. The constants are the policy below."""

    name = "name-words"
    scale = "0..1"
    levels = (Level(1.0, "whole"), Level(0.5, "half"), Level(0.0, "part"))
    default_policy = DefaultPolicy(min_score=0.5, top_k=1, menu_margin=0.0, tie_break="name, path")

    def bind(self, skills: Iterable[sy.Skill]) -> BoundNameWords:
        """Prepare what depends on the skills only."""
        return BoundNameWords(tuple(skills))


class BoundNameWords:
    """The scorer, bound to the skills of one catalog."""

    def __init__(self, skills: Sequence[sy.Skill]) -> None:
        self.skills = skills

    def prepare(self, query: sy.Query) -> ScoredNameWords:
        """Prepare what depends on the request."""
        return ScoredNameWords(self.skills, _words(query.text))


class ScoredNameWords(Scored):
    """The scores of one request."""

    def __init__(self, skills: Sequence[sy.Skill], words: frozenset[str]) -> None:
        self._skills = skills
        self._words = words

    def scores(self) -> list[tuple[sy.Skill, float]]:
        """Return the skills with a score above zero."""
        pairs = [(skill, self.explain(skill).value) for skill in self._skills]
        return [(skill, score) for skill, score in pairs if score > 0]

    def explain(self, skill: sy.Skill) -> Explanation:
        """Return how the score is computed. The score is the value of the root."""
        words = _words(skill.name)
        shared = sorted(words & self._words)
        parts = tuple(Explanation(word, 1 / len(words), (), "leaf") for word in shared)
        return Explanation("words of the name", len(shared) / max(1, len(words)), parts)


NAME_WORDS = NameWords()
