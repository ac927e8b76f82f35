"""The cost of a run in the report: over all of its parts, and what has no result."""

from __future__ import annotations

from typing import Any

from skillyard.evals.report.head import cost_facts, run_facts
from skillyard.evals.report.results import Results
from tests.tables import for_each

META = {"total_cost": 0.5, "calls": 10, "run_cost": 0.5, "run_calls": 10, "lost_calls": 0}


def shown(**meta: Any) -> str | None:
    """Return what the report says of all parts of a run."""
    results = Results({"meta": {**META, "lost_cost": 0.0, **meta}})
    parts = {fact.name: fact for fact in cost_facts(results)}
    fact = parts.get("In all parts of the run")
    if fact is None:
        return None
    return f"{fact.value} ({fact.note})".replace("\xa0", " ")


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
    assert shown(**meta) == text


@for_each(("run_calls", "name"), [(10, "In all"), (14, "In this part"), (None, "In all")])
def test_the_cost_of_one_part_is_not_called_that_of_all(run_calls: int | None, name: str) -> None:
    fact = cost_facts(Results({"meta": {**META, "run_calls": run_calls}}))[0]
    assert (fact.name, fact.value) == (name, "$0.50")


@for_each(("run_cost", "text"), [(0.75, "$0.75"), (None, "$0.50")])
def test_the_head_shows_the_cost_of_all_parts(run_cost: float | None, text: str) -> None:
    """Results of older versions hold only the cost of their last part."""
    (fact,) = [
        each
        for each in run_facts([Results({"meta": {**META, "run_cost": run_cost}})])
        if each.name == "Cost"
    ]
    assert fact.value == text
