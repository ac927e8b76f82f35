"""Selection: the policy, what is chosen, what is not and why, the menu, and the fallback."""

from __future__ import annotations

from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.ranking.hybrid import HYBRID
from skillyard.engine.selection import bounds, survivors
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import catalog, names, skill


class TestPolicy:
    @for_each(
        ("fields", "named"),
        [
            ({"top_k": -1}, "top_k"),
            ({"top_k": True}, "top_k"),
            ({"top_k": 1.0}, "top_k"),
            ({"min_score": "1"}, "min_score"),
            ({"min_score": True}, "min_score"),
            ({"min_score": float("nan")}, "min_score"),
            ({"include_tags": "ops"}, "include_tags"),
            ({"exclude_tags": [5]}, "exclude_tags"),
            ({"fallback_tag": 5}, "fallback_tag"),
            ({"wrong_cost": 0}, "wrong_cost"),
            ({"wrong_cost": float("inf")}, "wrong_cost"),
            ({"wrong_cost": float("nan")}, "wrong_cost"),
            ({"wrong_cost": 2, "min_score": 0.5}, "wrong_cost"),
        ],
    )
    def test_a_wrong_value_is_refused_by_name(self, fields: dict[str, Any], named: str) -> None:
        with pytest.raises(sy.errors.InvalidInput, match=named):
            sy.SelectionPolicy(**fields)


class TestSelect:
    def test_the_others_come_best_first_with_the_reason_they_were_left(self) -> None:
        skills = catalog(
            skill("deploy"), skill("deploy-docs"), skill("aa", "deploy"),
            skill("bb", "q", "deploy " + " ".join("abcdefgh")), skill("zz"),
        )  # fmt: skip
        selection = sy.select(skills, "deploy", scorer="overlap")
        assert [(match.skill.name, match.rejected_because) for match in selection.rejected] == [
            ("deploy-docs", "beyond the first 1"),
            ("aa", "beyond the first 1"),
            ("bb", "below the floor of 1"),
        ]
        assert "rejected_because" not in selection.selected[0].to_dict()
        assert selection.rejected[0].to_dict()["rejected_because"] == "beyond the first 1"

    @for_each(
        ("query", "policy"),
        [
            (sy.Query(include_tags=("ops",)), sy.SelectionPolicy(min_score=0)),
            (sy.Query(), sy.SelectionPolicy(min_score=0, include_tags=("ops",))),
        ],
    )
    def test_tags_alone_may_say_what_is_wanted(
        self, query: sy.Query, policy: sy.SelectionPolicy
    ) -> None:
        skills = catalog(skill("b", tags=["ops"]), skill("a", tags=["ops"]), skill("c"))
        assert names(sy.select(skills, query, policy, scorer="overlap").selected) == ["a"]
        assert names(sy.select(skills, query, policy).selected) == ["a", "b"]

    def test_the_tags_of_policy_and_query_come_together(self) -> None:
        skills = catalog(
            skill("a", "bills", tags=["x"]),
            skill("b", "bills", tags=["x", "y"]),
            skill("c", "bills", tags=["x", "y", "z"]),
        )
        query = sy.Query("bills", include_tags=("x",))
        policy = sy.SelectionPolicy(5, include_tags=("y",), exclude_tags=("z",))
        for scorer in ("overlap", "hybrid"):
            wanted = policy.replace(min_score=0.01)
            assert names(sy.select(skills, query, wanted, scorer=scorer).selected) == ["b"]


class TestMenu:
    def test_the_question_names_titles_or_names(self) -> None:
        skills = catalog(skill("s1", "bills", title="First"), skill("s2", "bills"))
        assert sy.context.menu_text(sy.select(skills, "bills", scorer="overlap")) == (
            "Several skills could help. Which one should be used: **First** or **s2**?"
        )
        three = catalog(*(skill(f"s{n}", "bills") for n in range(3)))
        chosen = sy.select(three, "bills", scorer="overlap")
        assert "**s0**, **s1** or **s2**?" in sy.context.menu_text(chosen)


class TestFallback:
    SKILLS = catalog(
        skill("b-general", tags=["general"], allowed_tools=["Bash"]),
        skill("c-general", tags=["General"]),
        skill("deploy", tags=["ops"]),
    )
    POLICY = sy.SelectionPolicy(fallback_tag="general")

    def test_one_with_tools_is_taken_where_there_is_no_other(self) -> None:
        policy = sy.SelectionPolicy(fallback_tag="general")
        only = catalog(skill("b", tags=["general"], allowed_tools=["Bash"]))
        assert names(sy.select(only, "unheard of", policy).selected) == ["b"]


