"""The overlap scorer: tokens, the sum by fields, the divisor, and the tree behind a score."""

from __future__ import annotations

from math import sqrt

import pytest

import skillyard as sy
from skillyard import Scored
from skillyard.engine.ranking.overlap import OVERLAP, Overlap, tokens
from tests.tables import for_each
from tests.worked_examples.making import skill


def score(query: str, *skills: sy.Skill, scorer: Overlap = OVERLAP) -> Scored:
    return scorer.bind(skills).prepare(sy.Query(query))


@for_each(
    ("text", "found"),
    [
        ("", []),
        ("Hello, World-2!", ["hello", "world", "2"]),
        ("snake_case camelCase", ["snake", "case", "camelcase"]),
        ("naïve café", ["na", "ve", "caf"]),
        ("数据 a1", ["a1"]),
        ("\ud800x", ["x"]),
        ("AZaz09[`{@", ["azaz09"]),
    ],
)
def test_tokens_are_runs_of_ascii_letters_and_digits(text: str, found: list[str]) -> None:
    assert tokens(text) == found


def test_every_field_counts_once_for_each_occurrence_in_the_query() -> None:
    one = skill("deploy", "Deploy it.", "deploy deploy x y", tags=("deploy-now", "deploy"))
    scored = score("deploy deploy it zz", one)
    ((found, value),) = scored.scores()
    raw = 2 * (4.0 + 2.5 + 2.0 + 1.0) + 2.5
    assert (found, value) == (one, raw / sqrt(3))
    tree = scored.explain(one)
    assert tree.value == value
    assert [part.label for part in tree.parts] == ["name", "description", "tags", "body"]
    assert tree.parts[0].note == "deploy ×2"
    assert tree.parts[1].note == "deploy ×2, it"
    assert tree.note == f"21.5 / sqrt(3 unique body tokens) = 21.5 / {sqrt(3):.3f}"


def test_each_part_is_the_product_of_what_stands_below_it() -> None:
    one = skill("deploy", "Deploy it.", "deploy deploy x y", tags=("deploy",))
    for part in score("deploy it", one).explain(one).parts:
        product = 1.0
        for factor in part.parts:
            product *= factor.value
        assert product == pytest.approx(part.value, abs=1e-12)


def test_a_skill_that_holds_no_token_has_no_score_and_an_empty_tree() -> None:
    one = skill("deploy")
    scored = score("nothing here", one)
    assert scored.scores() == []
    assert (scored.explain(one).value, scored.explain(one).parts) == (0.0, ())
    assert scored.reason(one) == ""


def test_its_constants_can_be_set_and_are_those_of_the_document() -> None:
    one = skill("deploy", "deploy", "deploy", tags=("deploy",))
    own = Overlap(name_weight=1, description_weight=0, tags_weight=0, body_weight=0)
    assert score("deploy", one, scorer=own).scores() == [(one, 1.0)]
    assert [OVERLAP.weight(field) for field in ("name", "description", "tags", "body")] == [
        4.0,
        2.5,
        2.0,
        1.0,
    ]
    assert Overlap() == OVERLAP
    assert hash(Overlap()) == hash(OVERLAP)


def test_no_skills_and_no_query_give_no_scores() -> None:
    assert score("x").scores() == []
    assert score("", skill()).scores() == []
