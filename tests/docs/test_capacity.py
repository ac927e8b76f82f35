"""The page on capacity says what the simulation says, and the simulation what queues do."""

from __future__ import annotations

import json
import re

from benchmarks.capacity import MEASURED, table
from tests.shared_data import REPOSITORY
from tests.tables import for_each

PAGE = REPOSITORY / "docs" / "concepts" / "capacity.md"
MEASUREMENTS = json.loads(MEASURED.read_text(encoding="utf-8"))


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
