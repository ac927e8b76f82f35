"""Parses the documented contexts and options, in camelCase or snake_case.

Source: "Skill Evaluation System", "Full evaluation with options" and "Parameters". None means the
default, as does a missing key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.engine.ranking.confidence.scorer import check_number
from skillyard.engine.ranking.query import Query


class EvaluationOptions(NamedTuple):
    """The options of ``evaluate``."""

    threshold: float = 0.3
    """Minimum confidence of a result; at least 0."""
    pattern_weight: float = 0.5
    keyword_weight: float = 0.5
    limit: int = 10
    """Maximum number of results; at least 0."""
    activity_boost: float = 1.2


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
