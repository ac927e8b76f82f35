"""The cases of a layer in short: one row a request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skillyard.evals.report.cases import anchor_of, in_order, is_pair
from skillyard.evals.report.layer_view import Row, Table
from skillyard.evals.report.results import expected_skills, outcome
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import (
    UNKNOWN,
    against,
    first_upper,
    many,
    signed,
    visible_line,
)
from skillyard.evals.statistics.pairs import comparisons_in_order

_ROWS = 200
"""Most requests of one layer in a report; the page of cases has all."""
_LETTERS = 100
"""Most characters of a request in a row: enough to recognise it."""


def case_tables(cases: Iterable[Json]) -> tuple[Table, ...]:
    """Return the cases in short: one row a request, and of routed requests those that failed."""
    ordered = in_order(list(cases))
    return (
        _limited(_pairs_table([case for case in ordered if is_pair(case)])),
        _limited(_failed_table([case for case in ordered if not is_pair(case)])),
    )


def _pairs_table(cases: Sequence[Json]) -> Table:
    """Return the mean difference of each request over its runs, for each comparison."""
    comparisons = comparisons_in_order(case.text("comparison") for case in cases)
    by_prompt: dict[tuple[str, float], list[Json]] = {}
    for case in cases:
        prompt = case.text("skill_name"), case.number("prompt_index") or 0.0
        by_prompt.setdefault(prompt, []).append(case)
    return Table(
        "",
        ("Request", "Skill", *map(first_upper, map(against, comparisons))),
        tuple(
            Row(
                visible_line(of_prompt[0].text("prompt"), _LETTERS),
                (skill, *(_mean(of_prompt, name) for name in comparisons)),
                anchor_of(of_prompt[0]),
            )
            for (skill, _), of_prompt in sorted(by_prompt.items(), key=lambda item: item[0])
        ),
        "Difference of scores, mean over runs.",
    )


def _mean(cases: Sequence[Json], comparison: str) -> str:
    of_comparison = [case for case in cases if case.text("comparison") == comparison]
    improvements = (case.number("improvement") for case in of_comparison)
    values = [value for value in improvements if value is not None]
    if values:
        return signed(sum(values) / len(values))
    return outcome(of_comparison[0]).state if of_comparison else UNKNOWN


def _failed_table(cases: Sequence[Json]) -> Table:
    return Table(
        "Requests that were decided wrongly",
        ("Request", "Expected", "Picked"),
        tuple(
            Row(
                visible_line(case.text("user_prompt"), _LETTERS),
                (
                    ", ".join(expected_skills(case)) or "nothing",
                    ", ".join(case.names("picked")) or outcome(case).why or "nothing",
                ),
                anchor_of(case),
            )
            for case in cases
            if outcome(case).state in ("failed", "error")
        ),
    )


def _limited(table: Table) -> Table:
    more = len(table.rows) - _ROWS
    if more <= 0:
        return table
    note = f"{table.note} {many(more, 'more request')} in the results file.".strip()
    return table._replace(rows=table.rows[:_ROWS], note=note)
