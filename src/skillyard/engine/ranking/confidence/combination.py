"""Combines the pattern score and the keyword score into one confidence.

Source: "Skill Evaluation System", "Scoring Algorithm", "Single-Signal Adjustment", "Activity
Boost":

    both signals:  P · pattern weight + K · keyword weight + 0.1 · min(P, K), at most 1
    one signal:    0.9 · that signal, whatever the weights
    then, where recent activity matches:  · boost, at most 1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import NamedTuple

from skillyard.base.text import clean_line
from skillyard.engine.ranking.confidence.keywords import KeywordHit, by_source, keyword_score, total
from skillyard.engine.ranking.confidence.patterns import AVERAGE_SHARE, FileMatches
from skillyard.engine.ranking.confidence.records import KeywordMatch, PatternMatch
from skillyard.engine.ranking.scorer import Explanation

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
    alone = Signals(pattern * SINGLE_SIGNAL, 0.0, 0.0)
    if keyword > pattern:
        alone = Signals(0.0, keyword * SINGLE_SIGNAL, 0.0)
    if not (pattern > 0.0 and keyword > 0.0):
        return alone
    both = Signals(
        pattern * weights.pattern_weight,
        keyword * weights.keyword_weight,
        AGREEMENT * min(pattern, keyword),
    )
    return alone if weights.monotone_guard and alone.raw > both.raw else both


def boost(raw: float, active: bool, weights: Weights) -> float:
    """Return the confidence for a raw sum: clamped, boosted where activity matches, clamped."""
    confidence = min(1.0, raw)
    return min(1.0, confidence * weights.activity_boost) if active else confidence


# The document's own example prints up to this many of each.
PATTERNS_NAMED = 3
KEYWORDS_NAMED = 5


def explanation(
    files: FileMatches,
    number: int,
    hits: Sequence[KeywordHit],
    weights: Weights,
    activity: str | None,
) -> Explanation:
    """Return the tree of one skill; its value is the score to the last bit.

    ``activity`` is the entry of recent activity that matches the skill, None when none does.
    """
    pattern = files.scores.get(number, 0.0)
    keyword = keyword_score(total(hits))
    signals = combine_signals(pattern, keyword, weights)
    alone = not signals.agreement
    parts = []
    if signals.pattern:
        factor = SINGLE_SIGNAL if alone else weights.pattern_weight
        parts.append(_product_node(signals.pattern, _pattern_node(files, number), factor, alone))
    if signals.keyword:
        factor = SINGLE_SIGNAL if alone else weights.keyword_weight
        parts.append(_product_node(signals.keyword, _keyword_node(hits, keyword), factor, alone))
    if signals.agreement:
        parts.append(Explanation("Agreement", signals.agreement, (), "leaf", "0.1 × the weaker"))
    raw = Explanation("confidence", signals.raw, tuple(parts), "sum")
    return _confidence_node(raw, activity if parts else None, weights)


def _confidence_node(raw: Explanation, activity: str | None, weights: Weights) -> Explanation:
    value = boost(raw.value, activity is not None, weights)
    notes = [f"× {weights.activity_boost:g} for recent activity: {activity}"] if activity else []
    if value == 1.0 != raw.value:
        notes.append("at most 1")
    if activity is None and value == raw.value:
        return raw
    return Explanation("confidence", value, (raw,), "calibration", ", ".join(notes))


def _product_node(value: float, score: Explanation, factor: float, alone: bool) -> Explanation:
    by = Explanation("only signal" if alone else "weight", factor, (), "leaf")
    return Explanation(score.label, value, (score, by), "product", score.note)


def _pattern_node(files: FileMatches, number: int) -> Explanation:
    matched = files.matches_of(number)
    score = files.scores[number]
    mean = fsum(entry.weight for entry in matched) / len(matched)
    leaves = tuple(
        Explanation(entry.pattern, entry.weight / len(matched), (), "leaf", entry.matched_file)
        for entry in matched
    )
    average = Explanation(
        "average",
        AVERAGE_SHARE * mean,
        (
            Explanation("mean weight", mean, leaves, "sum"),
            Explanation("share", AVERAGE_SHARE, (), "leaf"),
        ),
        "product",
    )
    note = f"{len(matched)} of {len(files.files)} files match"
    coverage = Explanation("coverage", score - AVERAGE_SHARE * mean, (), "leaf", note)
    patterns = ", ".join(_distinct(entry.pattern for entry in matched))
    return Explanation("File patterns", score, (average, coverage), "sum", patterns)


def _keyword_node(hits: Sequence[KeywordHit], score: float) -> Explanation:
    evidence = total(hits)
    leaves = tuple(Explanation(hit.term.surface, hit.added, (), "leaf", _note(hit)) for hit in hits)
    parts = (
        Explanation("evidence", evidence, leaves, "sum"),
        Explanation("saturation", score / evidence, (), "leaf", f"1 / ({evidence:.3f} + 0.4)"),
    )
    words = ", ".join(hit.term.surface for hit in by_source(hits))
    return Explanation("Keywords", score, parts, "product", words)


def _note(hit: KeywordHit) -> str:
    note = f"{hit.source} {hit.source_weight:g} × rarity {hit.rarity:.3f}²"
    return f"{note}, {hit.term.times} times in the text" if hit.term.times > 1 else note


def reason_of(patterns: PatternMatch | None, keywords: KeywordMatch | None) -> str:
    """Return ``File patterns: p1, p2 | Keywords: k1, k2``, on one line, hidden characters shown."""
    grounds = []
    if patterns is not None:
        globs = _distinct(entry.pattern for entry in patterns.matched_patterns)
        grounds.append("File patterns: " + ", ".join(globs[:PATTERNS_NAMED]))
    if keywords is not None:
        words = [entry.keyword for entry in keywords.matched_keywords]
        grounds.append("Keywords: " + ", ".join(words[:KEYWORDS_NAMED]))
    return clean_line(" | ".join(grounds))


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
