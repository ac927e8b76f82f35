"""Clocks that are wrong, stores that are slow, and nodes that are far behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skillyard.engine.index.token_table import bundled_table
from skillyard.store.node.catalog import NodeCatalog
from skillyard.store.node.follower import Follower
from skillyard.store.node.generation_builder import PAGE, rebuild
from skillyard.store.node.library import NodeLibrary
from skillyard.store.node.state import NodeState, position_in
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import START, Changes, Position
from tests.store.cluster.cluster import DATABASE_OF_NODES
from tests.store.cluster.journal import FAMILIES, TENANT
from tests.store.cluster.nodes import node, until
from tests.store.servers import Server
from tests.store.skills import skill

pytestmark = pytest.mark.slow

AMBER = FAMILIES[0]
TEN_YEARS_S = 10 * 365 * 86_400.0
FAR = 2_000_000 if os.environ.get("SKILLYARD_SOAK") == "1" else 50_000
"""Generations that a node did not see."""
CHANGED = 1_500
"""Skills that they changed, each many times."""
BULK = f"""
    INSERT INTO skillyard.generations (generation, stamp, tenant, publisher, action, added, changed,
        withdrawn)
    SELECT n, 's' || n, '{TENANT}', 'p', 'publish', 0, 1, 0 FROM generate_series(2, {FAR}) n;
    INSERT INTO skillyard.versions (generation, ordinal, tenant, namespace, source, place,
        version, digest, around, installs, superseded)
    SELECT n, 1, '{TENANT}', '', '', 'p' || (n % {CHANGED}), n, v.digest, v.around, n,
        CASE WHEN n + {CHANGED} <= {FAR} THEN n + {CHANGED} END
    FROM generate_series(2, {FAR}) n, skillyard.versions v WHERE v.generation = 1;
"""


class Clock:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.mark.parametrize("jump", [TEN_YEARS_S, -TEN_YEARS_S])
def test_a_clock_that_is_set_ten_years_off_stops_nothing(
    store: CatalogStore, url: str, tmp_path: Path, jump: float
) -> None:
    clock = Clock()
    with Follower(url, str(tmp_path / "node"), clock=clock) as follower:
        until(lambda: follower.following.age_s is not None)
        clock.now += jump
        wanted = store.publish(AMBER.skills(1), tenant=TENANT, publisher="p").generation
        until(lambda: follower.following.generation == wanted, patience_s=10)
        until(lambda: (follower.following.age_s or 0.0) < 10, patience_s=10)
        wanted = store.publish(AMBER.skills(2), tenant=TENANT, publisher="p").generation
        until(lambda: follower.following.generation == wanted, patience_s=10)
        assert follower.following.failure == ""


def test_an_age_counts_from_when_the_store_was_asked_and_not_from_when_that_was_shown(
    store: CatalogStore, url: str, tmp_path: Path
) -> None:
    """What is published while many skills are taken over is missing in the answers after it."""
    clock = Clock()

    def slow(catalog: NodeCatalog) -> None:
        clock.now += 100.0

    follower = Follower(url, str(tmp_path / "node"), clock=clock, listener=slow)
    try:
        store.publish(AMBER.skills(1), tenant=TENANT, publisher="p")
        follower._step()
        assert 100 <= (follower.following.age_s or 0.0) < 101
        first = follower.catalog
        follower._step()
        assert (follower.following.age_s or 0.0) < 1
        store.publish(AMBER.skills(2), tenant=TENANT, publisher="p")
        follower._step()
        second = follower.catalog
        assert first is not None
        assert second is not None
        follower._step()
        # An answer of the first one that is still on its way does not become young with the second.
        assert (follower.age_s(second.position) or 0.0) < 1
        assert (follower.age_s(first.position) or 0.0) > 100
        assert follower.age_s(START._replace(generation=99)) is None
    finally:
        follower.close()


class Asked(CatalogStore):
    """A store that counts the pages it was asked for."""

    def __init__(self, store: CatalogStore) -> None:
        super().__init__(store._backend, store.caller)
        self.pages: list[int] = []

    def changes(self, after: int | Position, limit: int = 1_000) -> Changes:
        """Return a page, and note how many skills it held."""
        page = super().changes(after, limit)
        self.pages.append(len(page.upserts) + len(page.withdrawals))
        return page


def test_a_node_that_missed_very_many_generations_reads_each_skill_once(
    server: Server, store: CatalogStore, url: str, tmp_path: Path
) -> None:
    store.publish([skill("first")], tenant=TENANT, publisher="p")
    state = NodeState(str(tmp_path / "counted"))
    rebuild(store, state)
    with node(url, tmp_path / "node") as made:
        made.wait_generation(1)
        server.sql(BULK, DATABASE_OF_NODES)
        server.sql("VACUUM ANALYZE skillyard.versions", DATABASE_OF_NODES)
        counted = Asked(store)
        rebuild(counted, state)
        assert len(counted.pages) == -(-CHANGED // PAGE)
        assert sum(counted.pages) == CHANGED
        held = state.open()
        assert held is not None
        assert position_in(held).generation == FAR
        installs = {s.path: s.install_count for s in NodeLibrary(held, bundled_table()).skills}
        assert installs.pop(f"store://{TENANT}/first") == 0
        expected = {n % CHANGED: n for n in range(FAR - CHANGED + 1, FAR + 1)}
        assert installs == {f"store://{TENANT}/p{n}": count for n, count in expected.items()}
        made.wait_generation(FAR)
        assert made.get("/health").json()["catalog"]["skills"] == CHANGED + 1
        with open_store(url) as again:
            assert again.changes(START, limit=1).generation == FAR
        made.wait_generation(store.publish([skill("next")], tenant=TENANT, publisher="p")[0])
