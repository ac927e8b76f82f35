"""Activation in a report: which skills a router picks, and which in place of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillyard.evals.report.values import (
    UNKNOWN,
    Estimate,
    Json,
    LayerView,
    ReportTable,
    decimal,
    entities_of,
    estimate,
    first_upper,
    many,
    percent,
    whole,
)

_FIRES_ENOUGH = 0.8
"""A skill is marked that fires for fewer than four of five requests that need it, or for more than
one of five others."""


def activation_view(envelope: Mapping[str, object]) -> LayerView:
    """Return what is shown of an L3 envelope."""
    run = Json(envelope)
    overall, skills = run.at("summary", "_overall"), entities_of(run)
    columns = ("Skill", "Fires where needed", "Fires wrongly", "F1", "Need it", "Do not", "Next")
    rates = tuple((name, *_rates(each), _action(each)) for name, each in skills.items())
    return LayerView(
        ReportTable("How often each skill fires", columns, rates, _note(run), (0.0, 1.0)),
        tuple(filter(None, (_fired_sentence(overall), _measures(overall)))),
        (_confused(run.rows("artifacts", "confusion")),),
    )


def _rate(entity: Json, name: str) -> Estimate:
    return estimate(entity, (name, f"{name}_low", f"{name}_high"), percent)


def _rates(entity: Json) -> tuple[str | Estimate, ...]:
    counts = (whole(entity.number(key)) for key in ("positives", "negatives"))
    return (_rate(entity, "tpr"), _rate(entity, "fpr"), decimal(entity.number("f1")), *counts)


def _action(entity: Json) -> str:
    fires, wrongly = entity.number("tpr"), entity.number("fpr")
    problems = ["misses"] if fires is not None and fires < _FIRES_ENOUGH else []
    problems += ["fires wrongly"] if wrongly is not None and wrongly > 1 - _FIRES_ENOUGH else []
    return f"description {' and '.join(problems)}: change its words" if problems else ""


def _fired_sentence(entity: Json) -> str:
    parts = []
    for key, requests, start, end in (
        ("tpr", "positives", "fired for", "that need it"),
        ("fpr", "negatives", "fired wrongly for", "that do not"),
    ):
        rate = _rate(entity, key)
        if rate.value is not None:
            of = many(entity.number(requests), "request")
            interval = f" (95\u00a0% interval {rate.interval})" if rate.interval else ""
            parts.append(f"{start} {rate.text} of the {of} {end}{interval}")
    if parts:
        return f"{first_upper('; '.join(parts))}."
    errors = many(entity.number("errors"), "request")
    return f"Not measured: {errors} without a choice of the router that could be read."


def _measures(overall: Json) -> str:
    figures = {name: decimal(overall.number(name)) for name in ("f1", "precision", "recall")}
    figures["exact sets"] = percent(overall.number("exact_set_rate"))
    known = [f"{name} {figure}" for name, figure in figures.items() if figure != UNKNOWN]
    return f"{first_upper(', '.join(known))}." if known else ""


def _note(run: Json) -> str:
    """Return the size of the index."""
    index = run.at("artifacts", "index")
    listed, characters, tokens = map(index.number, ("skills", "characters", "input_tokens"))
    if listed is None:
        return ""
    size = f"{many(listed, 'skill')}" + (f", {whole(characters)} characters" if characters else "")
    size += f", {whole(tokens)} input tokens by the provider’s count" if tokens else ""
    return f"The router saw an index of {size}."


def _confused(confusion: Sequence[Json]) -> ReportTable:
    """Return which skills were often picked in place of others."""
    rows = (
        (each.text("skill"), each.text("picked"), f"{whole(part)} of {whole(of)}")
        for each in confusion
        if each.flag("confused")
        for part, of in [map(each.number, ("requests", "of"))]
    )
    columns = ("Requests for", "Picked", "Requests")
    return ReportTable("Picked in place of others", columns, tuple(rows))
