"""The same question again: the same answer, from what is known, and nothing known too long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from skillyard.search import SearchResult, SearchService
from skillyard.search import content as content_module
from skillyard.sources import github as github_module
from skillyard.sources.responses import ResponseCache
from skillyard.sources.settings import Settings
from skillyard.standin import Upstreams
from tests.search.asking import by_id, settings_of, skill_text, transport_of
from tests.sources.clients import Clock

T = TypeVar("T")
REPOSITORY = "acme/skills"
NAMES = [f"pdf-{number}" for number in range(6)]
NESTED = (
    "---\nname: pdf-0\ndescription: Pdf.\nmetadata:\n  tools: [a, b]\n  deep: {x: [1]}\n---\n\nDo."
)


@pytest.fixture(params=[False, True], ids=["no snapshots", "snapshots"])
def up(up: Upstreams, request: pytest.FixtureRequest) -> Upstreams:
    """A repository of six skills that the marketplace lists, too."""
    up.switches.downloads = bool(request.param)
    publish(up, "Do it so.")
    for place, name in enumerate(NAMES):
        up.list_skill(REPOSITORY, name, installs=place)
    return up


def publish(up: Upstreams, body: str) -> None:
    files = {f"skills/{name}/SKILL.md": skill_text(name, body=body) for name in NAMES}
    files |= {f"skills/{name}/references/a.md": f"{body} {name}" for name in NAMES}
    files["skills/pdf-0/SKILL.md"] = f"{NESTED} {body}"
    up.add_repository(REPOSITORY, files)


class Asking:
    """A service with a clock of its own, for the length of a test."""

    def __init__(self, up: Upstreams, folder: Path | None) -> None:
        self.clock = Clock()
        self.settings: Settings = settings_of(up, repositories=(REPOSITORY,))
        self.transport = transport_of(self.settings, folder, clock=self.clock)
        self.folder = folder

    def run(self, use: Callable[[SearchService], Awaitable[T]]) -> T:
        async def asked() -> T:
            async with SearchService(settings=self.settings, transport=self.transport) as search:
                return await use(search)

        return asyncio.run(asked())


@pytest.fixture(params=["disk", "memory"])
def asking(up: Upstreams, tmp_path: Path, request: pytest.FixtureRequest) -> Asking:
    return Asking(up, tmp_path / "cache" if request.param == "disk" else None)


def said(result: SearchResult) -> str:
    """Return all that an answer says, as text."""
    return json.dumps(result.to_dict(include_raw=True, explain=True))


async def ask(search: SearchService, **how: Any) -> SearchResult:
    return await search.search("pdf", include_references=True, **how)


def bodies(result: SearchResult) -> set[str]:
    return {(one.skill.body or "").strip() for one in result.skills}


def test_the_second_answer_is_the_first_and_asks_nobody(up: Upstreams, asking: Asking) -> None:
    async def twice(search: SearchService) -> tuple[SearchResult, int, list[SearchResult]]:
        first = await ask(search)
        asked = len(up.requests)
        return first, asked, [await ask(search) for _ in range(3)]

    first, asked, others = asking.run(twice)
    assert len(up.requests) == asked
    assert [said(other) for other in others] == [said(first)] * 3
    assert [one.skill for one in others[0].skills] == [one.skill for one in first.skills]


def test_what_is_known_grows_older(up: Upstreams, asking: Asking) -> None:
    async def later(search: SearchService) -> list[float]:
        ages = []
        for _ in range(3):
            ages.append(max(one.package.age_s for one in (await ask(search)).skills if one.package))
            asking.clock.turn(20)
        return ages

    up.switches.downloads = False
    assert asking.run(later) == [0.0, 20.0, 40.0]


def test_nothing_is_parsed_twice(
    asking: Asking, up: Upstreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def counted(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            parsed.append(name)
            return real(*arguments, **named)

        monkeypatch.setattr(owner, name, call)

    counted(github_module, "_tree")
    counted(content_module, "parse_document")

    async def twice(search: SearchService) -> tuple[int, int]:
        await ask(search)
        before = len(parsed)
        await ask(search)
        return before, len(parsed)

    before, after = asking.run(twice)
    assert before == after
    assert parsed.count("_tree") == 1  # however many skills it has
    assert parsed.count("parse_document") == len(NAMES)


def test_a_changed_repository_is_seen_when_its_answer_is_no_longer_fresh(
    up: Upstreams, asking: Asking
) -> None:
    async def changed(search: SearchService) -> tuple[SearchResult, SearchResult, SearchResult]:
        first = await ask(search)
        publish(up, "Do it otherwise.")
        second = await ask(search)
        asking.clock.turn(86_400)
        return first, second, await ask(search)

    first, second, third = asking.run(changed)
    assert said(first) == said(second)
    assert bodies(third) == {"Do it otherwise.", "Do. Do it otherwise."}
    assert {one.skill.references[0].content for one in third.skills} == {
        f"Do it otherwise. {name}" for name in NAMES
    }


def test_clearing_the_cache_makes_the_next_search_ask_again(up: Upstreams, tmp_path: Path) -> None:
    asking = Asking(up, tmp_path / "cache")

    async def cleared(search: SearchService) -> tuple[int, SearchResult]:
        await ask(search)
        await ask(search)
        asked = len(up.requests)
        publish(up, "Do it otherwise.")
        assert ResponseCache(str(tmp_path / "cache")).clear() > len(NAMES)
        result = await ask(search)
        return len(up.requests) - asked, result

    asked, result = asking.run(cleared)
    assert asked > len(NAMES)
    assert bodies(result) == {"Do it otherwise.", "Do. Do it otherwise."}


def test_changing_an_answer_changes_no_other(asking: Asking) -> None:
    async def spoilt(search: SearchService) -> tuple[str, str]:
        await ask(search)
        result = await ask(search)
        before = said(result)
        for one in result.skills:
            spoil(one.skill.metadata)
            assert one.match is not None
            spoil(one.match.skill.metadata)
            assert one.package is not None
            assert isinstance(one.package.files, dict)
            one.package.files.clear()
        return before, said(await ask(search))

    before, after = asking.run(spoilt)
    assert '"tools"' in before
    assert before == after


def spoil(value: Any) -> None:
    """Change whatever can be changed inside a value."""
    if isinstance(value, list):
        value.append("spoilt")
    elif isinstance(value, dict):
        value["spoilt"] = True
    elif not isinstance(value, str) and hasattr(value, "values"):
        for item in value.values():
            spoil(item)


def test_what_is_known_takes_no_more_than_it_may(asking: Asking) -> None:
    asking.transport.parsed.most_bytes = 30_000

    async def several(search: SearchService) -> list[str]:
        answers = []
        for _ in range(3):
            answers.append(said(await ask(search)))
            assert asking.transport.parsed.bytes <= 30_000
        return answers

    assert len(set(asking.run(several))) == 1
    assert len(asking.transport.parsed) > 0


def test_each_size_that_is_told_is_at_least_that_of_the_texts(asking: Asking) -> None:
    async def taken(search: SearchService) -> tuple[int, int]:
        result = await ask(search)
        texts = sum(len(one.raw) + len(one.skill.body or "") for one in result.skills)
        return texts, asking.transport.parsed.bytes

    texts, told = asking.run(taken)
    assert told > 2 * texts


def test_skills_that_are_hidden_are_shown_and_say_so(up: Upstreams, asking: Asking) -> None:
    hidden = skill_text("pdf-1", **{"disable-model-invocation": "true"})
    up.add_repository(REPOSITORY, {"skills/pdf-1/SKILL.md": hidden})

    async def twice(search: SearchService) -> list[SearchResult]:
        return [await ask(search), await ask(search)]

    for result in asking.run(twice):
        one = by_id(result)["pdf-1"]
        assert one.skill.disable_model_invocation
        assert one.match is not None
        assert not one.match.skill.hidden


def test_an_answer_is_shown_without_its_texts(asking: Asking) -> None:
    shown = repr(asking.run(ask))
    assert "pdf" in shown
    assert "Do it so." not in shown
