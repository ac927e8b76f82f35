"""The served catalog of a node: it waits for the first generation, and then for nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.store_follower import StoreFollower
from tests.configuration import configure
from tests.engine.embedding.letters import GatedLetters, install
from tests.store.node.nodes import LIBRARY, store_in


def options_of(folder: Path, **changes: Any) -> ServiceOptions:
    given = {"store": f"sqlite:///{folder}/store.db", "state_dir": str(folder / "node"), **changes}
    return ServiceOptions(token="", **given)


def test_a_node_answers_by_hybrid_until_its_vectors_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    configure(monkeypatch, tmp_path, scorer={"name": "hybrid+letters"})
    letters = GatedLetters()
    install(monkeypatch, letters)
    with store_in(tmp_path) as store:
        store.publish(LIBRARY, tenant="acme", publisher="ci")

    async def work() -> None:
        follower = StoreFollower(options_of(tmp_path), Log("none"))
        try:
            snapshot = await follower.current()
            ranking = snapshot.ranking_for("hybrid+letters")
            assert ranking.scorer == "hybrid"
            assert "still being computed" in ranking.note
            letters.gate.set()
            while snapshot.ranking_for("hybrid+letters").note:
                await asyncio.sleep(0)
            assert snapshot.vectors == (len(LIBRARY), len(LIBRARY))
        finally:
            await follower.close()

    asyncio.run(asyncio.wait_for(work(), 60))
