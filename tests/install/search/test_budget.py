"""What a search costs its upstreams: requests, duplicates, and round trips in sequence."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skillyard import SearchResult, SearchService
from skillyard.install.sources.responses import ResponseCache
from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, RecordedRequest
from tests.install.search.fake_search import (
    keys,
    searched,
    settings_of,
    skill_text,
    transport_of,
)
from tests.install.search.rounds import rounds_of

REPOSITORIES = tuple(f"owner-{n}/skills" for n in range(5))
SKILLS_EACH = 4
MOST_ROUNDS = 4
"""Search, snapshot, tree, file."""


@pytest.fixture
def up(up: FakeServers) -> FakeServers:
    """Five repositories of four skills, all of them on the marketplace."""
    for repository in REPOSITORIES:
        names = [f"pdf-{repository[6]}-{n}" for n in range(SKILLS_EACH)]
        files = {f"skills/{name}/SKILL.md": skill_text(name) for name in names}
        files |= {f"skills/{name}/references/a.md": "A." for name in names}
        up.add_repository(repository, files)
        for place, name in enumerate(names):
            up.list_skill(repository, name, installs=place)
    return up


def set_up(up: FakeServers, setup: str, folder: Path) -> Settings:
    """Return the settings of a set-up: which sources know the skills."""
    up.switches.downloads = setup == "snapshots"
    changes: dict[str, Any] = {}
    if setup in {"listed by us", "everything"}:
        changes["repositories"] = REPOSITORIES
    if setup in {"registered", "everything"}:
        file = folder / "registry.md"
        file.write_text(
            "".join(
                f"- pdf-{n}-0 | {repository} | skills/pdf-{n}-0 | Work with pdf\n"
                for n, repository in enumerate(REPOSITORIES)
            ),
            encoding="utf-8",
        )
        changes["registry_files"] = (str(file),)
    if setup == "everything":
        up.add_well_known("pdf-site", {"SKILL.md": skill_text("pdf-site")})
        changes["sites"] = (up.well_known,)
    return settings_of(up, **changes)


def asked(up: FakeServers) -> Counter[tuple[str, str]]:
    return Counter((one.server, one.path) for one in up.requests)


def trees(requests: list[RecordedRequest]) -> Counter[str]:
    """Return how often each repository's tree was asked for."""
    return Counter(
        "/".join(one.path.split("/")[2:4]) for one in requests if "/git/trees/" in one.path
    )


def unused_cache(folder: Path) -> ResponseCache:
    """Return a cache that nobody has used."""
    return ResponseCache(tempfile.mkdtemp(prefix="responses-", dir=folder))


@pytest.fixture
def cache(tmp_path: Path) -> ResponseCache:
    return unused_cache(tmp_path)


class TestColdSearch:
    @pytest.mark.parametrize(
        ("setup", "references"),
        [("snapshots", True), ("no snapshots", False), ("listed by us", True),
         ("registered", False), ("everything", True)],
    )  # fmt: skip
    def test_each_tree_is_asked_for_once_and_nothing_twice(
        self, up: FakeServers, tmp_path: Path, cache: ResponseCache, setup: str, references: bool
    ) -> None:
        settings = set_up(up, setup, tmp_path)
        result = searched("pdf", 10, settings=settings, include_references=references, cache=cache)
        assert result.count == 10
        assert all(one.skill.body for one in result.skills)
        with_some = [one.hit.id for one in result.skills if one.skill.references]
        assert bool(with_some) == references
        assert set(asked(up).values()) == {1}
        assert set(trees(up.requests)) <= set(REPOSITORIES)
        assert up.count("github_api") <= len(REPOSITORIES)  # trees, and nothing but trees

    @pytest.mark.parametrize("setup", ["no snapshots", "everything"])
    def test_at_most_four_round_trips_in_sequence(
        self, up: FakeServers, tmp_path: Path, setup: str
    ) -> None:
        settings = set_up(up, setup, tmp_path)

        def search() -> None:
            result = searched("pdf", 10, settings=settings, cache=unused_cache(tmp_path))
            assert result.count == 10

        rounds = rounds_of(up, MOST_ROUNDS, search)
        assert len(rounds) <= MOST_ROUNDS, rounds


def test_with_snapshots_no_github_quota_is_spent(up: FakeServers, cache: ResponseCache) -> None:
    result = searched("pdf", 10, settings=settings_of(up), cache=cache)
    assert all(one.skill.body for one in result.skills)
    assert up.count("github_api") == 0
    assert up.count("github_raw") == 0
    assert len(asked(up)) == 1 + 20  # one search, a snapshot for each candidate


class TestWarmSearch:
    NOW = 2_000_000_000.0

    def ask(
        self, settings: Settings, folder: Path, clock: float, *, times: int = 1
    ) -> list[SearchResult]:
        """Return the answers of a service of its own, over a cache that others filled."""
        transport = transport_of(settings, folder, clock=lambda: clock)

        async def run() -> list[SearchResult]:
            async with SearchService(settings=settings, transport=transport) as search:
                return [await search.search("pdf", include_references=True) for _ in range(times)]

        return asyncio.run(run())

    def test_a_day_later_only_what_may_have_changed_is_asked_with_its_tag(
        self, up: FakeServers, tmp_path: Path
    ) -> None:
        settings = set_up(up, "everything", tmp_path)
        (first,) = self.ask(settings, tmp_path / "cache", self.NOW)
        before = len(up.requests)
        (second,) = self.ask(settings, tmp_path / "cache", self.NOW + 86_400)
        assert keys(first) == keys(second)
        again = up.requests[before:]
        for one in again:
            if one.server in {"github_api", "well_known"}:
                assert "if-none-match" in one.headers
                assert one.status == 304
        assert set(trees(again).values()) == {1}
        assert set(Counter((one.server, one.path) for one in again).values()) == {1}
