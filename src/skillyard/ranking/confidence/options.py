"""The documented contexts and options, in either spelling, checked before anything is scored.

Source: "Skill Evaluation System", "Full evaluation with options" and "Parameters". None means the
default, as does a missing key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from skillyard.errors import InvalidInput
from skillyard.ranking.confidence.scorer import check_number
from skillyard.ranking.query import Query

__all__ = ["EvaluationOptions", "read_context", "read_options"]


class EvaluationOptions(NamedTuple):
    """What ``evaluate`` takes beside the context."""

    threshold: float = 0.3
    """Least confidence of a result, from 0."""
    pattern_weight: float = 0.5
    keyword_weight: float = 0.5
    limit: int = 10
    """Most results, from 0."""
    activity_boost: float = 1.2


DEFAULT_OPTIONS = EvaluationOptions()
_CONTEXT = ("files", "text", "recent_activity")


def read_context(context: Query | Mapping[str, Any] | None) -> Query:
    """Return the query that a context stands for. Raises InvalidInput naming the field."""
    if isinstance(context, Query):
        return context
    given = _fields("context", context, _CONTEXT)
    return Query(given.get("text", ""), given.get("files", ()), given.get("recent_activity", ()))


def read_options(
    options: EvaluationOptions | Mapping[str, Any] | None,
    defaults: EvaluationOptions = DEFAULT_OPTIONS,
) -> EvaluationOptions:
    """Return the checked options. Raises InvalidInput naming the field."""
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
    """Return the given fields that are not None, under their names in snake case."""
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{what} must be a mapping, not {type(values).__name__}")
    spelling = {name: name for name in known} | {_camel(name): name for name in known}
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


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
