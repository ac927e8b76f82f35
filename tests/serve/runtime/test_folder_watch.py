"""The operating system's word on changed folders, through the real watchfiles."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from skillyard.serve.runtime import folder_watch
from skillyard.serve.runtime.folder_watch import FolderWatch
from tests.serve.mcp.local_servers import run

pytest.importorskip("watchfiles")


class Told:
    """What a watch said, to be waited for."""

    def __init__(self) -> None:
        self.changes = 0
        self.failures: list[str] = []
        self._news = asyncio.Event()
        self.watch = FolderWatch(self._told, self._failed)

    def _told(self) -> None:
        self.changes += 1
        self._news.set()

    def _failed(self, why: str) -> None:
        self.failures.append(why)
        self._news.set()

    async def news(self) -> None:
        """Wait until it says something more."""
        await self._news.wait()
        self._news.clear()


def numbered(*folders: Path) -> dict[str, int]:
    return {str(folder): folder.stat().st_ino for folder in folders}


@asynccontextmanager
async def watched(*folders: Path) -> AsyncIterator[Told]:
    told = Told()
    told.watch.follow(numbered(*folders))
    try:
        yield told
    finally:
        await told.watch.close()


def done(work: Callable[[], Awaitable[Any]]) -> None:
    run(work())


def test_it_says_that_it_stands_and_then_every_change(tmp_path: Path) -> None:
    async def work() -> None:
        async with watched(tmp_path) as told:
            assert told.watch.stands is False
            await told.news()
            assert told.watch.stands is True
            for number in range(3):
                (tmp_path / "SKILL.md").write_text(f"Version {number}.")
                await told.news()
            (tmp_path / "SKILL.md").unlink()
            await told.news()
            assert told.failures == []

    done(work)


def test_other_folders_are_watched_in_place_of_those_before(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()

    async def work() -> None:
        async with watched(first) as told:
            await told.news()
            told.watch.follow(numbered(second))
            assert told.watch.stands is False
            await told.news()
            before = told.changes
            (first / "a").write_text("nobody is told")
            (second / "b").write_text("told")
            await told.news()
            assert told.changes == before + 1

    done(work)


def test_what_lies_below_a_folder_is_another_folder(tmp_path: Path) -> None:
    below = tmp_path / "node_modules"
    below.mkdir()

    async def work() -> None:
        async with watched(tmp_path) as told:
            await told.news()
            before = told.changes
            (below / "many").write_text("x")
            (tmp_path / "own").write_text("x")
            await told.news()
            assert told.changes == before + 1

    done(work)


def test_a_folder_that_was_made_anew_is_watched_again(tmp_path: Path) -> None:
    folder = tmp_path / "skill"
    folder.mkdir()

    async def work() -> None:
        async with watched(tmp_path, folder) as told:
            await told.news()
            (tmp_path / "beside").mkdir()
            (tmp_path / "beside").rename(tmp_path / "new")  # no inode comes twice
            shutil.rmtree(folder)
            (tmp_path / "new").rename(folder)
            await told.news()
            told.watch.follow(numbered(tmp_path, folder))
            while not told.watch.stands:
                await told.news()
            before = told.changes
            (folder / "SKILL.md").write_text("told")
            while told.changes == before:
                await told.news()

    done(work)


def test_where_the_system_refuses_it_is_said_and_nothing_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refusing(*folders: str, **options: Any) -> AsyncIterator[set[Any]]:
        raise OSError(28, "OS file watch limit reached")
        yield set()

    monkeypatch.setattr(folder_watch, "_watching", lambda: refusing)

    async def work() -> None:
        async with watched(tmp_path) as told:
            await told.news()
            assert told.failures == ["OS file watch limit reached"]
            assert told.watch.stands is False
            told.watch.follow(numbered(tmp_path))  # the same folders are not tried again
            assert told.failures == ["OS file watch limit reached"]

    done(work)


def test_a_watch_that_is_closed_says_nothing_more(tmp_path: Path) -> None:
    async def work() -> None:
        async with watched(tmp_path) as told:
            await told.news()
        before = told.changes
        shutil.rmtree(tmp_path)
        async with watched(tmp_path.parent) as other:  # time enough for the first to have spoken
            await other.news()
        assert told.changes == before
        assert told.watch.stands is False

    done(work)


def test_without_watchfiles_it_watches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_watch, "_watching", lambda: None)
    watch = FolderWatch(lambda: None, lambda why: None)
    watch.follow(numbered(tmp_path))
    assert (watch.available, watch.stands) == (False, False)
    asyncio.run(watch.close())
