"""The plugin, tested as its users get it: by name, through skillyard."""

from __future__ import annotations

import asyncio

import pytest
from skillyard_example_plugin.scorer import NAME_WORDS
from skillyard_example_plugin.source import open_handbook

import skillyard as sy

CATALOG = sy.Catalog.from_skills(
    [
        sy.Skill("plan-review", "Reviews a plan.", "Read it."),
        sy.Skill("meal-planning", "Plans meals.", "Cook."),
    ]
)


def test_skillyard_knows_the_scorer_by_name():
    assert "name-words" in sy.scorers.scorer_names()


def test_the_score_is_the_share_of_the_name_and_the_value_of_the_explanation():
    (match,) = sy.rank(CATALOG, "review this", scorer="name-words")
    assert (match.skill.name, match.score, match.level) == ("plan-review", 0.5, "half")
    assert match.explanation.value == match.score
    assert [part.label for part in match.explanation.parts] == ["review"]


def test_a_request_without_a_word_of_a_name_selects_nothing():
    assert sy.select(CATALOG, "hello", scorer=NAME_WORDS).abstained


def test_the_source_is_searched_by_name_and_brings_the_text_of_the_skill():
    async def search():
        async with sy.SearchService(["handbook"]) as service:
            return await service.search("who is on call this week?")

    result = asyncio.run(search())
    assert [hit.skill.name for hit in result.skills] == ["on-call-rota"]
    assert "Hand over" in result.skills[0].skill.body


def test_a_skill_that_is_not_in_the_handbook_is_not_found():
    handbook = open_handbook(None, None)
    (hit,) = asyncio.run(handbook.search("register a visitor", 1))
    with pytest.raises(sy.errors.SourceFailed) as error:
        asyncio.run(handbook.fetch(hit._replace(id="other")))
    assert error.value.code == "not_found"
