"""What was gathered is given again only while a new gathering would bring the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillyard.ranking.registry import resolve
from skillyard.remote.search import SearchResult, SearchService
from skillyard.remote.sources.responses import ResponseCache
from skillyard.remote.sources.transport import Host
from skillyard_testkit import FakeServers, faults
from tests.remote.search.counted_search import (
    NAMES,
    REPOSITORY,
    Counted,
    Keeping,
    ages,
    bodies,
    listed,
    publish,
    said,
)
from tests.remote.sources.clients import python
from tests.remote.sources.test_responses_in_memory import aged

SEARCH_FRESH_S = 60
TREE_FRESH_S = 300


@pytest.fixture(params=[False, True], ids=["no snapshots", "snapshots"])
def up(up: FakeServers, request: pytest.FixtureRequest) -> FakeServers:
    """A repository of four skills that the marketplace lists, too."""
    up.switches.downloads = bool(request.param)
    listed(up)
    return up


@pytest.fixture
def keeping(up: FakeServers, tmp_path: Path) -> Keeping:
    """On disk what comes from the repository, in memory what comes as snapshots."""
    return Keeping(up, None if up.switches.downloads else tmp_path / "cache")


def test_the_third_search_goes_through_no_source(up: FakeServers, keeping: Keeping) -> None:
    async def thrice(search: Counted) -> tuple[list[str], int, int]:
        await search.search("pdf")
        assert len(search.search_cache.entries) == 0  # it was written while it was gathered
        answers = [said(await keeping.warm(search))]
        asked, gathered = len(up.requests), search.gathered
        answers += [said(await search.search("pdf")) for _ in range(3)]
        return answers, len(up.requests) - asked, search.gathered - gathered

    answers, asked, gathered = keeping.run(thrice)
    assert answers == answers[:1] * 4
    assert (asked, gathered) == (0, 0)


OPTIONS = st.fixed_dictionaries(
    {
        "query": st.sampled_from(["pdf", "pdf 1", "nothing-of-that-name"]),
        "limit": st.sampled_from([1, 3, 10]),  # the first two ask for as many skills
        "include_content": st.booleans(),
        "include_references": st.booleans(),
    }
)
STEP = st.tuples(
    OPTIONS,
    st.sampled_from(["", "", "", "publish", "clear", "settle", "hybrid", "relevance"]),
    st.sampled_from([0.0, 0.25, 20.0, 70.0, 400.0]),
)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(STEP, min_size=2, max_size=6))
def test_what_is_kept_says_what_a_new_search_says(
    steps: list[tuple[dict[str, Any], str, float]], up: FakeServers, keeping: Keeping
) -> None:
    async def compared(search: Counted) -> None:
        for number, (how, what, seconds) in enumerate(steps):
            if what == "publish":
                publish(up, f"Do it otherwise, {number}.")
            elif what == "clear" and keeping.folder is not None:
                ResponseCache(str(keeping.folder)).clear()
            elif what in ("hybrid", "relevance"):
                search.ranker = resolve(what)
            for _ in range(3):
                answer = await search.search(**how)
                keeping.settle()
                other = SearchService(
                    settings=keeping.settings, transport=search.transport, ranker=search.ranker
                )
                assert said(await other.search(**how)) == said(answer)
            keeping.clock.turn(seconds)

    publish(up, "Do it so.")
    keeping.run(compared)


# --- until when ---


def test_it_is_kept_until_the_first_answer_is_no_longer_fresh(
    up: FakeServers, keeping: Keeping
) -> None:
    """The search's answer is believed for a minute, whatever was asked since."""

    async def later(search: Counted) -> list[tuple[int, int]]:
        await search.search("pdf")
        keeping.settle()
        keeping.clock.turn(30)
        figures = []
        for seconds in (0.0, 29.75, 0.25):
            keeping.clock.turn(seconds)
            before = search.gathered, up.count("skills_sh", "/api/search")
            await search.search("pdf")
            after = search.gathered, up.count("skills_sh", "/api/search")
            figures.append((after[0] - before[0], after[1] - before[1]))
        return figures

    assert keeping.run(later) == [(1, 0), (0, 0), (1, 1)]


