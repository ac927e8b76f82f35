"""The same question again: the same answer, from what is known, and nothing known too long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from skillyard import SearchResult, SearchService
from skillyard.install.sources import github as github_module
from skillyard.install.sources.settings import Settings
from skillyard_testkit import FakeServers
from tests.install.search.fake_search import by_id, settings_of, skill_text, transport_of
from tests.install.sources.clients import Clock

T = TypeVar("T")
REPOSITORY = "acme/skills"
NAMES = [f"pdf-{number}" for number in range(6)]
NESTED = (
    "---\nname: pdf-0\ndescription: Pdf.\nmetadata:\n  tools: [a, b]\n  deep: {x: [1]}\n---\n\nDo."
)


@pytest.fixture
def up(up: FakeServers) -> FakeServers:
    """A repository of six skills that the marketplace lists, too."""
    up.switches.downloads = False
    publish(up, "Do it so.")
    for place, name in enumerate(NAMES):
        up.list_skill(REPOSITORY, name, installs=place)
    return up


def publish(up: FakeServers, body: str) -> None:
    files = {f"skills/{name}/SKILL.md": skill_text(name, body=body) for name in NAMES}
    files |= {f"skills/{name}/references/a.md": f"{body} {name}" for name in NAMES}
    files["skills/pdf-0/SKILL.md"] = f"{NESTED} {body}"
    up.add_repository(REPOSITORY, files)


class Asking:
    """A service with a clock of its own, for the length of a test."""

    def __init__(self, up: FakeServers, folder: Path | None) -> None:
        self.clock = Clock()
        self.settings: Settings = settings_of(up, repositories=(REPOSITORY,))
        self.transport = transport_of(self.settings, folder, clock=self.clock)
        self.folder = folder

    def run(self, use: Callable[[SearchService], Awaitable[T]]) -> T:
        async def asked() -> T:
            async with SearchService(settings=self.settings, transport=self.transport) as search:
                return await use(search)

        return asyncio.run(asked())


@pytest.fixture
def asking(up: FakeServers, tmp_path: Path) -> Asking:
    return Asking(up, tmp_path / "cache")


async def ask(search: SearchService, **how: Any) -> SearchResult:
    return await search.search("pdf", include_references=True, **how)


def test_a_tree_is_parsed_once_however_many_skills_it_has(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []
    real = github_module._tree

    def counted(answer: Any) -> github_module.RepositoryTree:
        parsed.append(1)
        return real(answer)

    monkeypatch.setattr(github_module, "_tree", counted)

    async def later(search: SearchService) -> list[int]:
        counts = []
        for _ in range(2):
            for _ in range(2):
                await ask(search)
            counts.append(len(parsed))
            asking.clock.now += github_module.TREE_FRESH_S + 1
        return counts

    assert asking.run(later) == [1, 2]


def test_skills_that_are_hidden_are_shown_and_say_so(up: FakeServers, asking: Asking) -> None:
    hidden = skill_text("pdf-1", **{"disable-model-invocation": "true"})
    up.add_repository(REPOSITORY, {"skills/pdf-1/SKILL.md": hidden})

    async def twice(search: SearchService) -> list[SearchResult]:
        return [await ask(search), await ask(search)]

    for result in asking.run(twice):
        one = by_id(result)["pdf-1"]
        assert one.skill.disable_model_invocation
        assert one.match is not None
        assert not one.match.skill.hidden
