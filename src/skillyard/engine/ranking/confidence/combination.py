"""Combines the pattern score and the keyword score into one confidence.

Source: "Skill Evaluation System", "Scoring Algorithm", "Single-Signal Adjustment", "Activity
Boost":

    both signals:  P · pattern weight + K · keyword weight + 0.1 · min(P, K), at most 1
    one signal:    0.9 · that signal, whatever the weights
    then, where recent activity matches:  · boost, at most 1
"""

from __future__ import annotations

from typing import NamedTuple

AGREEMENT = 0.1
SINGLE_SIGNAL = 0.9


class Weights(NamedTuple):
    """The settings of the combination; defaults are the document's."""

    pattern_weight: float = 0.5
    keyword_weight: float = 0.5
    activity_boost: float = 1.2
    monotone_guard: bool = False
    """Not in the document; off by default. The documented sum is below the single-signal score of
    the stronger signal when the weaker signal is less than two thirds of it. With the guard, the
    greater of the two counts."""


class Signals(NamedTuple):
    """The contribution of each signal to the raw confidence, which is their sum."""

    pattern: float
    keyword: float
    agreement: float

    @property
    def raw(self) -> float:
        """The sum, added in a fixed order."""
        return self.pattern + self.keyword + self.agreement


def combine_signals(pattern: float, keyword: float, weights: Weights) -> Signals:
    """Return the contributions for a pattern score P and a keyword score K, both 0..1."""
    if not (pattern > 0.0 and keyword > 0.0):
        return _single(pattern, keyword)
    both = Signals(
        pattern * weights.pattern_weight,
        keyword * weights.keyword_weight,
        AGREEMENT * min(pattern, keyword),
    )
    if weights.monotone_guard:
        return max(both, _single(pattern, keyword), key=lambda signals: signals.raw)
    return both


def _single(pattern: float, keyword: float) -> Signals:
    """Return the contributions when only the stronger signal counts."""
    if pattern >= keyword:
        return Signals(pattern * SINGLE_SIGNAL, 0.0, 0.0)
    return Signals(0.0, keyword * SINGLE_SIGNAL, 0.0)


def raw_confidence(pattern: float, keyword: float, weights: Weights) -> float:
    """Return ``combine_signals(…).raw``, for each skill, without building :class:`Signals`."""
    if not (pattern > 0.0 and keyword > 0.0):
        return max(pattern, keyword) * SINGLE_SIGNAL
    both = pattern * weights.pattern_weight + keyword * weights.keyword_weight
    both += AGREEMENT * min(pattern, keyword)
    return max(both, max(pattern, keyword) * SINGLE_SIGNAL) if weights.monotone_guard else both


def boost(raw: float, active: bool, weights: Weights) -> float:
    """Return the confidence for a raw sum: clamped, boosted where activity matches, clamped."""
    confidence = min(1.0, raw)
    return min(1.0, confidence * weights.activity_boost) if active else confidence
