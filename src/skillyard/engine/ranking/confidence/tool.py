"""The document's ``ConfidenceScorer`` class and its ``skill_evaluate`` tool.

Source: "Skill Evaluation System", "Confidence Scorer" and "skill_evaluate MCP Tool". A hidden skill
is left out unless the text calls it by ``@name`` or ``/name``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from skillyard.base.arguments import check_arguments
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.confidence.candidates import Candidates, as_skills
from skillyard.engine.ranking.confidence.combination import Weights, boost, combine_signals
from skillyard.engine.ranking.confidence.message import markdown
from skillyard.engine.ranking.confidence.options import (
    EvaluationOptions,
    read_context,
    read_options,
)
from skillyard.engine.ranking.confidence.records import Evaluation
from skillyard.engine.ranking.confidence.scorer import (
    CONFIDENCE,
    BoundConfidence,
    Confidence,
    ScoredConfidence,
    check_number,
)
from skillyard.engine.ranking.match import eligible, in_order
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import bind
from skillyard.engine.ranking.scorer import level_of
from skillyard.engine.skill import Skill

Context: TypeAlias = Query | Mapping[str, Any] | None
Options: TypeAlias = EvaluationOptions | Mapping[str, Any] | None


class ConfidenceScorer:
    """Recommends skills for a context of files, text and recent activity.

    Contexts (``files``, ``text``, ``recent_activity``) and options (``threshold``,
    ``pattern_weight``, ``keyword_weight``, ``limit``, ``activity_boost``) are mappings; the
    documented camelCase keys are accepted too. Every method raises InvalidInput, naming the field,
    for a value of the wrong type or range. :class:`Confidence` has further settings.
    """

    def __init__(self, settings: Confidence = CONFIDENCE) -> None:
        self._settings = settings
        self._skills: Catalog | tuple[Skill, ...] = ()
        self._bound = settings.bind(())

    @check_arguments
    def set_skills(self, catalog: Candidates) -> None:
        """Set the skills to evaluate, and index them."""
        self._skills = catalog if isinstance(catalog, Catalog) else as_skills(catalog)
        self._bound = _bind(self._skills, self._settings)

    @check_arguments
    def evaluate(self, context: Context, options: Options = None) -> list[Evaluation]:
        """Return the skills at or above the threshold, best first, then by name, up to the limit.

        Weights and boost that are not in ``options`` come from the settings.
        """
        defaults = EvaluationOptions(
            pattern_weight=self._settings.pattern_weight,
            keyword_weight=self._settings.keyword_weight,
            activity_boost=self._settings.activity_boost,
        )
        query = read_context(context)
        checked = read_options(options, defaults)
        return _evaluations(self._skills, _score(self._bound, query, checked), query, checked)

    @check_arguments
    def has_match(self, context: Context, threshold: float | None = 0.5) -> bool:
        """Say whether any skill reaches the threshold."""
        return self.get_best_match(context, threshold) is not None

    @check_arguments
    def get_best_match(self, context: Context, threshold: float | None = 0.3) -> Evaluation | None:
        """Return the best skill at or above the threshold; None when there is none."""
        return next(iter(self.evaluate(context, {"threshold": threshold, "limit": 1})), None)

    @check_arguments
    def combine(
        self,
        pattern_score: float,
        keyword_score: float,
        pattern_weight: float = 0.5,
        keyword_weight: float = 0.5,
        activity_match: bool = False,
        activity_boost: float = 1.2,
    ) -> float:
        """Return the confidence for two signals in 0..1; see :mod:`.combination`."""
        pattern = check_number("pattern_score", pattern_score)
        keyword = check_number("keyword_score", keyword_score)
        weights = Weights(
            check_number("pattern_weight", pattern_weight),
            check_number("keyword_weight", keyword_weight),
            check_number("activity_boost", activity_boost),
            self._settings.monotone_guard,
        )
        return boost(combine_signals(pattern, keyword, weights).raw, activity_match, weights)

    @check_arguments
    def level(self, confidence: float) -> str:
        """Return ``high``, ``medium`` or ``low``."""
        return _level(check_number("confidence", confidence))


def evaluate(
    catalog: Candidates,
    text: str | None = "",
    files: Iterable[str] | None = (),
    recent_activity: Iterable[str] | None = (),
    threshold: float | None = 0.3,
    limit: int | None = 10,
    show_details: bool | None = False,
    activity_boost: float | None = 1.2,
) -> dict[str, Any]:
    """Return the documented tool answer: ``{"results": [...], "message": Markdown}``.

    A result has ``skillName``, ``confidence`` (0..1, not rounded), ``level`` and ``reason``.
    Without text and files there are no results. None means the default. Raises InvalidInput.
    """
    query = read_context({"text": text, "files": files, "recent_activity": recent_activity})
    options = read_options(
        {"threshold": threshold, "limit": limit, "activity_boost": activity_boost}
    )
    skills = catalog if isinstance(catalog, Catalog) else as_skills(catalog)
    scored = _score(_bind(skills, CONFIDENCE), query, options)
    evaluations = _evaluations(skills, scored, query, options)
    return {
        "results": [evaluation.summary() for evaluation in evaluations],
        "message": markdown(evaluations, bool(show_details), scored.left_out),
    }


def _bind(skills: Catalog | tuple[Skill, ...], settings: Confidence) -> BoundConfidence:
    """Bind the skills. A catalog caches its index for the next call."""
    return cast(BoundConfidence, bind(skills, settings))


def _score(bound: BoundConfidence, query: Query, options: EvaluationOptions) -> ScoredConfidence:
    """Return the scores of a query with the weights of the options."""
    settings = replace(
        bound.scorer,
        pattern_weight=options.pattern_weight,
        keyword_weight=options.keyword_weight,
        activity_boost=options.activity_boost,
    )
    return bound.using(settings).prepare(query)


def _evaluations(
    skills: Catalog | tuple[Skill, ...],
    scored: ScoredConfidence,
    query: Query,
    options: EvaluationOptions,
) -> list[Evaluation]:
    """Return the evaluations of the skills that may be recommended."""
    pairs = eligible(skills, query, zeros=False, scored=scored)
    passed = [pair for pair in pairs if pair[1] >= options.threshold]
    return [_evaluation(scored, *pair) for pair in in_order(passed, scored, options.limit)]


def _evaluation(scored: ScoredConfidence, skill: Skill, confidence: float) -> Evaluation:
    return Evaluation(
        skill.name,
        confidence,
        _level(confidence),
        scored.reason(skill),
        scored.pattern_match(skill),
        scored.keyword_match(skill),
    )


def _level(confidence: float) -> str:
    return level_of(Confidence.levels, confidence) or ""
