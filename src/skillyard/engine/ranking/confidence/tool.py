"""The document's ``ConfidenceScorer`` class and its ``skill_evaluate`` tool.

Source: "Skill Evaluation System", "Confidence Scorer" and "skill_evaluate MCP Tool". A hidden skill
is left out unless the text calls it by ``@name`` or ``/name``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import floor
from typing import Any, NamedTuple, TypeAlias, cast

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidInput
from skillyard.base.text import clean_line, escape_frame
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.confidence.records import Candidates, Evaluation, as_skills, camel
from skillyard.engine.ranking.confidence.scorer import (
    CONFIDENCE,
    BoundConfidence,
    Confidence,
    ScoredConfidence,
    boost,
    check_number,
    combine_signals,
)
from skillyard.engine.ranking.match import eligible, in_order
from skillyard.engine.ranking.query import Query
from skillyard.engine.ranking.registry import bind
from skillyard.engine.ranking.scorer import level_of
from skillyard.engine.skill import Skill


class EvaluationOptions(NamedTuple):
    """The options of ``evaluate``."""

    threshold: float = 0.3
    """Minimum confidence of a result; at least 0."""
    pattern_weight: float = 0.5
    keyword_weight: float = 0.5
    limit: int = 10
    """Maximum number of results; at least 0."""
    activity_boost: float = 1.2


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
        """Return the confidence for two signals in 0..1; see :mod:`.scorer`."""
        pattern = check_number("pattern_score", pattern_score)
        keyword = check_number("keyword_score", keyword_score)
        settings = replace(
            self._settings,
            pattern_weight=pattern_weight,
            keyword_weight=keyword_weight,
            activity_boost=activity_boost,
        )
        return boost(combine_signals(pattern, keyword, settings).raw, activity_match, settings)

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
    return [
        Evaluation(
            skill.name,
            confidence,
            _level(confidence),
            scored.reason(skill),
            scored.pattern_match(skill),
            scored.keyword_match(skill),
        )
        for skill, confidence in in_order(passed, scored, options.limit)
    ]


def _level(confidence: float) -> str:
    return level_of(Confidence.levels, confidence) or ""


DEFAULT_OPTIONS = EvaluationOptions()
_CONTEXT = ("files", "text", "recent_activity")


def read_context(context: Query | Mapping[str, Any] | None) -> Query:
    """Return the query of a context. Raises InvalidInput, naming the field."""
    if isinstance(context, Query):
        return context
    fields = _fields("context", context, _CONTEXT)
    return Query(fields.get("text", ""), fields.get("files", ()), fields.get("recent_activity", ()))


def read_options(
    options: EvaluationOptions | Mapping[str, Any] | None,
    defaults: EvaluationOptions = DEFAULT_OPTIONS,
) -> EvaluationOptions:
    """Return the validated options. Raises InvalidInput, naming the field."""
    if not isinstance(options, EvaluationOptions):
        options = defaults._replace(**_fields("options", options, EvaluationOptions._fields))
    for field in ("threshold", "pattern_weight", "keyword_weight", "activity_boost"):
        check_number(field, getattr(options, field))
    limit = options.limit
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise InvalidInput(f"limit must be a whole number, not {type(limit).__name__}")
    if limit < 0:
        raise InvalidInput(f"limit must be 0 or more, not {limit}")
    return options


def _fields(what: str, values: Mapping[str, Any] | None, known: Sequence[str]) -> dict[str, Any]:
    """Return the fields that are set and not None, with their names in snake case."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{what} must be a mapping, not {type(values).__name__}")
    spelling = {name: name for name in known} | {camel(name): name for name in known}
    fields: dict[str, Any] = {}
    for key, value in values.items():
        name = spelling.get(key)
        if name is None:
            raise InvalidInput(f"{what} has no field {key!r}; known: {', '.join(known)}")
        if name in fields:
            raise InvalidInput(f"{what} has {name} in both spellings")
        if value is not None:
            fields[name] = value
    return fields


NO_MATCH = "No skills matched the current context."

_REASON_CHARS = 50
_DETAILED = 3
_MAX_NAMES = 3


def markdown(
    evaluations: Sequence[Evaluation], show_details: bool = False, left_out: Sequence[str] = ()
) -> str:
    """Return the message for the results, in their order.

    ``left_out`` are skills with file patterns that exceeded the work limit of this request.
    """
    remark = _left_out(left_out)
    if not evaluations:
        return f"{NO_MATCH}\n\n{remark}" if remark else NO_MATCH
    lines = [
        f"## Skill Evaluation Results ({len(evaluations)} matched)",
        "",
        "| Skill | Confidence | Level | Reason |",
        "|-------|------------|-------|--------|",
        *(_row(evaluation) for evaluation in evaluations),
        "",
    ]
    if show_details:
        lines += ["### Match Details", ""]
        for evaluation in evaluations[:_DETAILED]:
            lines += [_detail(evaluation), ""]
    lines += [remark, ""] if remark else []
    lines.append("Use `load_skill(name)` to load a skill.")
    return "\n".join(lines)


def _left_out(names: Sequence[str]) -> str:
    """Return the remark on skills with patterns that were not compared; empty without any."""
    if not names:
        return ""
    first = ", ".join(f"`{_text(name)}`" for name in names[:_MAX_NAMES])
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return (
        f"Not all file patterns of {first}{more} were compared: with these files they are more work"
        " than one request may cause. Give fewer files, or simplify the patterns."
    )


def _row(evaluation: Evaluation) -> str:
    reason = clean_line(evaluation.reason)
    if len(reason) > _REASON_CHARS:
        reason = reason[: _REASON_CHARS - 3] + "..."
    cells = (_text(evaluation.skill_name), _percent(evaluation), evaluation.level, _text(reason))
    return f"| {' | '.join(cells)} |"


def _detail(evaluation: Evaluation) -> str:
    name, reason = _text(evaluation.skill_name), _text(evaluation.reason)
    return f"**{name}** ({_percent(evaluation)}): {reason}"


def _percent(evaluation: Evaluation) -> str:
    """Return the confidence as whole percent, half rounded up. The level uses the exact value."""
    return f"{floor(evaluation.confidence * 100 + 0.5)}%"


def _text(text: str) -> str:
    """Return untrusted text as one line that cannot end a table cell."""
    safe = clean_line(text).replace("\\", "\\\\").replace("|", "\\|")
    return escape_frame(safe)
