"""A large library: what the files say is there before what ranks them, and both in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from skillyard.catalog import changes
from skillyard.index.indexed import open_catalog
from skillyard.ranking.match import rank
from skillyard.serving.runtime import live, watching
from skillyard.serving.runtime.errors import Refused
from skillyard.serving.runtime.live import LiveCatalog
from skillyard.serving.runtime.logging import Log
from skillyard.serving.runtime.snapshot import Snapshot
from tests.serving.mcp.running import LIBRARY, document, eventually, options_of, run, write_tree


@pytest.fixture(params=["indexed", "in memory"], autouse=True)
def large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every library counts as large, and nobody is told of changes."""
    monkeypatch.setattr(live, "LARGE", 0)
    monkeypatch.setattr(watching, "_watching", lambda: None)
    if request.param == "in memory":
        monkeypatch.setenv("SKILLYARD_INDEX", "off")


@asynccontextmanager
async def following(root: Path) -> AsyncIterator[LiveCatalog]:
    catalog = LiveCatalog(options_of(root), Log("none"))
    try:
        await catalog.current()
        yield catalog
    finally:
        await catalog.close()


def names(catalog: LiveCatalog) -> list[str]:
    assert catalog.files is not None
    return [skill.name for skill in catalog.files]


def best(catalog: LiveCatalog, query: str) -> str:
    assert catalog.held is not None
    matches = rank(catalog.held.ranked_by("hybrid"), query, limit=1)
    return matches[0].skill.name if matches else ""


def test_the_files_do_not_wait_for_the_ranking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)
    ready = Event()
    make_ready = Snapshot.make_ready

    def slowly(self: Snapshot, scorers: Any) -> None:
        assert ready.wait(30)
        make_ready(self, scorers)

    async def work() -> None:
        async with following(root) as catalog:
            before = catalog.held
            monkeypatch.setattr(Snapshot, "make_ready", slowly)
            write_tree(root, {"brew/SKILL.md": document("brew", "Brew a pot of tea.")})
            try:
                await catalog.look()
                assert "brew" in names(catalog)
                assert catalog.held is before
                write_tree(root, {"knit/SKILL.md": document("knit", "Knit woollen socks.")})
                await catalog.look()
                assert "knit" in names(catalog)
                assert catalog.held is before
            finally:
                ready.set()
            await catalog.settled()
            assert best(catalog, "brew a pot of tea") == "brew"
            assert best(catalog, "knit woollen socks") == "knit"
            assert catalog.held is not None
            assert catalog.files is catalog.held.whole

    run(work())


def test_who_listens_hears_of_the_files_and_of_the_ranking(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)

    async def work() -> None:
        async with following(root) as catalog:
            heard = []
            catalog.listen(lambda: heard.append((catalog.files, catalog.held)))
            (root / "deploy/SKILL.md").write_text(document("deploy", "Fly to the moon."))
            await catalog.look()
            await catalog.settled()
            (files, held), (files_last, held_last) = heard[0], heard[-1]
            assert held is not None
            assert held_last is not None
            assert files is not held.whole
            assert files_last is held_last.whole
            assert best(catalog, "fly to the moon") == "deploy"

    run(work())


def test_a_look_that_finds_nothing_reads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)

    async def work() -> None:
        async with following(root) as catalog:
            files = catalog.files
            assert files is not None
            monkeypatch.setattr(changes, "changed_entries", lambda *known: [])
            monkeypatch.setattr(type(files), "reload", lambda self: pytest.fail("it was read"))
            monkeypatch.setattr(live, "CHECK_S", 1e9)
            catalog._checked = catalog._clock()
            await catalog.look()
            assert catalog.files is files
            assert catalog.failure == ""

    run(work())


def test_what_a_glance_cannot_see_is_found_by_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)

    async def work() -> None:
        async with following(root) as catalog:
            files = catalog.files
            assert files is not None
            monkeypatch.setattr(changes, "changed_entries", lambda *known: [])
            write_tree(root, {"brew/SKILL.md": document("brew", "Brew a pot of tea.")})
            await catalog.look()  # the first look after a start checks
            await catalog.settled()
            assert "brew" in names(catalog)
            assert best(catalog, "brew a pot of tea") == "brew"

    run(work())


def test_a_root_that_goes_and_comes_back_is_said_and_unsaid(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)

    async def work() -> None:
        async with following(root) as catalog:
            root.rename(tmp_path / "away")
            await catalog.look()
            assert catalog.failure
            assert "deploy" in names(catalog)
            (tmp_path / "away").rename(root)

            async def healthy() -> bool:
                await catalog.look()
                return catalog.failure == ""

            await eventually(healthy)
            await asyncio.sleep(0)
            assert "deploy" in names(catalog)

    run(work())


@pytest.mark.parametrize("large", ["indexed"], indirect=True)
def test_while_a_large_library_is_indexed_requests_are_told_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)
    monkeypatch.setattr(live, "PATIENCE_S", 0.0)
    go_on = Event()
    opened = open_catalog

    def slowly(*roots: Any, progress: Any, **options: Any) -> Any:
        progress(0, 400)
        progress(100, 400)
        assert go_on.wait(30)
        return opened(*roots, **options)

    monkeypatch.setattr(live, "open_catalog", slowly)

    async def work() -> None:
        catalog = LiveCatalog(options_of(root), Log("none"))
        try:
            with pytest.raises(Refused) as raised:
                await catalog.current()
            refused = raised.value
            assert (refused.status, refused.code) == (503, "index_building")
            assert refused.extra["progress"]["total"] == 400
            assert 1 <= int(refused.headers["Retry-After"]) <= 30
            assert catalog.building is not None
            go_on.set()
            await catalog.settled()
            assert (await catalog.current()).generation == 1
            assert catalog.building is None
        finally:
            go_on.set()
            await catalog.close()

    run(work())
