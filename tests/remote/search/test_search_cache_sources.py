"""Of which sources anything is kept: of those that we know, over catalogs that cannot change."""

from __future__ import annotations

import asyncio
import json
import pickle
import shutil
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from skillyard.catalog import Catalog, read_catalog
from skillyard.errors import InvalidInput
from skillyard.policy.library import open_catalog
from skillyard.remote.search import SearchResult
from skillyard.remote.sources import registry
from skillyard.remote.sources.dependencies import (
    Age,
    DependencyTracker,
    forbid_caching,
    track_dependencies,
)
from skillyard.remote.sources.github import GitHub
from skillyard.remote.sources.local import LocalSource
from skillyard.remote.sources.protocol import CacheKey, Hit, Package, Source
from skillyard.remote.sources.settings import Settings
from skillyard.remote.sources.skills_sh import SkillsSh
from skillyard.remote.sources.transport import Reply, Transport
from skillyard_testkit import FakeServers, faults
from tests.remote.search.counted_search import REPOSITORY, Counted, Keeping, listed, said
from tests.remote.search.fake_search import settings_of, skill_text, transport_of
from tests.remote.search.memory import Memory, hit
from tests.remote.sources.clients import Clock
from tests.tables import for_each

T = TypeVar("T")
BARE = Settings(enabled=(), shipped_registry=False)


def library(folder: Path, body: str = "Do it so.") -> Path:
    """Write a library of two skills, one of which has no instructions."""
    for name, text in (("pdf-here", body), ("pdf-empty", "")):
        place = folder / name
        (place / "references").mkdir(parents=True, exist_ok=True)
        (place / "SKILL.md").write_text(skill_text(name, "Works with pdf.", text))
        (place / "references" / "a.md").write_text(f"Reference of {body}")
    return folder


def searched(
    use: Callable[[Counted], Awaitable[T]], sources: Sequence[str | Source], **service: Any
) -> T:
    async def run() -> T:
        service_settings = service.pop("settings", BARE)
        async with Counted(sources, settings=service_settings, cache=False, **service) as search:
            return await use(search)

    return asyncio.run(run())


async def thrice(search: Counted, **how: Any) -> tuple[int, SearchResult]:
    """Return how often the sources were gone through for three searches, and the last answer."""
    for _ in range(2):
        await search.search("pdf", **how)
    result = await search.search("pdf", **how)
    return search.gathered, result


def at_hand(folder: Path, body: str = "Do it so.") -> Catalog:
    """Return the catalog of the library's skill that has instructions."""
    return Catalog.from_skills(skill for skill in read_catalog(library(folder, body)) if skill.body)


def test_what_a_catalog_of_this_machine_has_is_kept(tmp_path: Path) -> None:
    gathered, result = searched(thrice, ["local"], catalog=at_hand(tmp_path))
    assert gathered == 1
    assert [one.skill.name for one in result.skills] == ["pdf-here"]


def test_another_catalog_in_its_place_is_seen(tmp_path: Path) -> None:
    before, after = at_hand(tmp_path / "a"), at_hand(tmp_path / "b", "Do it otherwise.")

    async def replaced(search: Counted) -> tuple[list[str], int]:
        bodies = []
        for catalog in (before, before, after, after, before):
            (source,) = search.sources
            assert isinstance(source, LocalSource)
            source.catalog = catalog
            (found,) = (await search.search("pdf here")).skills
            bodies.append((found.skill.body or "").strip())
        return bodies, search.gathered

    bodies, gathered = searched(replaced, ["local"], catalog=before)
    so, otherwise = "Do it so.", "Do it otherwise."
    assert bodies == [so, so, otherwise, otherwise, so]
    assert gathered == 3


