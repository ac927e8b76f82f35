"""The Skyll ranking document: every table, example row and rationale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import skillyard as sy
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import catalog, names

BODY = "Step one. Step two. Done."


def remote(slug: str = "x1", body: str | None = BODY, **fields: Any) -> sy.Skill:
    fields.setdefault("title", slug)
    fields.setdefault("description", "")
    return sy.Skill(name=slug, body=body, slug=slug, **fields)


def signals(query: str, skill: sy.Skill, **options: Any) -> dict[str, float]:
    """Return the points of every signal, and their total."""
    (match,) = sy.rank(catalog(skill), query, scorer="relevance", limit=None, **options)
    return {**match.signals, "total": match.score}


GPT = "Autonomous deep research agent with web search and detailed reports"


@requirement("relevance:match-table")
@for_each(
    ("query", "fields", "share"),
    [
        ("gpt-researcher", {"slug": "gpt-researcher"}, 1.0),
        ("GPT researcher", {"slug": "gpt-researcher"}, 1.0),
        ("react performance", {"slug": "react-performance-tuning"}, 0.9),
        ("please build an mcp builder", {"slug": "mcp-builder"}, 0.85),
        ("kubernetes rollout", {"title": "Kubernetes Rollout Guide"}, 0.8),
        ("kubernetes rollout", {"slug": "kubernetes-x1", "title": "Rollout Planner"}, 0.75),
        ("archive newsletter", {"description": "Sort and archive newsletter mail"}, 0.7),
        ("archive violin", {"description": "Sort and archive newsletter mail"}, 0.175),
        ("kubernetes violin", {"body": "Use kubernetes daily."}, 0.075),
        ("kubernetes daily", {"body": "Use kubernetes daily."}, 0.15),
        ("violin", {"body": "Use kubernetes daily."}, 0.0),
    ],
)
def test_each_kind_of_match_has_its_share_of_thirty_points(
    query: str, fields: Any, share: float
) -> None:
    assert signals(query, remote(**fields))["query_match"] == pytest.approx(30 * share)


@requirement("relevance:deep-research")
def test_the_documented_example_gives_21_points_and_a_boost_of_5_6() -> None:
    found = signals("deep research", remote("gpt-researcher", description=GPT, curated=True))
    assert found["query_match"] == pytest.approx(21.0)
    assert found["curated_boost"] == pytest.approx(5.6)
    partial = signals("deep research", remote("gpt-researcher"))
    assert partial["query_match"] == pytest.approx(0.25 * 30)


def popularity(installs: int) -> float:
    return signals("violin", remote(install_count=installs))["popularity"]


@requirement("relevance:curated")
@for_each(
    ("query", "fields", "boost"),
    [
        ("react performance", {"slug": "react-performance-tuning"}, 7.2),
        ("deep research", {"description": GPT}, 5.6),
        ("deep research", {"slug": "gpt-researcher"}, 2.0),
        ("violin", {"slug": "gpt-researcher"}, 0.0),
    ],
)
def test_a_curated_skill_gets_the_boost_of_the_table(query: str, fields: Any, boost: float) -> None:
    assert signals(query, remote(curated=True, **fields))["curated_boost"] == pytest.approx(boost)
    assert signals(query, remote(**fields))["curated_boost"] == 0


TWENTY = [f"word{number:02}" for number in range(20)]
ROWS = [
    # Exact match, popular, with content and references: 40 + 15 + 30 + 15.
    ("pdf", {"slug": "pdf", "references": ["a.md"], "install_count": 10_000}, 100, 0.01),
    # Good match: the row prints 25 for 25.5, and 12 for what about 1,600 installs give.
    ("pdf forms", {"slug": "pdf", "install_count": 1_600}, 77, 0.6),
    # Curated, description match, no installs.
    ("deep research", {"slug": "gpt-x1", "description": GPT, "curated": True}, 66.6, 0.01),
    # Partial match: the row's 15 is where half a point for each known word tends to.
    (" ".join(TWENTY), {"slug": "-".join([*TWENTY[:19], "other"])}, 55, 0.8),
    # No content.
    ("pdf", {"slug": "pdf", "body": None, "install_count": 10_000}, 45, 0.01),
]


@requirement("relevance:example-rows", "relevance:sum")
@for_each(("query", "fields", "total", "rounding"), ROWS)
def test_the_five_example_rows_have_their_totals(
    query: str, fields: Any, total: float, rounding: float
) -> None:
    found = signals(query, remote(**fields), include_references=True)
    assert found["total"] == pytest.approx(total, abs=rounding)


@requirement("relevance:bodyless-last")
def test_a_skill_without_content_is_last_whatever_its_points() -> None:
    popular = remote("pdf", None, install_count=10_000)
    poor = remote("tax-helper")
    found = sy.rank(catalog(popular, poor), "pdf", scorer="relevance")
    assert names(found) == ["tax-helper", "pdf"]
    assert [match.score for match in found] == [40, 45]


@requirement("relevance:rationale")
def test_a_good_match_with_few_installs_outranks_a_poor_one_with_many() -> None:
    good = remote("pdf-forms", install_count=100)
    poor = remote("office-suite", description="Also opens pdf", install_count=10_000)
    found = sy.rank(catalog(poor, good), "pdf forms", scorer="relevance")
    assert names(found) == ["pdf-forms", "office-suite"]


@requirement("relevance:rationale")
def test_a_curated_skill_that_does_not_match_gets_no_nudge() -> None:
    curated, plain = remote("a-curated", curated=True), remote("b-plain", install_count=1)
    assert names(sy.rank(catalog(curated, plain), "violin", scorer="relevance")) == [
        "b-plain",
        "a-curated",
    ]


@requirement("relevance:window")
def test_only_the_first_two_thousand_characters_of_a_body_match() -> None:
    inside = remote(body="pad " * 498 + "ab zq7x9")  # ends with character 2,000
    cut = remote(body="pad " * 498 + "abc zq7x9")
    outside = remote(body="pad " * 500 + "zq7x9")
    found = [signals("zq7x9", one)["query_match"] for one in (inside, cut, outside)]
    assert found == [pytest.approx(4.5), 0, 0]


@requirement("relevance:limit")
def test_ten_results_come_back_by_default_matching_or_not() -> None:
    many = catalog(*[remote(f"skill-{number:02}") for number in range(12)])
    assert len(sy.rank(many, "violin", scorer="relevance")) == 10
    assert len(sy.select(many, "violin", scorer="relevance").selected) == 10


class LongestDescription:
    """A custom ranker in the documented form: it sets the score and sorts by it."""

    def rank(
        self, skills: Sequence[Any], query: str = "", include_references: bool = False
    ) -> list[Any]:
        for skill in skills:
            skill.relevance_score = len(skill.description)
        return sorted(skills, key=lambda s: s.relevance_score, reverse=True)


@requirement("relevance:custom-ranker")
def test_an_object_with_the_documented_rank_method_ranks() -> None:
    skills = catalog(remote("a", description="Short."), remote("b", description="Much longer."))
    found = sy.rank(skills, "anything", scorer=LongestDescription())
    assert names(found) == ["b", "a"]
    assert [match.score for match in found] == [12, 6]
