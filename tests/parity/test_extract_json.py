"""Every case of ``extract_json.json``: the object in a reply, or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import skillyard as sy
from tests.parity.rows import EXPECTED, Case, Ruling, load, rows, stale
from tests.tables import for_each

SUITE = "extract_json"
Register = Callable[[str, str, bool], None]

RULINGS = {
    "broken-group-hides-inner": Ruling(EXPECTED, "evals 1.12: a broken group is skipped whole"),
    "fence-second-wins-over-prose": Ruling(EXPECTED, "evals 1.12: fences before the scan"),
    "raw-newline-in-string": Ruling(EXPECTED, "evals 1.12: strict parse"),
    "array-of-objects": Ruling(EXPECTED, "evals 1.12: only objects, top-level"),
    "json-in-json-string": Ruling(EXPECTED, "evals 1.12: nothing is decoded twice"),
    "comment": Ruling(EXPECTED, "evals 1.12: only trailing commas are repaired"),
    "smart-quotes": Ruling(EXPECTED, "evals 1.12: only trailing commas are repaired"),
    "truncated-then-complete": Ruling(EXPECTED, "evals 1.12: a truncated reply gives nothing"),
    "thinking-draft": Ruling(EXPECTED, "evals 1.12: left to right"),
}


def exact(value: Any) -> Any:
    """Make 1, 1.0 and true differ only where JSON says so: booleans are no numbers."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    return [exact(item) for item in value] if isinstance(value, list) else value


@for_each("case", rows(SUITE))
def test_the_object_is_the_documented_one(case: Case, parity: Register) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    assert exact(sy.evals.extract_json(case["text"])) == exact(case["expected"])


def test_every_open_case_is_ruled_on() -> None:
    assert stale(RULINGS, [load(SUITE)]) == []
    assert {case["id"] for case in load(SUITE) if case.get("ambiguous")} == set(RULINGS)
