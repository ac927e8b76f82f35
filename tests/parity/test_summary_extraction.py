"""Every case of ``summary_extraction.json``: the summary, its parts and its size."""

from __future__ import annotations

from collections.abc import Callable

import skillyard as sy
from skillyard.evals.arms import scope_of, skill_arms, split_document
from tests.parity.rows import EXPECTED, Case, Ruling, load, rows, stale
from tests.tables import for_each

SUITE = "summary_extraction"
Register = Callable[[str, str, bool], None]

RULINGS = {
    "fm-unquoted-colon": Ruling(EXPECTED, "evals 1.6 step 1: recover the value"),
    "h1-after-scope": Ruling(EXPECTED, "evals 1.6 step 3: only level 2 ends it"),
    "heading-indented": Ruling(EXPECTED, "evals 1.6 step 3: up to three blanks"),
    "fence-tight": Ruling(EXPECTED, "evals 1.6 step 4: whole lines go"),
    "fence-unclosed": Ruling(EXPECTED, "evals 1.6 step 2: code to the end"),
    "inline-triple": Ruling(EXPECTED, "evals 1.6 step 2: no backticks behind an opening"),
    "xref-inline": Ruling(EXPECTED, "evals 1.6 step 5: text around it untouched"),
    "xref-several": Ruling(EXPECTED, "evals 1.6 step 5: text around it untouched"),
    "xref-in-description": Ruling(EXPECTED, "evals 1.6 step 5: the description stays"),
}
"""All open cases follow the specification, with one line feed as the joint."""


@for_each("case", rows(SUITE))
def test_the_summary_its_parts_and_its_size_are_the_documented_ones(
    case: Case, parity: Register
) -> None:
    parity(SUITE, case["id"], case.get("ambiguous", False))
    summary = sy.evals.extract_summary(case["input"])
    assert summary == case["summary"]
    document = split_document(case["input"])
    assert (document.description, scope_of(document.body)) == (case["description"], case["scope"])
    sizes = skill_arms(case["input"], None).facts["conditions"]
    assert sizes.get("summary", {"raw_bytes": 0})["raw_bytes"] == case["bytes"]


def test_every_open_case_is_ruled_on() -> None:
    assert stale(RULINGS, [load(SUITE)]) == []
    assert {case["id"] for case in load(SUITE) if case.get("ambiguous")} == set(RULINGS)