def test_that_something_is_not_there_is_believed_for_a_minute(
    up: FakeServers, keeping: Keeping
) -> None:
    up.switches.downloads = False
    place = f"/api/download/{REPOSITORY}/pdf-1"

    async def later(search: Counted) -> list[tuple[int, int]]:
        await search.transport.get("skills.sh", place)  # 40 s before all the rest
        keeping.clock.turn(40)
        await keeping.warm(search)
        figures = []
        for seconds in (19.75, 0.25):
            keeping.clock.turn(seconds)
            before = search.gathered, up.count("skills_sh", place)
            await search.search("pdf")
            after = search.gathered, up.count("skills_sh", place)
            figures.append((after[0] - before[0], after[1] - before[1]))
        return figures

    assert keeping.run(later) == [(0, 0), (1, 1)]


def test_ages_grow_while_it_is_kept(up: FakeServers, keeping: Keeping) -> None:
    up.switches.downloads = False

    async def later(search: Counted) -> tuple[list[set[float]], int]:
        found = [set(ages(await search.search("pdf")))]
        keeping.settle()
        await search.search("pdf")
        before = search.gathered
        for seconds in (0.0, 20.0, 0.25):
            keeping.clock.turn(seconds)
            result = await search.search("pdf")
            assert all(type(age) is float for age in ages(result))
            found.append(set(ages(result)))
        return found, search.gathered - before

    assert keeping.run(later) == ([{0.0}, {0.0}, {20.0}, {20.25}], 0)


def test_a_clock_that_goes_back_makes_it_be_gathered_again(keeping: Keeping) -> None:
    async def back(search: Counted) -> int:
        await keeping.warm(search)
        before = search.gathered
        keeping.clock.turn(-1)
        await search.search("pdf")
        return search.gathered - before

    assert keeping.run(back) == 1


def test_what_answers_offline_grows_older_and_stays(up: FakeServers, keeping: Keeping) -> None:
    up.switches.downloads = False

    async def offline(search: Counted) -> tuple[set[float], int]:
        await keeping.warm(search)
        search.transport.offline = True
        keeping.clock.turn(TREE_FRESH_S)
        await search.search("pdf")
        before = search.gathered
        keeping.clock.turn(TREE_FRESH_S)
        return set(ages(await search.search("pdf"))), search.gathered - before

    assert keeping.run(offline) == ({2.0 * TREE_FRESH_S}, 0)


def test_what_was_kept_offline_is_not_given_when_remotes_can_be_asked(
    up: FakeServers, keeping: Keeping
) -> None:
    async def back(search: Counted) -> SearchResult:
        await keeping.warm(search)
        publish(up, "Do it otherwise.")
        search.transport.offline = True
        keeping.clock.turn(86_400)
        for _ in range(2):
            await search.search("pdf")
        search.transport.offline = False
        return await search.search("pdf")

    assert bodies(keeping.run(back)) == {"Do it otherwise."}


def test_offline_nothing_is_given_that_the_cache_would_not_give(
    up: FakeServers, tmp_path: Path
) -> None:
    keeping = Keeping(up, tmp_path / "cache")

    async def offline(search: Counted) -> tuple[bool, bool]:
        await keeping.warm(search)
        search.transport.offline = True
        before = await search.search("pdf")
        keeping.clock.turn(search.transport.cache.oldest_s + 1)
        return bool(before.skills), bool((await search.search("pdf")).skills)

    assert keeping.run(offline) == (True, False)


# --- what it must see ---

CLEARS = (
    "import sys; from skillyard.remote.sources.responses import ResponseCache;"
    " ResponseCache(sys.argv[1]).clear()"
)


@pytest.mark.parametrize("up", [False], indirect=True)
@pytest.mark.parametrize("settled", [False, True])
def test_it_is_seen_that_another_process_clears_the_cache(
    up: FakeServers, tmp_path: Path, settled: bool
) -> None:
    keeping = Keeping(up, tmp_path / "cache")

    async def cleared(search: Counted) -> tuple[SearchResult, SearchResult]:
        before = await keeping.warm(search)
        publish(up, "Do it otherwise.")
        _, error = python(CLEARS, str(tmp_path / "cache")).communicate(timeout=30)
        assert not error
        if settled:
            aged(tmp_path / "cache")
        return before, await search.search("pdf")

    before, after = keeping.run(cleared)
    assert bodies(before) == {"Do it so."}
    assert bodies(after) == {"Do it otherwise."}


