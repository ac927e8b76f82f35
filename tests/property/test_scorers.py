"""Laws that every scorer keeps: the score is the explanation, and the order is only the skills'."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillyard as sy
from skillyard.engine.ranking.match import in_order
from skillyard.engine.ranking.registry import resolve
from skillyard.engine.ranking.scorer import level_of
from skillyard.scorers import Scored
from tests.property.strategies import few, queries, skills

SCORERS = ["confidence", "overlap", "relevance", "triggers"]
CORPUS_FREE = ["overlap", "relevance", "triggers"]

each_scorer = pytest.mark.parametrize("name", SCORERS)


def prepared(name: str, listed: list[sy.Skill], query: sy.Query) -> Scored:
    return resolve(name).bind(listed).prepare(query)


def by_path(scored: Scored) -> dict[str, float]:
    return {skill.path: score for skill, score in scored.scores()}


def holds_together(node: sy.scorers.Explanation) -> None:
    """Fail unless every node follows from its parts as its ``op`` says."""
    values = [part.value for part in node.parts]
    if node.op == "sum" and values:
        assert sum(values) == pytest.approx(node.value, abs=1e-9)
    elif node.op == "max":
        assert max(values) == pytest.approx(node.value, abs=1e-9)
    elif node.op == "product":
        product = 1.0
        for value in values:
            product *= value
        assert product == pytest.approx(node.value, abs=1e-9)
    elif node.op == "leaf":
        assert not node.parts
    elif node.op == "calibration":
        assert len(node.parts) == 1
    for part in node.parts:
        holds_together(part)


@each_scorer
@few
@given(skills(), queries)
def test_the_score_is_the_value_of_the_explanation_to_the_last_bit(
    name: str, listed: list[sy.Skill], query: sy.Query
) -> None:
    scored = prepared(name, listed, query)
    scores = by_path(scored)
    for skill in listed:
        tree = scored.explain(skill)
        assert tree.value == scores.get(skill.path, 0.0)
        assert sum(part.value for part in tree.raw().parts) == pytest.approx(
            tree.raw().value, abs=1e-9
        )


@each_scorer
@few
@given(skills(), queries)
def test_every_node_of_an_explanation_follows_from_its_parts(
    name: str, listed: list[sy.Skill], query: sy.Query
) -> None:
    scored = prepared(name, listed, query)
    for skill in listed:
        holds_together(scored.explain(skill))


@each_scorer
@few
@given(skills(), queries, st.randoms(use_true_random=False))
def test_the_order_of_the_skills_changes_nothing(
    name: str, listed: list[sy.Skill], query: sy.Query, random: Any
) -> None:
    shuffled = list(listed)
    random.shuffle(shuffled)
    one, two = prepared(name, listed, query), prepared(name, shuffled, query)
    assert by_path(one) == by_path(two)
    assert in_order(list(one.scores()), one) == in_order(list(two.scores()), two)
    ranked = [
        sy.rank(group, query.text, files=query.files, scorer=name, limit=None)
        for group in (listed, shuffled)
    ]
    assert ranked[0] == ranked[1]


@pytest.mark.parametrize("name", CORPUS_FREE)
@few
@given(skills(min_size=1), skills(max_size=3), queries)
def test_a_further_skill_changes_no_score_and_no_order_of_the_others(
    name: str, listed: list[sy.Skill], more: list[sy.Skill], query: sy.Query
) -> None:
    others = [sy.Skill(s.name, s.description, s.body, f"x{n}") for n, s in enumerate(more)]
    alone, together = prepared(name, listed, query), prepared(name, [*others, *listed], query)
    known = {skill.path for skill in listed}
    assert {path: v for path, v in by_path(together).items() if path in known} == by_path(alone)
    order = [skill.path for skill, _ in in_order(list(together.scores()), together)]
    assert [path for path in order if path in known] == [
        skill.path for skill, _ in in_order(list(alone.scores()), alone)
    ]


@each_scorer
@few
@given(skills(), queries)
def test_scores_are_finite_listed_once_and_within_their_scale(
    name: str, listed: list[sy.Skill], query: sy.Query
) -> None:
    scorer = resolve(name)
    scored = scorer.bind(listed).prepare(query)
    pairs = list(scored.scores())
    places = [listed.index(skill) for skill, _ in pairs]
    assert places == sorted(set(places))
    for skill, score in pairs:
        assert 0.0 <= score < float("inf")
        assert scorer.scale != "0..1" or score <= 1.0
        assert (level_of(scorer.levels, score) is None) == (not scorer.levels)
        assert isinstance(scored.reason(skill), str)


@each_scorer
@few
@given(skills(), queries, st.integers(0, 4), st.one_of(st.none(), st.floats(-1, 60)))
def test_a_selection_keeps_its_policy_and_is_the_head_of_the_ranking(
    name: str, listed: list[sy.Skill], query: sy.Query, top_k: int, floor: float | None
) -> None:
    policy = sy.SelectionPolicy(top_k, floor)
    selection = sy.select(listed, query, policy, scorer=name)
    least = resolve(name).default_policy.min_score if floor is None else floor
    assert len(selection.selected) <= top_k
    assert all(match.score >= least for match in selection.selected)
    assert selection.abstained == (not selection.selected)
    chosen = [match.skill.path for match in selection.selected]
    rejected = [match.skill.path for match in selection.rejected]
    assert not set(chosen) & set(rejected)
    assert all(match.rejected_because for match in selection.rejected)
    assert selection.considered <= len(listed)
    again = sy.select(list(reversed(listed)), query, policy, scorer=name)
    assert again == selection
