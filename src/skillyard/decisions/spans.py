"""A decision as an OpenTelemetry span, for programs that have loaded the API."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["attributes", "emit"]


def emit(shape: Mapping[str, Any], started_ns: int | None = None) -> None:
    """Emit one span for an entry of the decision log. Does nothing without a tracer provider."""
    trace = import_module("opentelemetry.trace")
    tracer = trace.get_tracer("skillyard")
    span = tracer.start_span(
        f"skillyard.{shape['use']}", attributes=attributes(shape), start_time=started_ns
    )
    span.end()


def attributes(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an entry's span. None of the values is None."""
    query, selected = shape["query"], shape["selected"]
    values: dict[str, Any] = {
        "skillyard.query.digest": query["digest"],
        "skillyard.scorer": shape["scorer"],
        "skillyard.considered": shape["considered"],
        "skillyard.abstained": shape["abstained"],
        "skillyard.fallback": shape["fallback"],
        "skillyard.catalog": shape["catalog"],
        "skillyard.min_score": shape["policy"]["min_score"],
        "skillyard.selected": [match["id"] for match in selected],
        "skillyard.runners_up": [match["id"] for match in shape["runners_up"]],
    }
    if "text" in query:
        values["skillyard.query.text"] = query["text"]
    if selected:
        best = selected[0]
        values["skillyard.skill.id"] = best["id"]
        values["skillyard.skill.hash"] = best["hash"]
        values["skillyard.skill.score"] = best["score"]
        for label, value in best["signals"].items():
            values[f"skillyard.signal.{label}"] = value
    return values
