"""Policies, the record of a choice, the menu, the fallback and explicit calls."""

from __future__ import annotations

import pytest

import skillyard as sy
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import catalog, names, skill


@requirement("selection:record")
def test_a_selection_tells_the_chosen_from_the_rejected() -> None:
    skills = catalog(
        skill("deploy", "Deploy the app."), skill("b", "Deploy."), skill("c", "Other things.")
    )
    selection = sy.select(skills, "deploy", scorer="overlap")
    assert names(selection.selected) == ["deploy"]
    assert "b" in names(selection.rejected)
    assert not set(names(selection.rejected)) & set(names(selection.selected))
    assert selection.considered == 3
    assert not selection.abstained
    assert not selection.fallback


@requirement("selection:tags")
def test_include_tags_are_any_of_and_exclude_tags_win() -> None:
    skills = catalog(
        skill("a", "deploy", tags=["Ops"]),
        skill("b", "deploy", tags=["prod"]),
        skill("c", "deploy", tags=["cloud-ops"]),
        skill("d", "deploy", tags=["ops", "legacy"]),
    )
    policy = sy.SelectionPolicy(
        top_k=9, include_tags=("ops", "prod"), exclude_tags=("LEGACY",), min_score=0.1
    )
    assert names(sy.select(skills, "deploy", policy, scorer="overlap").selected) == ["a", "b"]


@requirement("selection:tags")
def test_a_ranking_takes_the_same_tag_filters() -> None:
    skills = catalog(skill("a", "deploy", tags=["ops"]), skill("b", "deploy", tags=["docs"]))
    only = sy.rank(skills, "deploy", scorer="overlap", include_tags=["ops"])
    without = sy.rank(skills, "deploy", scorer="overlap", exclude_tags=["ops"])
    assert (names(only), names(without)) == (["a"], ["b"])


GENERALIST = skill("generalist", "General help.", "Answer politely.", tags=["fallback", "general"])
TAX = skill("tax", "File a tax return.", "Collect forms.", tags=["tax"])


RECOVERY = skill("account-recovery", "Recover an account.")
UPDATE = skill("security-update", "Update account security.")
REQUEST = "recover my account security"  # nine points for each of the two


@requirement("selection:menu")
def test_skills_with_close_scores_are_offered_as_a_menu() -> None:
    selection = sy.select(catalog(RECOVERY, UPDATE, TAX), REQUEST, scorer="overlap")
    assert names(selection.menu) == ["account-recovery", "security-update"]
    question = sy.context.menu_text(selection)
    assert "account-recovery" in question
    assert "security-update" in question
    assert "tax" not in question


@requirement("selection:menu")
def test_a_menu_names_three_skills_at_most_and_none_below_the_floor() -> None:
    many = catalog(*[skill(letter, "deploy") for letter in "edcba"])
    assert names(sy.select(many, "deploy", scorer="overlap").menu) == ["a", "b", "c"]
    weak = catalog(*[skill(letter, body="deploy it now please") for letter in "ab"])
    assert sy.select(weak, "deploy", scorer="overlap").menu == ()


@requirement("selection:fallback")
def test_the_generalist_answers_when_nothing_passes_and_a_fallback_is_asked_for() -> None:
    policy = sy.SelectionPolicy(fallback_tag="fallback")
    lost = sy.select(catalog(GENERALIST, TAX), "weather on mars", policy, scorer="overlap")
    assert names(lost.selected) == ["generalist"]
    assert lost.fallback
    assert not lost.abstained
    found = sy.select(catalog(GENERALIST, TAX), "tax return", policy, scorer="overlap")
    assert names(found.selected) == ["tax"]
    assert not found.fallback


@requirement("selection:no-fallback")
def test_without_a_fallback_tag_nothing_is_selected() -> None:
    selection = sy.select(catalog(GENERALIST, TAX), "weather on mars", scorer="overlap")
    assert selection.selected == ()
    assert selection.abstained
    assert not selection.fallback


WIPE = skill("wipe-db", "Wipe the database.", trigger=True)
QUERY = skill("query-db", "Query the database.")


@requirement("selection:hidden")
@for_each("scorer", ["overlap", "triggers", "confidence", "relevance"])
def test_a_hidden_skill_is_never_chosen_automatically(scorer: str) -> None:
    policy = sy.SelectionPolicy(top_k=5, min_score=0.0)
    skills = catalog(WIPE, QUERY)
    selection = sy.select(skills, "wipe db: wipe the database", policy, scorer=scorer)
    assert "wipe-db" not in names(selection.selected)


@requirement("selection:called")
@for_each("call", ["@wipe-db please", "please run /wipe-db", "@wipe-db"])
def test_calling_a_hidden_skill_by_name_makes_it_a_candidate(call: str) -> None:
    policy = sy.SelectionPolicy(top_k=5)
    selection = sy.select(catalog(WIPE, QUERY), call, policy, scorer="overlap")
    assert names(selection.selected) == ["wipe-db", "query-db"]
    # name (2 x 4.0) and description (2.5 for "wipe"): its ordinary score.
    assert selection.selected[0].score == pytest.approx(10.5)


@requirement("scorer:names")
def test_a_wrong_scorer_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(LookupError) as caught:
        sy.rank(catalog(TAX), "tax", scorer="overlapp")
    for known in ("overlap", "triggers", "confidence", "relevance"):
        assert known in str(caught.value)
