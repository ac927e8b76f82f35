"""Which ranker orders the answer, and what it is given."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import pytest

from skillyard import UnknownName
from skillyard.install.sources.settings import Settings
from tests.install.search.fake_search import (
    ids,
    searched,
    skill_text,
)
from tests.install.search.memory import Memory, hit
from tests.tables import for_each

BARE = Settings(shipped_registry=False)
SKYLL = BARE._replace(ranker="relevance")


class TestRelevance:
    """The worked rows of the document, through the whole pipeline."""

    def test_exact_popular_with_references_is_100(self) -> None:
        source = Memory([hit("pdf", install_count=10_000)], references={"pdf": {"a.md": "x"}})
        (one,) = searched("pdf", settings=SKYLL, sources=[source], include_references=True).skills
        assert one.score == pytest.approx(100, abs=0.01)

    def test_the_curated_boost_survives_the_merge(self) -> None:
        sources = [
            Memory([hit("pdf", install_count=10_000)], name="market"),
            Memory([hit("pdf", curated=True)], name="list"),
        ]
        (one,) = searched("pdf", settings=SKYLL, sources=sources).skills
        assert one.score == pytest.approx(40 + 30 + 15 + 8, abs=0.01)

    def test_the_first_2000_characters_of_a_fetched_body_count(self) -> None:
        hits = [hit("near"), hit("far")]
        texts = {
            "near": skill_text("near", body="tabulate " + "x " * 2000),
            "far": skill_text("far", body="x " * 2000 + "tabulate"),
        }
        result = searched("tabulate", settings=SKYLL, sources=[Memory(hits, texts)])
        assert [round(one.score, 2) for one in result.skills] == [44.5, 40.0]
        assert ids(result) == ["near", "far"]


class Point:
    """An entry point as an installed package has one."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value

    def load(self) -> Any:
        return self.value


class ShortestFirst:
    """A documented ``Ranker``."""

    def rank(self, skills: Any, query: str = "", include_references: bool = False) -> Any:
        for skill in skills:
            skill.relevance_score = -len(skill.id)
        return sorted(skills, key=lambda skill: skill.relevance_score, reverse=True)


class TestRankers:
    HITS = (hit("pdf-extraction"), hit("pdf"), hit("x"))

    def test_the_constructor_takes_a_documented_ranker(self) -> None:
        source = Memory(self.HITS)
        result = searched("pdf", settings=BARE, sources=[source], ranker=ShortestFirst())
        assert ids(result) == ["x", "pdf", "pdf-extraction"]
        assert result.skills[0].score == -1

    def test_the_constructor_takes_a_name_and_a_scorer(self) -> None:
        from skillyard.engine.ranking.registry import resolve

        for ranker in ("relevance", resolve("relevance")):
            result = searched("pdf", settings=BARE, sources=[Memory(self.HITS)], ranker=ranker)
            assert result.ranker == "relevance"
            assert ids(result)[0] == "pdf"

    def test_the_settings_choose_one(self) -> None:
        assert searched("pdf", settings=SKYLL, sources=[Memory()]).ranker == "relevance"

    def test_an_installed_package_brings_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        points = {"skillyard.scorers": [Point("shortest", ShortestFirst)]}
        monkeypatch.setattr(
            importlib.metadata, "entry_points", lambda *, group: points.get(group, [])
        )
        for settings, named in (
            (BARE, "shortest"),
            (BARE._replace(ranker="shortest"), None),
        ):
            result = searched("pdf", settings=settings, sources=[Memory(self.HITS)], ranker=named)
            assert ids(result) == ["x", "pdf", "pdf-extraction"]

    @for_each("where", ["constructor", "settings"])
    def test_an_unknown_name_is_refused_with_the_known_ones(self, where: str) -> None:
        settings = BARE._replace(ranker="best" if where == "settings" else "relevance")
        ranker = "best" if where == "constructor" else None
        with pytest.raises(UnknownName, match="relevance"):
            searched("pdf", settings=settings, sources=[Memory()], ranker=ranker)
