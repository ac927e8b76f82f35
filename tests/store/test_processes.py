"""Several processes on one store, some of them killed; and followers who are far behind."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest

from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.shared_data import PACKAGES
from tests.store.follower_contract import Follower, texts
from tests.store.skills import skill

SOAK = os.environ.get("SKILLYARD_SOAK") == "1"
AT_ONCE = 5
"""Skills of one publish: all of one text, or a half-written publish shows."""

PUBLISH = """
import sys
from skillyard.engine.skill import Skill
from skillyard.store.opening import open_store

url, name, rounds, at_once = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with open_store(url) as store:
    for turn in range(rounds):
        skills = [Skill(f"{name}-{n}", f"Says {turn}.", "x" * 5_000) for n in range(at_once)]
        done = store.publish(skills, tenant="acme", publisher=name)
        print(done.generation, turn, flush=True)
"""


@pytest.fixture(params=["sqlite_url", pytest.param("postgres_url", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest) -> str:
    """The address of an empty store, of either kind."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def store(url: str) -> Iterator[CatalogStore]:
    with open_store(url, migrate=True) as opened:
        yield opened


def publisher(url: str, name: str, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PUBLISH, url, name, str(rounds), str(AT_ONCE)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGES)},
    )


def whole(store: CatalogStore, name: str) -> str:
    """Return the text that all skills of a publisher have; there must be only one."""
    found = [t for k, t in texts(store.snapshot()).items() if k.place.startswith(f"{name}-")]
    assert len(found) in (0, AT_ONCE)
    assert len(set(found)) <= 1
    return found[0] if found else ""


def test_a_publisher_that_is_killed_leaves_whole_publishes_and_all_it_was_told_of(
    store: CatalogStore, url: str
) -> None:
    chance = random.Random(7)
    for kill in range(50 if SOAK else 3):
        name = f"k{kill}"
        with publisher(url, name, 10_000) as process:
            assert process.stdout is not None
            told = [process.stdout.readline() for _ in range(chance.randint(1, 6))]
            # The moment within a publish is the machine's: it goes on while this reads.
            for _ in range(chance.randint(0, 20_000)):
                pass
            process.kill()
            told += process.stdout.readlines()
        last_generation, last_turn = map(int, told[-1].split())
        said = whole(store, name)
        assert said in (f"Says {last_turn}.", f"Says {last_turn + 1}.")
        assert store.generation() >= last_generation
        done = store.publish([skill(f"after-{kill}")], tenant="acme", publisher="ci", expected=0)
        assert done.generation == store.generation()
    follower = Follower(store)
    assert follower.follow(100) == texts(store.snapshot())
