"""What the pages say of formulas and floors is what the code computes with."""

from __future__ import annotations

import re
from fractions import Fraction

from skillyard import PatternMatcher
from skillyard.engine.ranking import relevance
from skillyard.engine.ranking.confidence.keywords import SATURATION, SOURCES
from skillyard.engine.ranking.confidence.patterns import (
    AVERAGE_SHARE,
    COVERAGE_FLOOR,
    COVERAGE_SHARE,
)
from skillyard.engine.ranking.confidence.scorer import AGREEMENT, CONFIDENCE, SINGLE_SIGNAL
from skillyard.engine.ranking.overlap import OVERLAP
from skillyard.engine.ranking.registry import resolve, scorer_names
from skillyard.engine.ranking.triggers import TRIGGERS
from tests.shared_data import REPOSITORY

CONCEPTS = REPOSITORY / "docs" / "concepts"
SCORERS = (CONCEPTS / "scorers.md").read_text(encoding="utf-8")


def _table(first_title: str) -> list[list[str]]:
    """Return the rows of the table whose head starts with that title."""
    text = SCORERS.partition(f"\n| {first_title} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in text.split("\n")[2:]]


def _number(value: float) -> str:
    """Return a number as people write it: a third is no decimal fraction."""
    return f"{value:g}" if len(f"{value:g}") < 6 else str(Fraction(value).limit_denominator(9))


def test_the_table_of_scorers_says_what_the_scorers_say() -> None:
    rows = {row[0].split("`")[1]: row for row in _table("scorer")}
    assert set(rows) == set(scorer_names())
    for name, row in rows.items():
        policy, levels = resolve(name).default_policy, resolve(name).levels
        assert (row[4], row[5]) == (_number(policy.min_score), f"{policy.top_k}")
        floors = [f"`{level.name}` from {_number(level.floor)}" for level in levels[:-1]]
        assert row[3] == ", ".join(
            [*floors, *(f"`{level.name}`" for level in levels[-1:])] or ["none"]
        )
        order = policy.tie_break.removeprefix("content first, ")  # which goes before the score
        assert row[6] == order.removesuffix(", path") + ", path"


def test_selection_names_the_margin_of_every_scorer() -> None:
    page = (CONCEPTS / "selection.md").read_text(encoding="utf-8").replace("\n", " ")
    (sentence,) = re.findall(r"margin of the first \(([^)]*)\)", page)
    said = {
        name: float(margin)
        for margin, names in re.findall(r"([\d.]+) for ((?:`\w+`(?: and )?)+)", sentence)
        for name in re.findall(r"\w+", names.replace(" and ", " "))
    }
    assert said == {name: resolve(name).default_policy.menu_margin for name in scorer_names()}


def test_the_formula_of_overlap_has_its_weights() -> None:
    fields = ("name", "description", "tags", "body")
    terms = [f"{OVERLAP.weight(field):g}·[in {field}]" for field in fields]
    assert f"({' + '.join(terms)})" in SCORERS


def test_the_points_of_triggers_are_those_of_the_explanation() -> None:
    numbers = {10: TRIGGERS.phrase_points, 20: TRIGGERS.name_points, 1: TRIGGERS.keyword_points}
    assert all(number == points for number, points in numbers.items())
    assert "Ten points for each trigger phrase in the request, twenty when" in SCORERS


def test_the_formulas_of_confidence_have_their_constants() -> None:
    weights = CONFIDENCE
    shares = f"P · {weights.pattern_weight:g} + K · {weights.keyword_weight:g}"
    pattern = (
        f"{AVERAGE_SHARE:g} · A + {COVERAGE_SHARE:g} · max({COVERAGE_FLOOR:g}, min(1, 2·m / n))"
    )
    assert f"{shares} + {AGREEMENT:g} · min(P, K)" in SCORERS
    assert f"{SINGLE_SIGNAL:g} · that one" in SCORERS
    assert f"· {weights.activity_boost:g}, at most 1" in SCORERS
    assert f"P = {pattern}" in SCORERS
    assert f"K   = S / (S + {SATURATION:g})" in SCORERS


def test_the_source_weights_of_keywords_are_those_of_the_code() -> None:
    weight = {source: f"{value:.2f}" for source, value in SOURCES}
    said = (
        f"{weight['name']} for the name,"
        f" {weight['keywords']} for `keywords` and `triggers.keywords`,"
        f" {weight['tags']} for tags, {weight['description']} for the description"
    )
    assert said in SCORERS.replace("\n", " ")


def test_every_row_of_pattern_classes_is_how_its_example_is_classed() -> None:
    rows = _table("pattern class")
    assert len(rows) == 5
    for row in rows:
        assert PatternMatcher().classify(row[2].strip("`")).weight == float(row[1])


def test_the_rules_of_relevance_have_their_values() -> None:
    values = [float(row[0].split(" ")[0]) for row in _table("m")]
    assert values == [
        *(relevance.EXACT_ID, relevance.ALL_IN_ID, relevance.ID_IN_QUERY, relevance.ALL_IN_TITLE),
        *(relevance.ALL_IN_ID_OR_TITLE, relevance.ALL_IN_DESCRIPTION),
        *(relevance.PART_IN_ID_OR_TITLE, relevance.PART_IN_DESCRIPTION, relevance.PART_IN_BODY),
    ]
    points = re.findall(
        r"^    \w[\w ]*?  +([\d.]+)", SCORERS.partition("## relevance")[2], re.MULTILINE
    )
    scorer = relevance.RELEVANCE
    assert [float(number) for number in points] == [
        *(scorer.content_points, scorer.references_points, scorer.match_points),
        *(scorer.popularity_points, scorer.curated_points),
    ]
