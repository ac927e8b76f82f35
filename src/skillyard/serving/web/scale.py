"""What a full bar stands for: one scale for each scorer, the same for every request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from skillyard.errors import UnknownName
from skillyard.ranking.registry import resolve

__all__ = ["Scale", "scale_of"]

_MOST: Mapping[str, float] = {"relevance": 108.0}
"""The most that a score in points can be, where the scorer's document says so."""


class Scale(NamedTuple):
    """How the scores of a scorer are drawn."""

    full: float
    """What a full bar stands for; 0 where the scorer has no measure of its own, and no bars."""
    words: str
    """The same in a sentence."""

    def share(self, value: float) -> float:
        """Return how much of a bar a value fills, 0..1."""
        if self.full <= 0 or not math.isfinite(value):
            return 0.0
        return min(1.0, max(0.0, value / self.full))


def scale_of(scorer: str) -> Scale:
    """Return the scale of a scorer by its name.

    A bar is never stretched to the best of an answer: a weak answer is to look weak. A ranker of
    somebody else's that goes by no registered name has numbers and no bars.
    """
    try:
        scorer_object = resolve(scorer)
    except UnknownName:
        return Scale(0.0, f"Scores are those of {scorer}, and not drawn as bars.")
    if scorer_object.scale == "0..1":
        return Scale(1.0, "Scores go from 0 to 1, and a full bar is 1, whatever was asked.")
    if scorer in _MOST:
        most = _MOST[scorer]
        words = f"Scores go from 0 to {most:g}, which is a full bar, whatever was asked."
        return Scale(most, words)
    name, open_ended = scorer_object.name, "have no upper end"
    if scorer_object.levels:
        best = max(scorer_object.levels, key=lambda level: level.floor)
        words = f"a full bar is {best.floor:.3g}, from which it says “{best.name}”"
        return Scale(best.floor, f"Scores of {name} {open_ended}: {words}, whatever was asked.")
    floor = scorer_object.default_policy.min_score
    if floor > 0:
        words = f"a full bar is {floor:.3g}, which is what a choice takes"
        return Scale(floor, f"Scores of {name} {open_ended}: {words}, whatever was asked.")
    return Scale(0.0, f"Scores of {name} {open_ended}, so they are not drawn as bars.")
