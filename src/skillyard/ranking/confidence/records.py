"""What the pattern matcher, the keyword detector and the confidence scorer hand out.

Source: "Skill Evaluation System", the API sections. Fields are in snake case; ``to_dict()`` gives
the documented camelCase.
"""

from __future__ import annotations

from typing import NamedTuple

from skillyard.shapes.encoder import encode, from_attributes
from skillyard.shapes.recommendations import Recommendation

__all__ = [
    "Evaluation",
    "KeywordMatch",
    "MatchedKeyword",
    "MatchedPattern",
    "PatternFault",
    "PatternMatch",
]


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
    """A pattern that can never match, and why."""

    skill_name: str
    pattern: str
    message: str


class MatchedKeyword(NamedTuple):
    """A word of the text that a skill's metadata holds."""

    keyword: str
    """The word as the text has it, in small letters."""
    matched_from: str
    """``name``, ``keywords``, ``tags`` or ``description``: the best source that holds it."""
    weight: float
    """The source's weight times the squared rarity of the word among the skills."""
    term_frequency: int
    """How often the text has the word, all its forms together."""

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape."""
        return {
            "keyword": self.keyword,
            "matchedFrom": self.matched_from,
            "weight": self.weight,
            "termFrequency": self.term_frequency,
        }


class KeywordMatch(NamedTuple):
    """A skill that the text's words point to; ``confidence`` is the keyword score, 0..1."""

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
    """``high``, ``medium`` or ``low``, of the unrounded confidence."""
    reason: str
    pattern_match: PatternMatch | None = None
    keyword_match: KeywordMatch | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the documented JSON shape; a signal that is absent has no key."""
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
