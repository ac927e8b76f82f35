"""The ``confidence`` scorer: file patterns and keywords of the "Skill Evaluation System"."""

from skillyard.ranking.confidence.keywords import KeywordDetector
from skillyard.ranking.confidence.patterns import PatternMatcher
from skillyard.ranking.confidence.records import (
    Evaluation,
    KeywordMatch,
    MatchedKeyword,
    MatchedPattern,
    PatternFault,
    PatternMatch,
)
from skillyard.ranking.confidence.scorer import CONFIDENCE, Confidence
from skillyard.ranking.confidence.tool import ConfidenceScorer, evaluate

__all__ = [
    "CONFIDENCE",
    "Confidence",
    "ConfidenceScorer",
    "Evaluation",
    "KeywordDetector",
    "KeywordMatch",
    "MatchedKeyword",
    "MatchedPattern",
    "PatternFault",
    "PatternMatch",
    "PatternMatcher",
    "evaluate",
]
