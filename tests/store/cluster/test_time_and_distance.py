"""Clocks that are wrong, stores that are slow, and nodes that are far behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillyard.store.node.follower import Follower
from skillyard.store.sql_store import CatalogStore
from tests.store.cluster.families import AMBER, TENANT
from tests.store.cluster.nodes import until

pytestmark = pytest.mark.slow

TEN_YEARS_S = 10 * 365 * 86_400.0


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
