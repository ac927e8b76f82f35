"""Folders are followed: what changed is there after a refresh, and is said once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from skillyard import Catalog
from skillyard.engine.ranking.match import rank
from skillyard.install.policy.library import open_catalog
from skillyard.serve.runtime import follower as freshness
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.follower import FolderFollower
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.snapshot import Snapshot
from tests.serve.mcp.local_servers import (
    LIBRARY,
    document,
    eventually,
    options_of,
    run,
    write_tree,
)


@pytest.fixture(params=["indexed", "in memory"], autouse=True)
def large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every library counts as large."""
    monkeypatch.setattr(freshness, "LARGE_LIBRARY", 0)
    if request.param == "in memory":
        monkeypatch.setenv("SKILLYARD_CACHE", os.devnull)


@asynccontextmanager
async def following(root: Path) -> AsyncIterator[FolderFollower]:
    follower = FolderFollower(options_of(root), Log("none"))
    try:
        await follower.current()
        yield follower
    finally:
        await follower.close()


def files_of(follower: FolderFollower) -> Catalog:
    assert follower.snapshot is not None
    return follower.snapshot.whole


def names(follower: FolderFollower) -> list[str]:
    return [skill.name for skill in files_of(follower)]


def best(follower: FolderFollower, query: str) -> str:
    assert follower.snapshot is not None
    matches = rank(follower.snapshot.ranking_for("hybrid").catalog, query, limit=1)
    return matches[0].skill.name if matches else ""


def test_who_listens_hears_once_what_changed(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)

    async def work() -> None:
        async with following(root) as follower:
            heard: list[tuple[Snapshot, Snapshot]] = []
            follower.listen(lambda *change: heard.append(change))
            (root / "deploy/SKILL.md").write_text(document("deploy", "Fly to the moon."))
            await follower.refresh()
            await follower.wait_until_idle()
            ((before, after),) = heard
            _, changed, _ = before.whole.difference(after.whole)
            assert [skill.name for skill in changed] == ["deploy"]
            assert after is follower.snapshot
            assert best(follower, "fly to the moon") == "deploy"

    run(work())


def test_a_look_that_finds_nothing_says_nothing(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)

    async def work() -> None:
        async with following(root) as follower:
            heard: list[tuple[Snapshot, Snapshot]] = []
            follower.listen(lambda *change: heard.append(change))
            await follower.refresh()
            assert (heard, follower.reloads, follower.failure) == ([], 0, "")
            assert follower.snapshot is not None
            assert follower.snapshot.generation == 1

    run(work())


def test_a_root_that_goes_and_comes_back_is_said_and_unsaid(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)

    async def work() -> None:
        async with following(root) as follower:
            root.rename(tmp_path / "away")
            await follower.refresh()
            assert follower.failure
            assert "deploy" in names(follower)
            (tmp_path / "away").rename(root)

            async def healthy() -> bool:
                await follower.refresh()
                return follower.failure == ""

            await eventually(healthy)
            await asyncio.sleep(0)
            assert "deploy" in names(follower)

    run(work())


@pytest.mark.parametrize("large", ["indexed"], indirect=True)
def test_while_a_large_library_is_indexed_requests_are_told_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)
    monkeypatch.setattr(freshness, "PATIENCE_S", 0.0)
    go_on = Event()
    opened = open_catalog

    def slowly(*roots: Any, progress: Any, **options: Any) -> Any:
        progress(0, 400)
        progress(100, 400)
        assert go_on.wait(30)
        return opened(*roots, **options)

    monkeypatch.setattr(freshness, "open_catalog", slowly)

    async def work() -> None:
        follower = FolderFollower(options_of(root), Log("none"))
        try:
            with pytest.raises(Refused) as raised:
                await follower.current()
            refused = raised.value
            assert (refused.status, refused.code) == (503, "index_building")
            assert refused.extra["progress"].total == 400
            assert 1 <= int(refused.headers["Retry-After"]) <= 30
            assert follower.building is not None
            go_on.set()
            await follower.wait_until_idle()
            assert (await follower.current()).generation == 1
            assert follower.building is None
        finally:
            go_on.set()
            await follower.close()

    run(work())
