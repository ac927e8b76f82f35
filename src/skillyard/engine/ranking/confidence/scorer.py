"""The ``confidence`` scorer: file patterns and keywords, combined into 0..1.

Source: "Skill Evaluation System". This module implements the scorer protocol with :mod:`.patterns`,
:mod:`.keywords` and :mod:`.combination`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from skillyard.base.arguments import check_arguments, text_items
from skillyard.base.errors import InvalidInput
from skillyard.engine.ranking.confidence.combination import (
    Weights,
    boost,
    combine_signals,
    explanation,
    reason_of,
)
from skillyard.engine.ranking.confidence.keywords import (
    KeywordHit,
    KeywordIndex,
    keyword_match,
    keyword_score,
    read_prompt,
    terms,
)
from skillyard.engine.ranking.confidence.patterns import PatternIndex, declared_by
from skillyard.engine.ranking.confidence.records import KeywordMatch, PatternMatch
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.scorer import DefaultPolicy, Explanation, Level, Scored
from skillyard.engine.skill import Skill


@dataclass(frozen=True, slots=True)
class Confidence:
    """Pattern and keyword confidence, 0..1. Raises InvalidInput for a setting out of range."""

    pattern_weight: float = 0.5
    keyword_weight: float = 0.5
    activity_boost: float = 1.2
    monotone_guard: bool = False
    """At least 0.9 of the stronger signal; see :class:`.combination.Weights`."""
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

    @property
    def weights(self) -> Weights:
        """The settings of the combination."""
        return Weights(
            self.pattern_weight, self.keyword_weight, self.activity_boost, self.monotone_guard
        )

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
        self._weights = bound.scorer.weights
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
                    pattern.get(number, 0.0), keyword_score(evidence), self._weights
                ).raw
                confidence = boost(raw, number in self._active, self._weights)
                if confidence:
                    pairs.append((skills[number], confidence))
        return pairs

    def explain(self, skill: Skill) -> Explanation:
        """Return the tree: calibration (boost, clamp) over the sum of the two signals."""
        number = self._snapshot.position[skill]
        return explanation(
            self._files, number, self._hits(number), self._weights, self._active.get(number)
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
