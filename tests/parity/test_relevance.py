"""Every case of ``relevance_ranking.json``: the points of each signal and their sum.

The rulings take the documented profile in the readings of the relevance specification, which
are the ``expected`` values of every case, open or not: none of the allowed ranges is used.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import skillyard as sy
from tests.parity.rows import Case, load, rows
from tests.requirements import requirement
from tests.tables import for_each

SUITE = "relevance_ranking"
SIGNALS = ("content", "references", "query_match", "popularity", "curated_boost")
Register = Callable[[str, str, bool], None]


def skill_of(case: Case) -> sy.Skill:
    record = case["skill"]
    return sy.Skill(
        name=record["id"],
        description=record["description"] or "",
        body=record["content"],
        slug=record["id"],
        title=record["title"],
        references=record["references"],
        install_count=record["install_count"],
        source=record["source"],
        curated=record["source_registry"] == "curated",
    )


def ranked(case: Case) -> list[sy.Match]:
    return sy.rank(
        sy.Catalog.from_skills([skill_of(case)]),
        case["query"],
        include_references=case["include_references"],
        scorer="relevance",
        limit=None,
    )


@requirement("relevance:parity", "relevance:availability")
@requirement("relevance:highest", "relevance:popularity")
@for_each("case", rows(SUITE, None, "name"))
def test_every_signal_gives_its_documented_points(case: Case, parity: Register) -> None:
    parity(SUITE, case["name"], case["ambiguous"])
    (match,) = ranked(case)
    expected = {name: case["expected"][name] for name in SIGNALS}
    found = {name: match.signals[name] for name in SIGNALS}
    assert found == pytest.approx(expected, abs=case["tolerance"])
    assert match.score == pytest.approx(case["expected"]["total"], abs=case["tolerance"])


@requirement("relevance:sum", "explain:score-is-value")
@for_each("case", rows(SUITE, None, "name"))
def test_the_score_is_the_sum_of_the_five_signals(case: Case) -> None:
    (match,) = ranked(case)
    assert match.score == pytest.approx(sum(match.signals[name] for name in SIGNALS), abs=1e-9)
    assert match.explanation.value == match.score


def test_the_recommended_values_lie_in_the_allowed_range_of_every_open_case() -> None:
    outside = [
        (case["name"], signal)
        for case in load(SUITE, None)
        if case["ambiguous"]
        for signal, (low, high) in case["allowed"].items()
        if not low - case["tolerance"] <= case["expected"][signal] <= high + case["tolerance"]
    ]
    assert outside == []
