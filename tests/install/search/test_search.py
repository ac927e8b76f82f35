"""The five steps of a federated search, each as its specification demands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard import SearchService
from skillyard.errors import InvalidInput
from skillyard.install.sources.protocol import Hit, Source
from skillyard.install.sources.responses import ResponseCache
from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers, faults
from tests.install.search.fake_search import (
    ids,
    keys,
    searched,
    settings_of,
    skill_text,
    status_of,
    with_service,
)
from tests.install.search.memory import Memory, hit
from tests.tables import for_each

BARE = Settings(shipped_registry=False)


class TestTrim:
    @for_each("limit", [0, -1, 101, True, 2.0, "3", None])
    def test_a_limit_out_of_range_is_refused_before_anything_is_asked(self, limit: Any) -> None:
        source = Memory()
        with pytest.raises(InvalidInput, match="limit"):
            searched("pdf", limit, settings=BARE, sources=[source])
        assert not source.asked

    @for_each("query", ["a&limit=1#", "a\r\nX-Other: 1", "\0", "\ud800", "🦑"])
    def test_no_query_breaks_out_of_its_parameter(self, up: FakeServers, query: str) -> None:
        up.list_skill("acme/skills", "pdf")
        result = searched(query, settings=settings_of(up))
        for one in up.requests:
            assert one.path.startswith("/api/search?q=")
            assert "x-other" not in one.headers
            assert one.path.count("limit=") == 1
        assert status_of(result, "skills.sh").state in {"ok", "failed"}


class Silent(Memory):
    """Never answers."""

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        await asyncio.Event().wait()
        raise AssertionError


class TestSources:
    def test_a_silent_one_is_named_and_costs_its_time_alone(self) -> None:
        settings = BARE._replace(source_timeout_s=0.05)
        sources = [Silent(name="silent"), Memory([hit("pdf")])]
        result = searched("pdf", settings=settings, sources=sources)
        assert ids(result) == ["pdf"]
        assert status_of(result, "silent").state == "failed"
        assert status_of(result, "silent").code == "timeout"
        assert status_of(result, "memory").state == "ok"
        assert result.partial
        assert not result.failed

    @for_each("error", [ValueError("odd"), OSError(5, "x")], ids=["ValueError", "OSError"])
    def test_an_error_in_somebody_elses_source_is_its_failure_alone(self, error: Exception) -> None:
        sources = [Memory(name="broken", search_fails=error), Memory([hit("pdf")])]
        result = searched("pdf", settings=BARE, sources=sources)
        assert ids(result) == ["pdf"]
        assert status_of(result, "broken").state == "failed"
        assert status_of(result, "broken").code
        assert status_of(result, "broken").message

    def test_a_local_skill_and_a_remote_one_of_its_name_are_both_there(self) -> None:
        catalog = sy.Catalog.from_skills([sy.Skill("pdf", "Extract pdf tables", "Local body.")])
        sources: list[str | Source] = ["local", Memory([hit("pdf", "evil/skills")])]
        result = searched("pdf", settings=BARE, sources=sources, catalog=catalog)
        assert sorted(keys(result)) == ["evil/skills/pdf", "local/pdf"]


class TestManyAtOnce:
    def test_equal_searches_ask_each_thing_once(self, up: FakeServers, tmp_path: Path) -> None:
        files = {f"skills/pdf-{n}/SKILL.md": skill_text(f"pdf-{n}") for n in range(4)}
        up.add_repository("acme/skills", files)
        for n in range(4):
            up.list_skill("acme/skills", f"pdf-{n}")
        up.switches.downloads = False

        async def many(search: SearchService) -> list[list[str]]:
            results = await asyncio.gather(*(search.search("pdf") for _ in range(8)))
            assert all(one.skill.body for result in results for one in result.skills)
            return [keys(result) for result in results]

        cache = ResponseCache(str(tmp_path))
        answers = with_service(many, settings=settings_of(up), cache=cache)
        assert len(answers[0]) == 4
        assert answers == [answers[0]] * 8
        asked = [(one.server, one.path) for one in up.requests]
        assert len(asked) == len(set(asked))

    def test_a_search_that_is_given_up_leaves_nothing_behind(self, up: FakeServers) -> None:
        up.faults.add("skills_sh", "*", faults.hang(), times=None)

        async def run() -> None:
            async with SearchService(settings=settings_of(up), cache=False) as search:
                task = asyncio.create_task(search.search("pdf"))
                while not up.count("skills_sh"):
                    await asyncio.sleep(0.001)  # the request is on its way
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(run())
