"""Activation in a report: which skills a router picks, and which in place of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillyard.evals.report.cases import anchor_of
from skillyard.evals.report.layer_view import (
    Estimate,
    Fold,
    LayerView,
    ReportRow,
    ReportTable,
    Results,
    SkillResult,
    estimate,
    outcome,
)
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import (
    UNKNOWN,
    decimal,
    first_upper,
    many,
    percent,
    visible_line,
    whole,
    within,
)

_SHOWS = (
    "Which skills this router picked for these requests out of this index. Add a skill or change a "
    "description, and the index is another one."
)
_LIMIT = (
    "That an agent in real use picks the same way: it sees a conversation, other tools and its "
    "host’s own list of skills."
)
_FIRES_ENOUGH = 0.8
"""A skill is marked that fires for fewer than four of five requests that need it, or for more than
one of five others."""
_ROWS = 200
"""Most requests in a table; the page of cases has all."""
_LETTERS = 100
"""Most characters of a request in a row: enough to recognise it."""


def activation_view(envelope: Mapping[str, object]) -> LayerView:
    """Return what is shown of an L3 envelope."""
    run = Results(envelope)
    overall, skills = run.at("summary", "_overall"), run.entities()
    confusion = run.rows("artifacts", "confusion")
    columns = ("Skill", "Fires where needed", "Fires wrongly", "F1", "Need it", "Do not")
    rates = tuple(ReportRow(name, _rates(each)) for name, each in skills.items())
    note = _note(run)
    return LayerView(
        column="Fires",
        results={name: _fires(each) for name, each in skills.items()},
        pooled=(_fired_sentence(overall), *_measures(overall)),
        tables=(
            ReportTable("How often each skill fires", columns, rates, note, (0.0, 1.0)),
            _confused("Picked in place of others", [e for e in confusion if e.flag("confused")]),
        ),
        folds=(
            Fold("Every confusion", tables=(_confused("", confusion),)),
            Fold("Requests that were decided wrongly", tables=(_wrong(run.cases),)),
        ),
        shows=_SHOWS,
        limits=(_LIMIT,),
    )


def _rate(entity: Json, name: str) -> Estimate:
    return estimate(entity, (name, f"{name}_low", f"{name}_high"), percent)


def _fires(entity: Json) -> SkillResult:
    fires, wrongly = entity.number("tpr"), entity.number("fpr")
    parts, problems = [], []
    if fires is not None:
        parts.append(f"{percent(fires)}\u00a0of\u00a0{whole(entity.number('positives'))}")
        problems += ["misses"] if fires < _FIRES_ENOUGH else []
    if wrongly is not None and wrongly > 1 - _FIRES_ENOUGH:
        of = whole(entity.number("negatives"))
        parts.append(f"wrongly {percent(wrongly)}\u00a0of\u00a0{of}")
        problems.append("fires wrongly")
    problem = " and ".join(problems)
    action = f"description {problem}: change its words" if problem else ""
    return SkillResult(Estimate(fires, None, None, ", ".join(parts) or UNKNOWN), action=action)


def _rates(entity: Json) -> tuple[str | Estimate, ...]:
    counts = (whole(entity.number(key)) for key in ("positives", "negatives"))
    return (_rate(entity, "tpr"), _rate(entity, "fpr"), decimal(entity.number("f1")), *counts)


def _fired_sentence(entity: Json) -> str:
    parts = []
    for key, requests, start, end in (
        ("tpr", "positives", "fired for", "that need it"),
        ("fpr", "negatives", "fired wrongly for", "that do not"),
    ):
        rate = _rate(entity, key)
        if rate.value is not None:
            of = many(entity.number(requests), "request")
            parts.append(f"{start} {rate.text} of the {of} {end}{within(rate.interval)}")
    if parts:
        return f"{first_upper('; '.join(parts))}."
    errors = many(entity.number("errors"), "request")
    return f"Not measured: {errors} without a choice of the router that could be read."


def _measures(overall: Json) -> tuple[str, ...]:
    figures = (
        ("F1", decimal(overall.number("f1"))),
        ("precision", decimal(overall.number("precision"))),
        ("recall", decimal(overall.number("recall"))),
        ("exact sets", percent(overall.number("exact_set_rate"))),
    )
    known = [f"{name} {figure}" for name, figure in figures if figure != UNKNOWN]
    return (f"{', '.join(known)}.",) if known else ()


def _note(run: Results) -> str:
    """Return the size of the index."""
    index = run.at("artifacts", "index")
    listed, characters, tokens = map(index.number, ("skills", "characters", "input_tokens"))
    sizes = [f"an index of {many(listed, 'skill')}"] if listed is not None else []
    sizes += [f"{whole(characters)} characters"] if sizes and characters is not None else []
    sizes += [f"{whole(tokens)} input tokens by the provider’s count"] if sizes and tokens else []
    return f"The router saw {', '.join(sizes)}." if sizes else ""


def _confused(title: str, rows: Sequence[Json]) -> ReportTable:
    """Return which skills were picked in place of others."""
    return ReportTable(
        title,
        ("Requests for", "Picked", "Requests"),
        tuple(
            ReportRow(
                each.text("skill"),
                (
                    each.text("picked"),
                    f"{whole(each.number('requests'))} of {whole(each.number('of'))}",
                ),
            )
            for each in rows[:_ROWS]
        ),
    )


def _wrong(cases: Sequence[Json]) -> ReportTable:
    wrong = [case for case in cases if outcome(case).state in ("failed", "error")]
    more = len(wrong) - _ROWS
    return ReportTable(
        "",
        ("Request", "Expected", "Picked"),
        tuple(
            ReportRow(
                visible_line(case.text("user_prompt"), _LETTERS),
                (
                    ", ".join(case.names("expected_skills")) or "nothing",
                    ", ".join(case.names("picked")) or outcome(case).why or "nothing",
                ),
                anchor_of(case),
            )
            for case in wrong[:_ROWS]
        ),
        f"{many(more, 'more request')} in the results file." if more > 0 else "",
    )
