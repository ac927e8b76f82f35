"""Feedback moves a skill for similar requests only, and never beyond what one judgement may."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillyard import Catalog, Query, Skill
from skillyard.engine.ranking.hybrid.constants import (
    CALIBRATION,
    FEEDBACK_LOG_ODDS,
    FEEDBACK_POINTS,
    RELIABILITY,
)
from skillyard.engine.ranking.hybrid.scorer import HYBRID, ScoredHybrid
from skillyard.engine.ranking.hybrid.user_feedback import CLIENT_SHARE
from skillyard.engine.selection import select
from skillyard.types import SkillFeedback

REQUEST = "extract the tables from this pdf file"
LIKE_IT = "get the tables out of a pdf"
OTHER = "find which commit broke the build"


def skill(name: str, description: str, **fields: object) -> Skill:
    return Skill(name=name, description=description, path=f"{name}/SKILL.md", body="", **fields)  # type: ignore[arg-type]


CATALOG = Catalog.from_skills(
    [
        skill("pdf-tables", "Extracts tables from PDF files into CSV."),
        skill("pdf-forms", "Fills in forms in PDF files.", tags=["forms"]),
        skill("unit-tests", "Writes unit tests for Python code."),
        skill("git-bisect", "Finds the commit that broke the build."),
        skill("trip-plans", "Plans trips with trains and hotels."),
    ]
)
BOUND = HYBRID.bind(CATALOG)


def wrong(slug: str, request: str = REQUEST, **fields: bool) -> SkillFeedback:
    return SkillFeedback(slug, request, right=False, **fields)


def right(slug: str, request: str = REQUEST, **fields: bool) -> SkillFeedback:
    return SkillFeedback(slug, request, right=True, **fields)


def scored(text: str, *feedback: SkillFeedback, **fields: object) -> ScoredHybrid:
    return BOUND.prepare(Query(text, feedback=feedback, **fields))  # type: ignore[arg-type]


def scores(text: str, *feedback: SkillFeedback) -> dict[str, float]:
    return {each.slug: score for each, score in scored(text, *feedback).scores()}


def test_feedback_on_other_requests_changes_no_bit() -> None:
    before = scores(REQUEST)
    assert scores(REQUEST, wrong("pdf-tables", OTHER), right("git-bisect", OTHER)) == before
    assert scores(REQUEST, right("no-such-skill"), wrong("")) == before


def test_wrong_lowers_and_right_raises_a_skill_for_a_request_in_other_words() -> None:
    before, after = scores(LIKE_IT), scores(LIKE_IT, wrong("pdf-tables"))
    assert after["pdf-tables"] < before["pdf-tables"]
    assert scores(LIKE_IT, right("pdf-forms"))["pdf-forms"] > before["pdf-forms"]
    assert scores(LIKE_IT, wrong("pdf-tables"), right("pdf-tables")) == before


def test_one_judgement_is_worth_its_likelihood_ratio_for_the_same_request() -> None:
    before, after = scored(REQUEST), scored(REQUEST, right("pdf-tables"))
    assert after.log_odds - before.log_odds == pytest.approx(log(4.0))
    # Points cost the skills behind the best one as much, within a hundredth.
    assert CALIBRATION.gap * FEEDBACK_POINTS == pytest.approx(FEEDBACK_LOG_ODDS, abs=0.01)
    assert RELIABILITY == 0.8


def test_a_skill_that_is_called_by_name_is_selected_in_spite_of_feedback() -> None:
    text = "@pdf-tables extract the tables"
    chosen = select(CATALOG, Query(text, feedback=(wrong("pdf-tables", text),)))
    assert chosen.selected[0].skill.slug == "pdf-tables"


judgements = st.builds(
    SkillFeedback,
    st.sampled_from([each.slug for each in CATALOG.skills]),
    st.sampled_from([REQUEST, LIKE_IT, OTHER, "", "thanks", "表を抽出する"]),
    st.booleans(),
    st.booleans(),
)


@example([SkillFeedback("unit-tests", REQUEST, False)], REQUEST)
@example(
    [SkillFeedback("git-bisect", OTHER, True), SkillFeedback("trip-plans", OTHER, False)], OTHER
)
@given(st.lists(judgements, max_size=12), st.sampled_from([REQUEST, LIKE_IT, OTHER, "thanks"]))
def test_any_feedback_stays_within_the_limits(feedback: list[SkillFeedback], text: str) -> None:
    before, after = scored(text), scored(text, *feedback)
    plain = before.totals
    for ordinal, total in after.totals.items():
        assert abs(total - plain.get(ordinal, 0.0)) <= FEEDBACK_POINTS + 1e-9
    if before.best == after.best:
        assert abs(after.log_odds - before.log_odds) <= FEEDBACK_LOG_ODDS + 1e-9


@given(st.lists(judgements, max_size=12), st.sampled_from([REQUEST, LIKE_IT, OTHER]))
def test_the_score_is_the_value_of_its_explanation(
    feedback: list[SkillFeedback], text: str
) -> None:
    answer = scored(text, *feedback)
    for each, score in answer.scores():
        tree = answer.explain(each)
        assert tree.value == pytest.approx(score, abs=1e-12)
        assert sum(part.value for part in tree.raw().parts) == pytest.approx(tree.raw().value)
        odds = tree.parts[1]
        assert sum(part.value for part in odds.parts) == pytest.approx(odds.value)
        assert answer.signals(each).get("feedback", 0.0) == pytest.approx(
            sum(part.value for part in tree.raw().parts if part.label == "feedback")
        )


def test_a_flood_of_a_client_moves_a_skill_by_a_twentieth_of_one_judgement_of_the_user() -> None:
    flood = [wrong("pdf-tables", text, from_client=True) for text in [REQUEST, LIKE_IT] * 500]
    before, after = scored(REQUEST), scored(REQUEST, *flood)
    assert before.log_odds - after.log_odds == pytest.approx(CLIENT_SHARE * FEEDBACK_LOG_ODDS)
    own = scored(REQUEST, *flood, right("pdf-tables"))
    assert own.log_odds > before.log_odds


def test_the_explanation_and_the_reason_name_it() -> None:
    answer = scored(REQUEST, wrong("pdf-tables"))
    target = next(each for each in CATALOG.skills if each.slug == "pdf-tables")
    assert "feedback: wrong for a similar request" in answer.reason(target)
    labels = {part.label: part for part in answer.explain(target).raw().parts}
    assert labels["feedback"].value == pytest.approx(-FEEDBACK_POINTS)
