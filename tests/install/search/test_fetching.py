"""Contents and references: fetched together, within limits, and never at the cost of a skill."""

from __future__ import annotations

import pytest

from skillyard.errors import SourceFailed
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers
from tests.install.search.fake_search import (
    by_id,
    ids,
    searched,
    settings_of,
    skill_text,
)
from tests.install.search.memory import Memory, hit
from tests.tables import for_each

BARE = Settings(shipped_registry=False, ranker="relevance")


class TestContents:
    def test_a_skill_without_content_comes_last_and_is_not_dropped(self) -> None:
        hits = [hit("pdf", install_count=10_000), hit("tax-helper")]
        texts = {"tax-helper": skill_text("tax-helper")}
        result = searched("pdf", settings=BARE, sources=[Memory(hits, texts)])
        assert ids(result) == ["tax-helper", "pdf"]
        pointer = result.skills[1]
        assert pointer.skill.body is None
        assert pointer.failure is not None
        assert pointer.failure.code == "not_found"

    @for_each(
        "error",
        [SourceFailed("timeout", "late"), ValueError("odd"), OSError("x")],
        ids=["SourceFailed", "ValueError", "OSError"],
    )
    def test_a_fetch_that_fails_costs_one_body(self, error: Exception) -> None:
        hits = [hit("broken"), hit("fine")]
        source = Memory(hits, fetch_fails={"broken": error})
        result = searched("broken", settings=BARE, sources=[source])
        assert ids(result) == ["fine", "broken"]
        failure = by_id(result)["broken"].failure
        assert failure is not None
        assert failure.code
        assert failure.what

    def test_when_the_preferred_source_cannot_fetch_it_the_next_one_does(self) -> None:
        lost = SourceFailed("unreachable", "away")
        sources = [
            Memory([hit("pdf", install_count=9)], name="a", fetch_fails={"pdf": lost}),
            Memory([hit("pdf")], {"pdf": skill_text("pdf", body="From b.")}, name="b"),
        ]
        (one,) = searched("pdf", settings=BARE, sources=sources).skills
        assert one.skill.body == "From b."
        assert one.failure is None
        assert one.skill.install_count == 9

    def test_each_source_fetches_by_its_own_record(self) -> None:
        class Picky(Memory):
            async def fetch(
                self, hit: Hit, *, references: bool = False, whole: bool = False
            ) -> Package:
                if hit.found_by != self.name:
                    raise SourceFailed("refused", f"not mine: {hit.found_by}")
                return await super().fetch(hit, references=references, whole=whole)

        sources = [
            Picky([hit("pdf", install_count=1), hit("a")], name="one"),
            Picky([hit("pdf"), hit("b", install_count=1)], name="two"),
        ]
        result = searched("pdf", settings=BARE, sources=sources)
        assert all(one.failure is None for one in result.skills)
        assert by_id(result)["pdf"].found_by == ("one", "two")


class TestReferences:
    @pytest.fixture
    def library(self, up: FakeServers) -> FakeServers:
        files = {
            "skills/pdf/SKILL.md": skill_text("pdf"),
            "skills/pdf/references/forms.md": "Forms.",
            "skills/pdf/guide.md": "Guide.",
            "skills/pdf/scripts/run.py": "print()",
            "skills/other/SKILL.md": skill_text("other"),
            "README.md": "Readme.",
        }
        up.add_repository("acme/skills", files)
        up.list_skill("acme/skills", "pdf")
        return up

    @pytest.mark.parametrize("downloads", [True, False])
    def test_their_number_is_bounded_and_what_is_left_out_is_said(
        self, up: FakeServers, downloads: bool
    ) -> None:
        files = {f"skills/pdf/references/{n:03}.md": "x" for n in range(150)}
        up.add_repository("acme/skills", files | {"skills/pdf/SKILL.md": skill_text("pdf")})
        up.list_skill("acme/skills", "pdf")
        up.switches.downloads = downloads
        (one,) = searched("pdf", settings=settings_of(up), include_references=True).skills
        assert one.skill.body == "Do it so."
        assert 0 < len(one.skill.references) <= 64
        assert one.package is not None
        assert len(one.package.skipped) >= 150 - 64
