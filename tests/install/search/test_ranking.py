"""Which ranker orders the answer, and what it is given."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard import UnknownName
from skillyard.install.sources.settings import Settings
from tests.install.search.fake_search import (
    ids,
    searched,
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

    def test_the_settings_choose_one(self) -> None:
        assert searched("pdf", settings=SKYLL, sources=[Memory()]).ranker == "relevance"

    @for_each("where", ["constructor", "settings"])
    def test_an_unknown_name_is_refused_with_the_known_ones(self, where: str) -> None:
        settings = BARE._replace(ranker="best" if where == "settings" else "relevance")
        ranker = "best" if where == "constructor" else None
        with pytest.raises(UnknownName, match="relevance"):
            searched("pdf", settings=settings, sources=[Memory()], ranker=ranker)
