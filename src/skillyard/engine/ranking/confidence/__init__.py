"""The ``confidence`` scorer: file patterns and keywords of the "Skill Evaluation System"."""

from skillyard.engine.ranking.confidence.keywords import KeywordDetector
from skillyard.engine.ranking.confidence.patterns import PatternMatcher
from skillyard.engine.ranking.confidence.records import (
    Evaluation,
    KeywordMatch,
    MatchedKeyword,
    MatchedPattern,
    PatternMatch,
)
from skillyard.engine.ranking.confidence.scorer import CONFIDENCE, Confidence
from skillyard.engine.ranking.confidence.tool import ConfidenceScorer, evaluate

__all__ = [
    "CONFIDENCE",
    "Confidence",
    "ConfidenceScorer",
    "Evaluation",
    "KeywordDetector",
    "KeywordMatch",
    "MatchedKeyword",
    "MatchedPattern",
    "PatternMatch",
    "PatternMatcher",
    "evaluate",
]
