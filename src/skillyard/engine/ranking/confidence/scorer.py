"""The ``confidence`` scorer: file patterns and keywords, combined into 0..1.

Source: "Skill Evaluation System", "Scoring Algorithm", "Single-Signal Adjustment", "Activity
Boost". With the pattern score P of :mod:`.patterns` and the keyword score K of :mod:`.keywords`:

    both signals:  P · pattern weight + K · keyword weight + 0.1 · min(P, K), at most 1
    one signal:    0.9 · that signal, whatever the weights
    then, where recent activity matches:  · boost, at most 1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, isfinite
from typing import NamedTuple

from skillyard.base.arguments import check_arguments, text_items
from skillyard.base.errors import InvalidInput
from skillyard.base.text import clean_line
from skillyard.engine.ranking.confidence.keywords import (
    KeywordHit,
    KeywordIndex,
    by_source,
    keyword_match,
    keyword_score,
    read_prompt,
    terms,
    total,
)
from skillyard.engine.ranking.confidence.patterns import (
    AVERAGE_SHARE,
    FileMatches,
    PatternIndex,
    declared_by,
)
from skillyard.engine.ranking.confidence.records import KeywordMatch, PatternMatch
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import DefaultPolicy, Explanation, Level, Scored
from skillyard.engine.skill import Skill

AGREEMENT = 0.1
SINGLE_SIGNAL = 0.9


@dataclass(frozen=True, slots=True)
class Confidence:
    """Pattern and keyword confidence, 0..1. Raises InvalidInput for a setting out of range."""

    pattern_weight: float = 0.5
    keyword_weight: float = 0.5
    activity_boost: float = 1.2
    monotone_guard: bool = False
    """Not in the document; off by default. The documented sum is below the single-signal score of
    the stronger signal when the weaker signal is less than two thirds of it. With the guard, the
    greater of the two counts."""
    case_sensitive: bool = False
    """Compare file patterns case-sensitively."""
    short_terms: frozenset[str] = frozenset()
    """Words of fewer than three characters that count nevertheless: ``ui``, ``go``."""

    name = "confidence"
    scale = "0..1"
    # The document's tables "Confidence Levels" and "Parameters".
    levels = (Level(0.7, "high"), Level(0.4, "medium"), Level(0.0, "low"))
    default_policy = DefaultPolicy(0.3, 10, 0.05, "name")

    def __post_init__(self) -> None:
        for field in ("pattern_weight", "keyword_weight", "activity_boost"):
            check_number(field, getattr(self, field))
        short = text_items("short_terms", self.short_terms)
        object.__setattr__(self, "short_terms", frozenset(term.lower() for term in short))

    @check_arguments
    def bind(self, skills: Iterable[Skill]) -> BoundConfidence:
        """Index the skills' patterns and words."""
        return BoundConfidence(
            self, SkillSignals(tuple(skills), self.case_sensitive, self.short_terms)
        )


