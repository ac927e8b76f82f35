"""The page on capacity says what the simulation says, and the simulation what queues do."""

from __future__ import annotations

import json
import re

import pytest

from benchmarks.capacity import MEASURED, Costs, Machine, costs_of, plan, simulate, table
from tests.shared_data import REPOSITORY
from tests.tables import for_each

PAGE = REPOSITORY / "docs" / "concepts" / "capacity.md"
MEASUREMENTS = json.loads(MEASURED.read_text(encoding="utf-8"))
COSTS = Costs(1_000_000, 4.0, 10.0, 5.0, 4.0, 6.0, 10.0, 0.4, 30.0)


def cells(text: str) -> set[tuple[str, ...]]:
    """Return the rows of a page's tables."""
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    return {tuple(cell.strip() for cell in line.strip("|").split("|")) for line in rows}


@for_each(("skills", "rate"), [(1_000_000, 1_000.0), (10_000_000, 10_000.0)])
def test_the_page_has_the_table_that_the_simulation_prints(skills: int, rate: float) -> None:
    rows = {row for row in cells(PAGE.read_text(encoding="utf-8")) if len(row) == 3}
    place = 1 if skills == 1_000_000 else 2
    shown = {(row[0], row[place]) for row in rows}
    assert set(table(MEASUREMENTS, skills, rate)) <= shown


def test_the_page_names_every_size_that_was_measured() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for row in MEASUREMENTS["sizes"]:
        assert f"{row['skills']:,}" in text
    assert re.search(re.escape(MEASUREMENTS["measured"]), text)


def test_without_a_queue_a_request_takes_what_it_costs() -> None:
    found = simulate(COSTS, Machine(), 100, 10.0)
    assert found.p50 == pytest.approx(14.0, rel=0.05)
    assert found.p99 <= 1.5 * 14.0
    assert found.busy == pytest.approx(10.0 * 0.014 / 1_600, rel=0.05)


def test_near_its_limit_requests_wait_and_more_machines_help() -> None:
    few, more = (simulate(COSTS, Machine(), machines, 1_000.0) for machines in (1, 2))
    assert few.p99 > 2 * more.p99
    assert few.busy == pytest.approx(2 * more.busy, rel=0.05)


def test_a_plan_keeps_room_and_has_one_machine_to_spare() -> None:
    found = plan(COSTS, Machine(), 2_000.0)
    assert found.busy <= 0.75
    again = simulate(COSTS, Machine(), found.machines - 1, 2_000.0)
    assert (again.p50, again.p99) == (found.p50, found.p99)


def test_costs_lie_on_a_line_through_what_was_measured() -> None:
    names = ("request_ms", "disk_gb", "memory_gb", "database_gb", "change_ms", "sync_s", "lag_ms")
    sizes = [
        {"skills": size, **dict.fromkeys(names, 2.0 + size / 1_000)}
        for size in (1_000, 5_000, 20_000)
    ]
    costs = costs_of({"sizes": sizes}, 100_000)
    assert costs.python_ms + costs.pass_ms == pytest.approx(102.0)
    assert costs.python_ms == pytest.approx(2.0)
    assert costs.disk_gb == pytest.approx(102.0)