@for_each("how", [{"include_references": True}, {}], ids=["references", "no body"])
def test_files_that_are_read_from_this_machine_are_read_every_time(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    """With references, and for a skill that has no instructions, the source reads files."""
    catalog = read_catalog(library(tmp_path))

    async def changed(search: Counted) -> tuple[int, str]:
        await thrice(search, **how)
        library(tmp_path, "Do it otherwise.")
        result = await search.search("pdf", **how)
        return search.gathered, said(result)

    gathered, text = searched(changed, ["local"], catalog=catalog)
    assert gathered == 4
    assert not how or "Reference of Do it otherwise." in text


def test_a_catalog_that_reads_its_files_later_is_asked_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    shutil.rmtree(library(tmp_path / "skills") / "pdf-empty")
    catalog = open_catalog([str(tmp_path / "skills")])
    assert type(catalog) is not Catalog

    async def without_contents(search: Counted) -> tuple[int, SearchResult]:
        return await thrice(search, include_content=False)

    gathered, _ = searched(without_contents, ["local"], catalog=catalog)
    assert gathered == 3


def test_a_file_that_went_after_it_was_indexed_costs_only_its_own_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SKILLYARD_INDEX", raising=False)
    catalog = open_catalog([str(library(tmp_path / "skills"))])
    shutil.rmtree(tmp_path / "skills" / "pdf-empty")
    _, result = searched(thrice, ["local"], catalog=catalog)
    here, gone = result.skills
    assert (here.skill.name, here.skill.body) == ("pdf-here", "Do it so.")
    assert gone.failure is not None
    assert (gone.hit.name, gone.skill.body, gone.failure.code) == ("pdf-empty", None, "not_found")


def test_somebody_elses_source_is_asked_every_time() -> None:
    memory = Memory([hit("pdf-1")])
    gathered, result = searched(thrice, [memory])
    assert (gathered, len(memory.asked), result.count) == (3, 3, 1)


def test_a_source_that_asks_through_another_transport_is_asked_every_time(up: FakeServers) -> None:
    """It is of a kind that we know, and nobody notes how long its answers stand."""
    listed(up)

    async def asked() -> int:
        async with transport_of(settings_of(up)) as other:
            source = SkillsSh(other, GitHub(other))
            async with Counted([source], settings=BARE, cache=False) as search:
                gathered, result = await thrice(search)
                assert result.count
                return gathered

    assert asyncio.run(asked()) == 3


class Changing(SkillsSh):
    """A package's source that is nearly one of ours."""

    name = "changing"
    found = 0

    async def search(self, query: str, limit: int) -> list[Hit]:
        self.found += 1
        return [Hit("acme/skills", f"pdf-{self.found}", self.name)]

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        return Package({"SKILL.md": skill_text(hit.id).encode()}, hit.source)


def test_a_subclass_that_declares_no_cache_key_of_its_own_is_asked_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def made(settings: Settings, transport: Transport) -> Source:
        return Changing(transport, GitHub(transport))

    monkeypatch.setattr(registry, "_entry_points", lambda: {"changing": lambda: made})
    gathered, result = searched(thrice, ["changing"])
    assert (gathered, result.skills[0].hit.id) == (3, "pdf-3")


class Declared(Memory):
    """A package's source that says what its answers are made of."""

    key: object = CacheKey("edition 1")

    @property
    def cache_key(self) -> object:
        return self.key

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        return await super().search(query, limit)

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        return await super().fetch(hit, references=references, whole=whole)


def offer(monkeypatch: pytest.MonkeyPatch, source: Source) -> None:
    """Let an installed package bring the source ``memory``."""
    monkeypatch.setattr(registry, "_entry_points", lambda: {"memory": lambda: lambda *_: source})


def test_a_package_source_with_a_cache_key_is_asked_again_when_the_key_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Declared([hit("pdf-1")])
    offer(monkeypatch, source)

    async def changed(search: Counted) -> list[int]:
        gathered, _ = await thrice(search)
        source.key = CacheKey("edition 2")
        await thrice(search)
        source.key = None
        return [gathered, search.gathered, (await thrice(search))[0]]

    assert searched(changed, ["memory"]) == [1, 2, 5]


def test_a_cache_key_of_another_type_is_an_error_before_the_first_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Declared([hit("pdf-1")])
    source.key = "edition 1"
    offer(monkeypatch, source)
    with pytest.raises(InvalidInput, match="cache_key is str, not a CacheKey"):
        searched(thrice, ["memory"])


class Secretive(Declared):
    """Asks the transport, whose answers expire, and its key does not say so."""

    def __init__(self, transport: Transport) -> None:
        super().__init__([hit("pdf-1")])
        self.transport = transport

    @property
    def cache_key(self) -> object:
        return CacheKey("edition 1")

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        await self.transport.get("skills.sh", SEARCH)
        return await super().search(query, limit)


def test_a_source_that_asks_the_transport_and_does_not_declare_it_is_not_cached(
    up: FakeServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(up)

    def build(settings: Settings, transport: Transport) -> Source:
        return Secretive(transport)

    monkeypatch.setattr(registry, "_entry_points", lambda: {"memory": lambda: build})
    gathered, result = searched(thrice, ["memory"], settings=settings_of(up))
    assert (gathered, result.count) == (3, 1)


def test_one_of_them_that_is_not_known_is_enough(up: FakeServers) -> None:
    listed(up)
    sources: list[str | Source] = ["skills.sh", Memory([hit("pdf-1")])]
    gathered, _ = searched(thrice, sources, settings=settings_of(up))
    assert gathered == 3


def test_every_kind_of_remote_source_is_kept(up: FakeServers, tmp_path: Path) -> None:
    listed(up)
    up.add_well_known("pdf-site", {"SKILL.md": skill_text("pdf-site")})
    file = tmp_path / "registry.md"
    file.write_text(f"- pdf-1 | {REPOSITORY} | skills/pdf-1 | Work with pdf\n", encoding="utf-8")
    settings = settings_of(
        up,
        enabled=("registry", "skills.sh", "github", "well-known"),
        repositories=(REPOSITORY,),
        sites=(up.well_known,),
        registry_files=(str(file),),
    )

    async def both(search: Counted) -> tuple[int, int]:
        await search.search("pdf")
        await search.search("pdf", include_references=True)
        before, asked = search.gathered, len(up.requests)
        again = [await search.search("pdf", include_references=each) for each in (False, True)] * 2
        assert all(len(one.sources) == 4 for one in again)
        return search.gathered - before, len(up.requests) - asked

    gathered, asked = asyncio.run(_with(settings, both))
    assert asked == 0
    assert gathered <= 2  # what came from remotes was written while it was gathered


async def _with(settings: Settings, use: Callable[[Counted], Awaitable[T]]) -> T:
    async with Counted(settings=settings, transport=transport_of(settings)) as search:
        return await use(search)


def test_threads_may_share_a_service(tmp_path: Path) -> None:
    catalog = read_catalog(library(tmp_path))
    service = Counted(["local"], settings=BARE, catalog=catalog, cache=False)
    queries = ["pdf", "pdf here", "works", "nothing"] * 20

    def searched_in_a_thread(query: str) -> str:
        return said(asyncio.run(service.search(query, include_content=False)))

    alone = [searched_in_a_thread(query) for query in queries]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(searched_in_a_thread, queries)) == alone
    assert service.gathered <= 4


# --- what is noted ---


@pytest.fixture
def keeping(up: FakeServers) -> Keeping:
    listed(up)
    return Keeping(up, None)


SEARCH = "/api/search?q=pdf&limit=20"


def asked(keeping: Keeping, use: Callable[[Transport, DependencyTracker], Awaitable[T]]) -> T:
    async def run() -> T:
        async with keeping.transport() as transport:
            return await use(transport, DependencyTracker(transport))

    return asyncio.run(run())


def test_both_views_of_a_transport_share_what_is_on_its_way(
    up: FakeServers, keeping: Keeping
) -> None:
    async def at_once(
        transport: Transport, noting: DependencyTracker
    ) -> tuple[int, int, list[Reply]]:
        views = [transport, noting] * 3
        replies = await asyncio.gather(*(one.get("skills.sh", SEARCH) for one in views))
        return transport.requests, noting.requests, replies

    here, there, replies = asked(keeping, at_once)
    assert (here, there, len(up.requests)) == (1, 1, 1)
    assert len({reply.body for reply in replies}) == 1


def test_it_stands_as_long_as_the_part_that_stands_shortest(keeping: Keeping) -> None:
    async def several(transport: Transport, noting: DependencyTracker) -> tuple[float, bool, float]:
        await noting.get("skills.sh", SEARCH, fresh_s=100)
        keeping.clock.turn(20)
        start = keeping.clock.now
        with track_dependencies() as notes:
            await noting.get("skills.sh", SEARCH, fresh_s=100)
            first = notes.until - start
            assert (await noting.get("skills.sh", "/api/search/nowhere", fresh_s=500)).status == 404
            assert notes.until - start == min(first, 60)
            await noting.get("skills.sh", SEARCH, fresh_s=30)
        return first, notes.is_cacheable, notes.until - start

    assert asked(keeping, several) == (80.0, True, 10.0)


def test_what_failed_or_is_too_old_does_not_stand(up: FakeServers, keeping: Keeping) -> None:
    async def failing(transport: Transport, noting: DependencyTracker) -> list[bool]:
        await noting.get("skills.sh", SEARCH)
        up.faults.add("skills_sh", "*", faults.status(500), times=None)
        stand = []
        for path in (SEARCH, "/api/search?q=other&limit=20"):
            with track_dependencies() as notes:
                await asyncio.gather(noting.get("skills.sh", path), return_exceptions=True)
            stand.append(notes.is_cacheable)
        with track_dependencies() as notes:
            forbid_caching()
        return [*stand, notes.is_cacheable]

    assert asked(keeping, failing) == [False, False, False]


def test_nothing_is_noted_where_nobody_asks_for_it(keeping: Keeping) -> None:
    async def plain(transport: Transport, noting: DependencyTracker) -> type[float]:
        forbid_caching()
        return type((await noting.get("skills.sh", SEARCH)).age_s)

    assert asked(keeping, plain) is float


def test_an_age_is_a_number_that_can_grow() -> None:
    clock = Clock()
    age = Age(2.5, clock.now - 2.5)
    assert (age, json.dumps(age), repr(age), age + 1) == (2.5, "2.5", "2.5", 3.5)
    assert (age.at(clock.now), age.at(clock.now + 10), age.at(0.0)) == (2.5, 12.5, 0.0)
    assert max(0.0, age) is age
    assert pickle.loads(pickle.dumps(float(age))) == 2.5