def check_number(field: str, value: object) -> float:
    """Return ``value`` when it is a finite number of at least 0, else raise InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{field} must be a number, not {type(value).__name__}")
    if not isfinite(value) or value < 0:
        raise InvalidInput(f"{field} must be a number from 0 upwards, not {value}")
    return float(value)


class Signals(NamedTuple):
    """The contribution of each signal to the raw confidence, which is their sum."""

    pattern: float
    keyword: float
    agreement: float

    @property
    def raw(self) -> float:
        """The sum, added in a fixed order."""
        return self.pattern + self.keyword + self.agreement


def combine_signals(pattern: float, keyword: float, settings: Confidence) -> Signals:
    """Return the contributions for a pattern score P and a keyword score K, both 0..1."""
    alone = Signals(pattern * SINGLE_SIGNAL, 0.0, 0.0)
    if keyword > pattern:
        alone = Signals(0.0, keyword * SINGLE_SIGNAL, 0.0)
    if not (pattern > 0.0 and keyword > 0.0):
        return alone
    both = Signals(
        pattern * settings.pattern_weight,
        keyword * settings.keyword_weight,
        AGREEMENT * min(pattern, keyword),
    )
    return alone if settings.monotone_guard and alone.raw > both.raw else both


def boost(raw: float, active: bool, settings: Confidence) -> float:
    """Return the confidence for a raw sum: clamped, boosted where activity matches, clamped."""
    confidence = min(1.0, raw)
    return min(1.0, confidence * settings.activity_boost) if active else confidence


# The document's own example prints up to this many of each.
PATTERNS_NAMED = 3
KEYWORDS_NAMED = 5


def explanation(
    files: FileMatches,
    number: int,
    hits: Sequence[KeywordHit],
    settings: Confidence,
    activity: str | None,
) -> Explanation:
    """Return the tree of one skill; its value is the score to the last bit.

    ``activity`` is the entry of recent activity that matches the skill, None when none does.
    """
    pattern = files.scores.get(number, 0.0)
    keyword = keyword_score(total(hits))
    signals = combine_signals(pattern, keyword, settings)
    alone = not signals.agreement
    parts = []
    if signals.pattern:
        factor = SINGLE_SIGNAL if alone else settings.pattern_weight
        parts.append(_product_node(signals.pattern, _pattern_node(files, number), factor, alone))
    if signals.keyword:
        factor = SINGLE_SIGNAL if alone else settings.keyword_weight
        parts.append(_product_node(signals.keyword, _keyword_node(hits, keyword), factor, alone))
    if signals.agreement:
        parts.append(Explanation("Agreement", signals.agreement, (), "leaf", "0.1 × the weaker"))
    raw = Explanation("confidence", signals.raw, tuple(parts), "sum")
    return _confidence_node(raw, activity if parts else None, settings)


def _confidence_node(raw: Explanation, activity: str | None, settings: Confidence) -> Explanation:
    value = boost(raw.value, activity is not None, settings)
    notes = [f"× {settings.activity_boost:g} for recent activity: {activity}"] if activity else []
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


class SkillSignals:
    """The data that depends on the skills alone: their indexes and positions."""

    def __init__(
        self, skills: tuple[Skill, ...], case_sensitive: bool, short_terms: frozenset[str]
    ) -> None:
        self.skills = skills
        self.patterns = PatternIndex(declared_by(skills), case_sensitive)
        self.keywords = KeywordIndex(skills, short_terms)
        self.position = {skill: number for number, skill in enumerate(skills)}
        self.named: dict[str, list[int]] = {}
        for number, skill in enumerate(skills):
            self.named.setdefault(skill.name.casefold(), []).append(number)


class BoundConfidence:
    """The scorer bound to one snapshot."""

    def __init__(self, scorer: Confidence, snapshot: SkillSignals) -> None:
        self.scorer = scorer
        self.snapshot = snapshot
        self.skills: Sequence[Skill] = snapshot.skills

    def using(self, scorer: Confidence) -> BoundConfidence:
        """Return the same snapshot with other settings. Indexes are rebuilt only when necessary."""
        old = self.scorer
        asks = scorer.case_sensitive != old.case_sensitive or scorer.short_terms != old.short_terms
        return scorer.bind(self.skills) if asks else BoundConfidence(scorer, self.snapshot)

    def prepare(self, query: Query) -> ScoredConfidence:
        """Match the files and parse the text of the query. ``scores()`` computes the rest."""
        return ScoredConfidence(self, query)

    def active(self, recent_activity: Iterable[str]) -> dict[int, str]:
        """Return the skills that recent activity matches, with the first matching entry of each.

        An entry matches a skill by its name (case ignored), or when all words of the entry are
        among the words of the skill's name, keywords and tags. Words may be split at inner capitals
        or not.
        """
        entries: dict[int, str] = {}
        for entry in recent_activity:
            matching = set(self.snapshot.named.get(entry.strip().casefold(), ()))
            matching |= self._holding_all(entry) | self._holding_all(entry.lower())
            for number in matching:
                entries.setdefault(number, entry)
        return entries

    def _holding_all(self, entry: str) -> set[int]:
        split = terms(entry, self.scorer.short_terms)
        stems = {term.stem for term in split if not term.whole}
        holders = [self.snapshot.keywords.holders(stem) for stem in stems]
        return set.intersection(*holders) if holders else set()


class ScoredConfidence(Scored):
    """The confidence of every skill for one query."""

    def __init__(self, bound: BoundConfidence, query: Query) -> None:
        self._snapshot = bound.snapshot
        self._settings = bound.scorer
        self._prompt = read_prompt(query.text, bound.scorer.short_terms)
        self._files = bound.snapshot.patterns.match(query.files)
        self._active = bound.active(query.recent_activity)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The skills with file patterns that exceeded the work limit for these files."""
        return self._files.left_out

    def scores(self) -> list[tuple[Skill, float]]:
        """Return the skills with a matching file or word. Activity alone does not add a skill."""
        skills, pattern = self._snapshot.skills, self._files.scores
        pairs = []
        for number, evidence in enumerate(self._snapshot.keywords.evidence(self._prompt)):
            if evidence or number in pattern:
                raw = combine_signals(
                    pattern.get(number, 0.0), keyword_score(evidence), self._settings
                ).raw
                confidence = boost(raw, number in self._active, self._settings)
                if confidence:
                    pairs.append((skills[number], confidence))
        return pairs

    def explain(self, skill: Skill) -> Explanation:
        """Return the tree: calibration (boost, clamp) over the sum of the two signals."""
        number = self._snapshot.position[skill]
        return explanation(
            self._files, number, self._hits(number), self._settings, self._active.get(number)
        )

    def _hits(self, number: int) -> list[KeywordHit]:
        return self._snapshot.keywords.hits(number, self._prompt)

    def reason(self, skill: Skill) -> str:
        """Return the documented line: ``File patterns: … | Keywords: …``."""
        return reason_of(self.pattern_match(skill), self.keyword_match(skill))

    def pattern_match(self, skill: Skill) -> PatternMatch | None:
        """Return the skill's matched files; None without any."""
        number = self._snapshot.position[skill]
        score = self._files.scores.get(number)
        if score is None:
            return None
        return PatternMatch(skill.name, score, self._files.matches_of(number))

    def keyword_match(self, skill: Skill) -> KeywordMatch | None:
        """Return the skill's matched words; None without any."""
        return keyword_match(skill, self._hits(self._snapshot.position[skill]))


CONFIDENCE = Confidence()
