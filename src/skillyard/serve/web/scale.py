"""The scale of score bars: one for each scorer, the same for every request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from skillyard.base.errors import UnknownName
from skillyard.engine.ranking.registry import resolve

_MAX_POINTS: Mapping[str, float] = {"relevance": 108.0}
"""The maximum score in points, if the scorer's document defines one."""


class Scale(NamedTuple):
    """How the scores of a scorer are drawn."""

    full: float
    """The score of a full bar; 0 for a scorer without a scale, which has no bars."""
    words: str
    """The scale as a sentence."""

    def share(self, value: float) -> float:
        """Return the share of a bar that a value fills, 0..1."""
        if self.full <= 0 or not math.isfinite(value):
            return 0.0
        return min(1.0, max(0.0, value / self.full))


def scale_of(scorer: str) -> Scale:
    """Return the scale of a scorer by its name.

    A bar is never relative to the best of an answer, so that a weak answer looks weak. Custom
    rankers without a registered name have numbers and no bars.
    """
    try:
        scorer_object = resolve(scorer)
    except UnknownName:
        return Scale(0.0, f"Scores are those of {scorer}, and not drawn as bars.")
    if scorer_object.scale == "0..1":
        return Scale(1.0, "Scores go from 0 to 1, and a full bar is 1, whatever was asked.")
    if scorer in _MAX_POINTS:
        most = _MAX_POINTS[scorer]
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
