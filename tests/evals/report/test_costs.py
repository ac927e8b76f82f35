"""The cost of a run in the report: over all of its parts, and what has no result."""

from __future__ import annotations

from typing import Any

from skillyard.evals.report.report import build_report
from tests.tables import for_each

META = {"total_cost": 0.5, "calls": 10, "run_cost": 0.5, "run_calls": 10, "lost_calls": 0}


def costs(**meta: Any) -> dict[str, str]:
    """Return what the report says of the cost of a run."""
    report = build_report([{"meta": {**META, "lost_cost": 0.0, **meta}}])
    tables = (table for fold in report.sections[0].folds for table in fold.tables)
    (cost,) = (table for table in tables if table.title == "Cost")
    return {row.name: str(row.cells[0]).replace("\xa0", " ") for row in cost.rows}


@for_each(
    ("meta", "text"),
    [
        ({}, None),
        ({"run_cost": 0.75, "run_calls": 14}, "$0.75 (14 calls)"),
        (
            {"run_cost": 1.0, "run_calls": 12, "lost_calls": 2, "lost_cost": 0.25},
            "$1.00 (12 calls; 2 without a result, which may have been billed: $0.25)",
        ),
        ({"run_cost": None, "run_calls": None}, None),
    ],
)
def test_what_resumes_and_lost_calls_cost_is_said(meta: dict[str, Any], text: str | None) -> None:
    assert costs(**meta).get("In all parts of the run") == text


@for_each(("run_calls", "name"), [(10, "In all"), (14, "In this part"), (None, "In all")])
def test_the_cost_of_one_part_is_not_called_that_of_all(run_calls: int | None, name: str) -> None:
    first = next(iter(costs(run_calls=run_calls).items()))
    assert first == (name, "$0.50 (10 calls)")


@for_each(("run_cost", "text"), [(0.75, "$0.75"), (None, "$0.50")])
def test_the_head_shows_the_cost_of_all_parts(run_cost: float | None, text: str) -> None:
    """Results of older versions hold only the cost of their last part."""
    report = build_report([{"meta": {**META, "run_cost": run_cost}}])
    assert dict(report.facts)["Cost"] == text
