"""A decision as an OpenTelemetry span, for programs that have loaded the API."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillyard.base.shapes.logs import Decision


def emit(decision: Decision, started_ns: int | None = None) -> None:
    """Emit one span for a decision. Does nothing without a tracer provider."""
    trace = import_module("opentelemetry.trace")
    tracer = trace.get_tracer("skillyard")
    span = tracer.start_span(
        f"skillyard.{decision.use}", attributes=attributes(decision), start_time=started_ns
    )
    span.end()


def attributes(decision: Decision) -> dict[str, Any]:
    """Return the attributes of a decision's span. None of the values is None."""
    values: dict[str, Any] = {
        "skillyard.query.digest": decision.query.digest,
        "skillyard.scorer": decision.scorer,
        "skillyard.considered": decision.considered,
        "skillyard.abstained": decision.abstained,
        "skillyard.fallback": decision.fallback,
        "skillyard.catalog": decision.catalog,
        "skillyard.min_score": decision.policy.min_score,
        "skillyard.selected": [match.id for match in decision.selected],
        "skillyard.runners_up": [match.id for match in decision.runners_up],
    }
    if decision.caller:
        values["skillyard.caller"] = decision.caller
    if decision.query.text is not None:
        values["skillyard.query.text"] = decision.query.text
    if decision.selected:
        best = decision.selected[0]
        values["skillyard.skill.id"] = best.id
        values["skillyard.skill.hash"] = best.hash
        values["skillyard.skill.score"] = best.score
        for label, value in best.signals.items():
            values[f"skillyard.signal.{label}"] = value
    return values
