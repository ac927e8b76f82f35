"""The served catalog of a node: it waits for the first generation, and then for nothing."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from skillyard import InvalidInput, SkillIoError
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.store_follower import StoreFollower
from skillyard.store.node.state import NodeState
from tests.configuration import configure
from tests.engine.embedding.letters import GatedLetters, install
from tests.store.node.nodes import LIBRARY, store_in
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