@pytest.mark.parametrize("up", [False], indirect=True)
@pytest.mark.parametrize("settled", [False, True])
def test_it_is_seen_that_another_one_asks_and_keeps_newer_answers(
    up: FakeServers, tmp_path: Path, settled: bool
) -> None:
    keeping, other = (Keeping(up, tmp_path / "cache") for _ in range(2))
    other.clock.turn(86_400)

    async def written(search: Counted) -> SearchResult:
        await keeping.warm(search)
        publish(up, "Do it otherwise.")
        transport = other.transport()
        async with SearchService(settings=other.settings, transport=transport) as second:
            await second.search("pdf")
        if settled:
            aged(tmp_path / "cache")
        keeping.clock.turn(86_400)
        return await search.search("pdf")

    assert bodies(keeping.run(written)) == {"Do it otherwise."}


def test_what_is_written_while_it_is_gathered_is_not_taken_for_older(
    up: FakeServers, keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gathering that saw the cache in two states is given once."""

    async def meanwhile(search: Counted) -> int:
        await search.search("other")
        keeping.settle()
        real = SearchService._contents

        async def contents(*arguments: Any) -> Any:
            await search.transport.get("skills.sh", "/api/search?q=else&limit=1")
            return await real(*arguments)

        await search.search("pdf")
        keeping.settle()
        with monkeypatch.context() as patched:
            patched.setattr(SearchService, "_contents", contents)
            await search.search("pdf")
        keeping.settle()
        before = search.gathered
        await search.search("pdf")
        return search.gathered - before

    assert keeping.run(meanwhile) == 1


def test_what_one_token_sees_is_not_given_for_another(up: FakeServers, keeping: Keeping) -> None:
    async def other(search: Counted) -> int:
        await keeping.warm(search)
        asked = len(up.requests)
        search.transport.add_host("github-api", Host(up.github_api, token="another"))
        await search.search("pdf")
        return len(up.requests) - asked

    assert keeping.run(other) > 0


# --- what is never kept ---


@pytest.mark.parametrize("up", [False], indirect=True)
@pytest.mark.parametrize("stale", [False, True], ids=["nothing kept", "answered from the cache"])
def test_a_source_that_fails_is_asked_again_as_soon_as_it_may_be(
    up: FakeServers, keeping: Keeping, stale: bool
) -> None:
    async def failing(search: Counted) -> tuple[list[int], SearchResult]:
        if stale:
            await keeping.warm(search)
            keeping.clock.turn(SEARCH_FRESH_S)
        up.faults.add("skills_sh", "/api/search*", faults.status(500), times=None)
        gathered = []
        for _ in range(3):
            before = search.gathered
            result = await search.search("pdf")
            keeping.settle()
            assert result.partial is not stale
            assert len(search.search_cache.entries) == 0
            gathered.append(search.gathered - before)
        up.faults.clear()
        keeping.clock.turn(6)  # a failure is believed for the length of one search
        return gathered, await search.search("pdf")

    gathered, healed = keeping.run(failing)
    assert gathered == [1, 1, 1]
    assert not healed.partial
    assert max(one.hit.install_count for one in healed.skills) == len(NAMES) - 1


def test_an_answer_with_a_skill_that_failed_is_not_kept(up: FakeServers, keeping: Keeping) -> None:
    up.list_skill(REPOSITORY, "pdf-gone", installs=1)

    async def failing(search: Counted) -> tuple[SearchResult, int]:
        await keeping.warm(search)
        before = search.gathered
        return await search.search("pdf"), search.gathered - before

    result, gathered = keeping.run(failing)
    assert [one.hit.id for one in result.skills if one.failure] == ["pdf-gone"]
    assert gathered == 1


def test_a_file_that_fails_within_a_skill_is_asked_for_again(
    up: FakeServers, keeping: Keeping
) -> None:
    up.switches.downloads = False
    up.faults.add("github_raw", "*/references/*", faults.status(500), times=None)

    async def failing(search: Counted) -> tuple[int, SearchResult]:
        await keeping.warm(search, include_references=True)
        before = search.gathered
        await search.search("pdf", include_references=True)
        gathered = search.gathered - before
        up.faults.clear()
        keeping.clock.turn(6)
        return gathered, await search.search("pdf", include_references=True)

    gathered, healed = keeping.run(failing)
    assert gathered == 1
    assert all(one.skill.references for one in healed.skills)
