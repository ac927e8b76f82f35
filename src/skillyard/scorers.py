"""What a scorer is made of, the scorers by name, and one as a ranker."""

from skillyard.base.arguments import check_module as _check_module
from skillyard.engine.ranking.confidence.scorer import Confidence as Confidence
from skillyard.engine.ranking.protocol import BoundScorer as BoundScorer
from skillyard.engine.ranking.protocol import Scorer as Scorer
from skillyard.engine.ranking.registry import scorer_names as scorer_names
from skillyard.engine.ranking.scorer import DefaultPolicy as DefaultPolicy
from skillyard.engine.ranking.scorer import Explanation as Explanation
from skillyard.engine.ranking.scorer import Level as Level
from skillyard.engine.ranking.scorer import Scored as Scored
from skillyard.engine.ranking.scorer_ranker import ScorerRanker as ScorerRanker

_check_module(globals())
