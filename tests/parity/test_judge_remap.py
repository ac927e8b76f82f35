"""Every case of ``judge_remap.json``: replies of a judge → scores of conditions, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import skillyard as sy
from tests.parity.rows import EXPECTED, Case, Ruling, load, rows, stale
from tests.tables import for_each

SUITE = "judge_remap"
TOLERANCE = 1e-6
"""``compare`` of the file."""
Register = Callable[[str, str, bool], None]

RULINGS = {
    "weights-sum-101": Ruling(EXPECTED, "evals 1.10: divide by the sum of the weights"),
    "judge-says-tie": Ruling(EXPECTED, "evals 1.10: the winner follows the scores"),
    "err-score-string": Ruling(EXPECTED, "evals 1.9: scores are JSON integers"),
    "pair-win-then-tie": Ruling(EXPECTED, "evals 1.10: a winner only if both orders agree"),
    "pair-one-error": Ruling(EXPECTED, "evals 1.10: one bad order is an error"),
}


def near(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: near(item) for key, item in value.items()}
    return pytest.approx(value, abs=TOLERANCE) if isinstance(value, float) else value


@for_each("case", rows(SUITE))
def test_the_outcome_is_the_documented_one(case: Case, parity: Register) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    given = {key: case[key] for key in case if key not in {"expected", "alternatives", "note"}}
    found = sy.evals.remap(given)
    if "error" in case["expected"]:
        assert found["error"] == case["expected"]["error"]
    else:
        assert {key: found.get(key) for key in case["expected"]} == near(case["expected"])


def test_every_open_case_is_ruled_on() -> None:
    assert stale(RULINGS, [load(SUITE)]) == []
    assert {case["id"] for case in load(SUITE) if case.get("ambiguous")} == set(RULINGS)
