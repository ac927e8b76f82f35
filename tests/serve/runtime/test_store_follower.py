"""The served catalog of a node: it waits for the first generation, and then for nothing."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from skillyard import InvalidInput, SkillIoError
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.snapshot import Snapshot
from skillyard.serve.runtime.store_follower import StoreFollower
from skillyard.store.node.state import NodeState
from tests.configuration import configure
from tests.engine.embedding.letters import GatedLetters, install
from tests.store.node.nodes import LIBRARY, Node, answers, in_memory, store_in
from tests.store.skills import skill, skills
from tests.tables import for_each


def options_of(folder: Path, **changes: Any) -> ServiceOptions:
    given = {"store": f"sqlite:///{folder}/store.db", "state_dir": str(folder / "node"), **changes}
    return ServiceOptions(token="", **given)


def run(
    options: ServiceOptions,
    work: Callable[[StoreFollower], Coroutine[Any, Any, None]],
    stream: io.StringIO | None = None,
) -> None:
    """Let ``work`` use the catalog of those options, and end it."""

    async def bounded() -> None:
        log = Log("none") if stream is None else Log("json", stream)
        async with asyncio.timeout(60):
            follower = StoreFollower(options, log)
            try:
                await work(follower)
            finally:
                await follower.close()

    asyncio.run(bounded())


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0)


@for_each("held_before", [False, True])
def test_the_first_who_asks_waits_for_the_first_generation(
    tmp_path: Path, held_before: bool
) -> None:
    with store_in(tmp_path) as store:
        store.publish(LIBRARY, tenant="acme", publisher="ci")
        expected = answers(in_memory(store))
        if held_before:
            Node(store, tmp_path / "node").take()

    async def work(follower: StoreFollower) -> None:
        assert not follower.ready
        found = await follower.current()
        assert answers(found.whole) == expected
        assert found.generation == 1
        assert follower.ready
        assert await follower.fresh() is found
        assert follower.refresh_if_due() is None
        await follower.wait_until_idle()

    run(options_of(tmp_path), work)


def test_a_look_ends_when_the_first_generation_is_there(tmp_path: Path) -> None:
    """A client of a program that starts asks at once; ``current`` of MCP's library looks."""
    with store_in(tmp_path) as store:
        store.publish(LIBRARY, tenant="acme", publisher="ci")

    async def work(follower: StoreFollower) -> None:
        await follower.refresh()
        assert follower.snapshot is not None

    run(options_of(tmp_path), work)


def test_without_any_generation_it_is_refused_as_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillyard.serve.runtime.follower.PATIENCE_S", 0.01)

    async def work(follower: StoreFollower) -> None:
        with pytest.raises(Refused) as raised:
            await follower.current()
        assert raised.value.status == 503
        await until(lambda: bool(follower.failure))
        assert follower.failure == "store_not_followed"
        assert follower.store_state.generation == 0
        assert not follower.ready

    run(options_of(tmp_path), work)


def test_listeners_hear_on_the_loop_what_a_later_generation_changes(
    tmp_path: Path,
) -> None:
    with store_in(tmp_path) as store:
        store.publish(LIBRARY, tenant="acme", publisher="ci")
        stream = io.StringIO()

        async def work(follower: StoreFollower) -> None:
            loop = asyncio.get_running_loop()
            seen: list[tuple[int, list[str]]] = []

            def listen(before: Snapshot, after: Snapshot) -> None:
                assert asyncio.get_running_loop() is loop
                added, _, _ = before.whole.difference(after.whole)
                seen.append((after.generation, [each.name for each in added]))

            follower.listen(listen)
            await follower.current()
            store.publish([skill("more")], tenant="acme", publisher="ci")
            await until(lambda: seen == [(2, ["more"])])
            assert follower.reloads == 1
            held = follower.snapshot
            assert held is not None
            assert held.generation == 2
            # What the follower tells of itself comes from its own thread, a moment later.
            await until(lambda: follower.store_state.generation == 2)
            assert follower.headers(held)["Skillyard-Generation"] == "2"

        run(options_of(tmp_path), work, stream)
        told = [json.loads(line) for line in stream.getvalue().splitlines()]
        assert [(line["event"], line["skills"]) for line in told] == [
            ("catalog", 6),
            ("catalog", 7),
        ]


def test_it_goes_on_from_its_folder_and_says_how_old_it_is(tmp_path: Path) -> None:
    with store_in(tmp_path) as store:
        store.publish(skills(3), tenant="acme", publisher="ci")
        Node(store, tmp_path / "node").take()
    away = (tmp_path / "store.db").rename(tmp_path / "away.db")
    stream = io.StringIO()

    async def work(follower: StoreFollower) -> None:
        found = await follower.current()
        assert len(found.whole) == 3
        await until(lambda: bool(follower.failure))
        assert not follower.ready  # it never heard of the store
        assert follower.headers(found)["Skillyard-Age"] == "unknown"
        assert follower.store_state.age_s is None
        away.rename(tmp_path / "store.db")
        await until(lambda: follower.ready)
        assert follower.failure == ""
        assert float(follower.headers(found)["Skillyard-Age"]) < 60

    run(options_of(tmp_path, max_stale_s=3_600), work, stream)
    told = [json.loads(line) for line in stream.getvalue().splitlines()]
    lost, found_again = (line for line in told if line["event"] == "store")
    assert (lost["level"], found_again["level"]) == ("error", "info")
    assert "no catalog" in lost["error"]


def test_a_store_that_is_away_is_logged_though_nobody_asks(tmp_path: Path) -> None:
    stream = io.StringIO()

    async def work(follower: StoreFollower) -> None:
        follower.refresh_if_due()
        await until(lambda: bool(follower.store_state.failure))
        await asyncio.sleep(0)

    run(options_of(tmp_path), work, stream)
    assert '"event":"store"' in stream.getvalue().replace(" ", "")


def test_two_nodes_in_one_folder_are_refused_at_the_start(tmp_path: Path) -> None:
    refused = pytest.raises(SkillIoError, match="another process follows")
    with NodeState(str(tmp_path / "node")).lock(), refused:
        StoreFollower(options_of(tmp_path), Log("none"))


def test_an_address_that_is_none_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        StoreFollower(options_of(tmp_path, store="nothing"), Log("none"))


@for_each(
    ("name", "value"),
    [("max_stale_s", -1), ("max_stale_s", float("nan")), ("max_stale_s", float("inf"))],
)  # fmt: skip
def test_options_that_cannot_be_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=name):
        ServiceOptions(token="", **{name: value})


def test_a_node_answers_by_hybrid_until_its_vectors_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    configure(monkeypatch, tmp_path, scorer={"name": "hybrid+letters"})
    letters = GatedLetters()
    install(monkeypatch, letters)
    with store_in(tmp_path) as store:
        store.publish(LIBRARY, tenant="acme", publisher="ci")

    async def work(follower: StoreFollower) -> None:
        snapshot = await follower.current()
        ranking = snapshot.ranking_for("hybrid+letters")
        assert ranking.scorer == "hybrid"
        assert "still being computed" in ranking.note
        letters.gate.set()
        await until(lambda: not snapshot.ranking_for("hybrid+letters").note)
        assert snapshot.vectors == (len(LIBRARY), len(LIBRARY))

    run(options_of(tmp_path), work)
