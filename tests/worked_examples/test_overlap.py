"""The scoring section of the adk-skill document, example by example."""

from __future__ import annotations

from math import sqrt
from typing import Any

import pytest

import skillyard as sy
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import catalog, names, ranked, skill


def score(query: str, **fields: Any) -> float:
    """Return the overlap score of one skill for the query."""
    found = ranked("overlap", query, skill(**fields))
    return found[0].score if found else 0.0  # a ranking may leave out what scores nothing


@pytest.mark.parametrize(
    ("fields", "points"),
    [
        pytest.param({"name": "invoice"}, 4.0, marks=requirement("overlap:weights:name")),
        pytest.param(
            {"description": "An invoice."}, 2.5, marks=requirement("overlap:weights:description")
        ),
        pytest.param({"tags": ["invoice"]}, 2.0, marks=requirement("overlap:weights:tags")),
        pytest.param({"body": "invoice"}, 1.0, marks=requirement("overlap:weights:body")),
    ],
)
def test_a_query_token_in_one_field_adds_its_weight(fields: Any, points: float) -> None:
    assert score("invoice", **fields) == pytest.approx(points)


SIXTEEN_WORDS = " ".join(f"w{number}" for number in range(16))


@requirement("overlap:bands")
@for_each(
    ("query", "fields", "raw", "level"),
    [
        ("invoice", {"body": "send the invoice today"}, 0.5, "trace"),
        ("invoice", {"name": "invoice", "body": SIXTEEN_WORDS + " w16"}, 4 / sqrt(17), "trace"),
        ("invoice", {"body": "invoice"}, 1.0, "broad"),
        ("invoice", {"tags": ["invoice"]}, 2.0, "broad"),
        (
            "invoice tax",
            {"name": "invoice-tax", "tags": ["tax"], "body": SIXTEEN_WORDS + " w16"},
            10 / sqrt(17),
            "broad",
        ),
        ("invoice", {"description": "invoice"}, 2.5, "specific"),
        ("invoice", {"name": "invoice"}, 4.0, "specific"),
        ("invoice", {"description": "invoice", "tags": ["invoice"]}, 4.5, "specific"),
        ("invoice", {"name": "invoice", "body": "invoice"}, 5.0, "high"),
        ("invoice", {"name": "invoice", "description": "invoice"}, 6.5, "high"),
    ],
)
def test_a_raw_score_has_the_level_of_its_documented_band(
    query: str, fields: Any, raw: float, level: str
) -> None:
    (match,) = ranked("overlap", query, skill(**fields))
    assert match.score == pytest.approx(raw, abs=1e-6)
    assert match.level == level


@requirement("overlap:defaults", "selection:policy-defaults")
def test_the_default_policy_takes_one_skill_from_a_score_of_one() -> None:
    two = catalog(
        skill("a", description="deploy"), skill("b", description="deploy", tags=["deploy"])
    )
    for policy in (None, sy.SelectionPolicy()):
        assert names(sy.select(two, "deploy", policy, scorer="overlap").selected) == ["b"]
    weak = catalog(skill("a", body="deploy it now please"), skill("b", body="deploy"))
    assert names(sy.select(weak, "deploy", scorer="overlap").selected) == ["b"]
    assert names(
        sy.select(weak, "deploy", sy.SelectionPolicy(top_k=5), scorer="overlap").selected
    ) == ["b"]


@requirement("overlap:ties")
def test_ties_are_ordered_by_name_then_by_path() -> None:
    tied = [
        skill("beta", description="deploy", path=".skills/1.md"),
        skill("alpha", description="deploy", path=".skills/3.md"),
        skill("alpha", description="deploy", path=".skills/2.md"),
        skill("Zeta", description="deploy", path=".skills/4.md"),
    ]
    order = [match.skill.path for match in ranked("overlap", "deploy", *tied)]
    assert order == [".skills/4.md", ".skills/2.md", ".skills/3.md", ".skills/1.md"]


@requirement("overlap:empty-query")
@for_each("query", ["", "  \n", "?!…", "数据库"])
def test_a_query_without_tokens_selects_nothing_at_the_default_floor(query: str) -> None:
    selection = sy.select(catalog(skill("deploy")), query, scorer="overlap")
    assert selection.selected == ()
    assert selection.abstained


@requirement("overlap:examples", "overlap:stable")
def test_an_emergency_skill_has_high_confidence_for_a_gas_leak() -> None:
    emergency = skill(
        "gas-leak-triage", "Triage a gas leak.", "Evacuate. Call.", tags=["emergency"]
    )
    office = skill("office-hours", "Say when the office is open.", "Nine to five.")
    (match,) = sy.select(catalog(office, emergency), "gas leak", scorer="overlap").selected
    assert match.skill == emergency
    assert match.score > 5.0
    assert match.level == "high"


@requirement("overlap:examples")
def test_the_quick_start_finds_the_skill_for_todo_markers() -> None:
    skills = catalog(
        skill("repo-search", "Find TODO markers and definitions.", "Use a fast text search first."),
        skill("release-notes", "Write release notes.", "Group the changes by area."),
    )
    policy = sy.SelectionPolicy(top_k=1, min_score=0.1, include_tags=(), exclude_tags=())
    selection = sy.select(skills, "find TODO markers in code", policy, scorer="overlap")
    assert names(selection.selected) == ["repo-search"]


@requirement("overlap:examples", "selection:gatekeeper")
def test_plumbing_at_four_and_a_half_is_discarded_when_five_are_asked_for() -> None:
    plumbing = catalog(skill("pipes", "Plumbing help.", tags=["plumbing"]))
    (match,) = sy.rank(plumbing, "plumbing", scorer="overlap")
    assert match.score == pytest.approx(4.5)
    strict = sy.select(plumbing, "plumbing", sy.SelectionPolicy(min_score=5.0), scorer="overlap")
    assert strict.selected == ()
    assert names(strict.rejected) == ["pipes"]


@requirement("overlap:steering")
def test_a_concise_body_outranks_a_long_one_with_equal_metadata() -> None:
    long = skill("a-long", "Fix a leak.", SIXTEEN_WORDS)
    short = skill("b-short", "Fix a leak.", "Call now.")
    assert names(ranked("overlap", "fix leak", long, short)) == ["b-short", "a-long"]


@requirement("overlap:steering")
def test_a_word_steers_more_in_the_name_than_in_the_description_than_in_the_tags() -> None:
    skills = [
        skill("c", tags=["drainage"]),
        skill("b", "Repair drainage."),
        skill("drainage"),
        skill("d", body="drainage"),
    ]
    assert names(ranked("overlap", "drainage", *skills)) == ["drainage", "b", "c", "d"]


@requirement("overlap:stable", "catalog:id")
def test_the_same_file_keeps_its_id_and_score_and_a_changed_one_gets_another_id() -> None:
    first, again = skill("deploy", body="Ship it."), skill("deploy", body="Ship it.")
    changed = skill("deploy", body="Ship it now.")
    assert first.id == again.id
    assert first.id != changed.id
    assert score("deploy", name="deploy") == score("deploy", name="deploy")
    assert first.id is not None
    assert first.id.startswith("deploy-")
    assert len(first.id) == len("deploy-") + 12
