"""The results of the pattern matcher, the keyword detector and the confidence scorer.

Source: "Skill Evaluation System", the API sections. Fields are in snake case; ``to_dict()`` gives
the documented camelCase.
"""

from __future__ import annotations

from typing import NamedTuple

from skillyard.base.shapes.encoder import encode, from_attributes
from skillyard.base.shapes.recommendations import Recommendation


class MatchedPattern(NamedTuple):
    """The heaviest pattern of a skill that matches one file."""

    pattern: str
    matched_file: str
    weight: float

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape."""
        return {"pattern": self.pattern, "matchedFile": self.matched_file, "weight": self.weight}


class PatternMatch(NamedTuple):
    """A skill whose file patterns match; ``confidence`` is the pattern score, 0..1."""

    skill_name: str
    confidence: float
    matched_patterns: tuple[MatchedPattern, ...]
    """One for each matched file, in the order of the files."""

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape."""
        return {
            "skillName": self.skill_name,
            "confidence": self.confidence,
            "matchedPatterns": [match.to_dict() for match in self.matched_patterns],
        }


class PatternFault(NamedTuple):
    """A pattern that can never match, and the reason."""

    skill_name: str
    pattern: str
    message: str


class MatchedKeyword(NamedTuple):
    """A word of the text that occurs in a skill's metadata."""

    keyword: str
    """The word as in the text, in lower case."""
    matched_from: str
    """The best source that contains it: ``name``, ``keywords``, ``tags`` or ``description``."""
    weight: float
    """The source's weight times the squared rarity of the word among the skills."""
    term_frequency: int
    """Number of occurrences in the text, all forms of the word together."""

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape."""
        return {
            "keyword": self.keyword,
            "matchedFrom": self.matched_from,
            "weight": self.weight,
            "termFrequency": self.term_frequency,
        }


class KeywordMatch(NamedTuple):
    """A skill that shares words with the text. ``confidence`` is the keyword score, 0..1."""

    skill_name: str
    confidence: float
    matched_keywords: tuple[MatchedKeyword, ...]
    """Best source first, then in the order of the text."""

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape."""
        return {
            "skillName": self.skill_name,
            "confidence": self.confidence,
            "matchedKeywords": [match.to_dict() for match in self.matched_keywords],
        }


class Evaluation(NamedTuple):
    """One recommended skill."""

    skill_name: str
    confidence: float
    """0..1, not rounded."""
    level: str
    """``high``, ``medium`` or ``low``, by the unrounded confidence."""
    reason: str
    pattern_match: PatternMatch | None = None
    keyword_match: KeywordMatch | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape. An absent signal has no key."""
        record: dict[str, object] = {**self.summary()}
        if self.pattern_match is not None:
            record["patternMatch"] = self.pattern_match.to_dict()
        if self.keyword_match is not None:
            record["keywordMatch"] = self.keyword_match.to_dict()
        return record

    def summary(self) -> dict[str, object]:
        """Return the four fields of the documented tool answer."""
        encoded: dict[str, object] = encode(self.document())
        return encoded

    def document(self) -> Recommendation:
        """Return the recommendation as a document shows it."""
        return from_attributes(Recommendation, self, skillName=self.skill_name)
