"""What is kept takes no more than it may, and what is given of it is nobody else's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skillyard.remote.search import SearchResult
from skillyard.remote.search.search_cache import CACHE_BYTES
from skillyard_testkit import FakeServers
from tests.remote.search.counted_search import NAMES, Counted, Keeping, listed, said


@pytest.fixture
def up(up: FakeServers) -> FakeServers:
    """A repository of four skills that the marketplace lists, too."""
    up.switches.downloads = False
    listed(up)
    return up


@pytest.fixture
def keeping(up: FakeServers, tmp_path: Path) -> Keeping:
    return Keeping(up, tmp_path / "cache")


def test_what_is_kept_takes_no_more_than_it_may(up: FakeServers, keeping: Keeping) -> None:
    async def several(search: Counted) -> None:
        await keeping.warm(search)
        assert search.search_cache.entries.max_bytes == CACHE_BYTES
        one = search.search_cache.entries.bytes
        search.search_cache.entries.max_bytes = 3 * one
        queries = [f"pdf {'x' * number}" for number in range(6)]
        for query in queries:
            await keeping.warm(search, query)
            assert search.search_cache.entries.bytes <= 3 * one
        assert 1 <= len(search.search_cache.entries) <= 3
        for query in queries:
            assert said(await search.search(query)) == said(await search.search(query))

    keeping.run(several)


def test_a_long_query_counts(keeping: Keeping) -> None:
    async def taken(search: Counted) -> int:
        await keeping.warm(search)
        before = search.search_cache.entries.bytes
        await keeping.warm(search, "pdf " * 25_000)
        return search.search_cache.entries.bytes - before

    assert keeping.run(taken) > 100_000


def test_changing_an_answer_changes_no_kept_one(keeping: Keeping) -> None:
    async def spoilt(search: Counted) -> tuple[list[str], int]:
        seen = []
        for _ in range(5):
            answer = await search.search("pdf", include_references=True)
            keeping.settle()
            seen.append(everything(answer))
            spoil(answer)
        return seen, search.gathered

    seen, gathered = keeping.run(spoilt)
    assert "tools" in seen[0]
    assert seen == seen[:1] * 5
    assert gathered == 2


def everything(result: SearchResult) -> str:
    """Return what an answer says and what else can be reached from it, as text."""
    parts = [said(result)]
    for one in result.skills:
        assert one.match is not None
        assert one.package is not None
        files, skipped = sorted(one.package.files.items()), one.package.skipped
        parts.append(repr((dict(one.match.skill.metadata), files, skipped)))
    return "\n".join(parts)


def spoil(result: SearchResult) -> None:
    """Change what can be changed in an answer."""
    for one in result.skills:
        assert one.match is not None
        assert one.package is not None
        assert isinstance(one.package.files, dict)
        assert isinstance(one.package.skipped, list)
        one.package.files.clear()
        one.package.skipped.append("spoilt")
        for skill in (one.skill, one.match.skill):
            if "tools" in skill.metadata:
                skill.metadata["tools"].append("spoilt")


def test_many_searches_at_once_say_what_each_says_alone(up: FakeServers, keeping: Keeping) -> None:
    queries = ["pdf", "pdf 1", "pdf 2"] * 4

    async def together(search: Counted) -> tuple[list[str], list[str], int]:
        cold = await asyncio.gather(*map(search.search, queries))
        keeping.settle()
        warm = await asyncio.gather(*map(search.search, queries * 2))
        alone = [await search.search(query) for query in queries * 2]
        targets = [(each.server, each.path) for each in up.requests]
        assert {one.count for one in cold} == {len(NAMES)}
        return [*map(said, warm)], [*map(said, alone)], len(targets) - len(set(targets))

    warm, alone, repeated = keeping.run(together)
    assert warm == alone
    assert repeated == 0