def test_survivors_are_all_that_pass_best_first_whatever_the_count() -> None:
    skills = catalog(skill("deploy"), skill("a", "deploy"), skill("zz"))
    found = list(survivors(skills, "deploy", sy.SelectionPolicy(top_k=1), scorer="overlap"))
    assert names(found) == ["deploy", "a"]
    assert list(survivors(skills, sy.Query(""), scorer="overlap")) == []


@for_each("scorer", ["overlap", "triggers", "relevance"])
@for_each("text", ["!!!", " \n", "…"])
def test_a_request_without_a_word_selects_nothing_whatever_the_floor(
    text: str, scorer: str
) -> None:
    skills = [sy.Skill("a", "b", "c")]
    policy = sy.SelectionPolicy(min_score=0, top_k=5)
    assert sy.select(skills, text, policy, scorer=scorer).selected == ()


@requirement("selection:bounds")
class TestBoundsBesideThePolicy:
    SKILLS = catalog(*(skill(f"s{number}", "bills") for number in range(4)))

    def test_they_stand_for_the_fields_that_the_policy_leaves_open(self) -> None:
        policy = sy.SelectionPolicy(exclude_tags=["odd"])
        for given in (None, policy):
            taken = sy.select(self.SKILLS, "bills", given, "overlap", min_score=0.5, top_k=2)
            assert [match.skill.name for match in taken.selected] == ["s0", "s1"]
            assert sy.select(self.SKILLS, "bills", given, "overlap", min_score=1e6).abstained
        both = sy.SelectionPolicy(top_k=3)
        assert len(sy.select(self.SKILLS, "bills", both, "overlap", min_score=0.5).selected) == 3

    @for_each("field", ["min_score", "top_k"])
    def test_a_bound_that_the_policy_has_as_well_is_refused(self, field: str) -> None:
        bound: dict[str, Any] = {field: 1}
        given: dict[str, Any] = {"policy": sy.SelectionPolicy(**bound), **bound}
        with pytest.raises(sy.errors.InvalidInput, match=f"{field} is given twice"):
            sy.select(self.SKILLS, "bills", **given)
        with pytest.raises(sy.errors.InvalidInput, match=f"{field} is given twice"):
            sy.inject("bills", self.SKILLS, **given)
        with pytest.raises(sy.errors.InvalidInput, match=f"{field} is given twice"):
            sy.select_prompt_block(self.SKILLS, "bills", **given)


class TestWrongCost:
    """What a wrong skill costs sets the floor, where scores are probabilities."""

    @for_each(("cost", "least"), [(None, 2 / 3), (2, 2 / 3), (1, 0.5), (4, 0.8), (0.25, 0.2)])
    def test_the_floor_is_where_both_mistakes_cost_the_same(
        self, cost: float | None, least: float
    ) -> None:
        given, _ = bounds(sy.SelectionPolicy(wrong_cost=cost), HYBRID)
        assert given == pytest.approx(least)
        if cost is not None:
            assert (1 - given) * cost == pytest.approx(given)

    def test_a_question_pays_from_a_lower_probability_on_and_moves_with_the_cost(self) -> None:
        skills = catalog(
            skill("csv-cleaning", "Repairs messy CSV files."), skill("haiku", "Verse.")
        )
        best, *_ = sy.rank(skills, "csv")
        odds = best.score / (1 - best.score)
        for cost, verdict in ((odds * 0.9, "selected"), (odds * 1.1, "maybe"), (odds * 7, "none")):
            selection = sy.select(skills, "csv", sy.SelectionPolicy(wrong_cost=cost))
            chosen = {"selected": selection.selected, "maybe": selection.maybe}
            assert [name for name, matches in chosen.items() if matches] == (
                [] if verdict == "none" else [verdict]
            )

    def test_scores_that_are_no_probabilities_have_no_costs(self) -> None:
        with pytest.raises(sy.errors.InvalidInput, match=r"overlap.*give min_score"):
            sy.select([skill("csv")], "csv", sy.SelectionPolicy(wrong_cost=2), scorer="overlap")
