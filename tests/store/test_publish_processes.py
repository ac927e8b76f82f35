"""Real processes that publish to one store: killed, side by side, interrupted."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.cli.making import write
from tests.shared_data import PACKAGES
from tests.store.inputs import document, held, publish

COUNT = 3_000
SOAK = os.environ.get("SKILLYARD_SOAK") == "1"
pytestmark = pytest.mark.slow


@pytest.fixture
def store(url: str) -> Iterator[CatalogStore]:
    with open_store(url, migrate=True) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> str:
    """So many skills, large enough that a run takes a while."""
    texts = {f"s{n}/SKILL.md": document(f"s{n}", f"{n} " * 400) for n in range(COUNT)}
    return str(write(tmp_path / "skills", texts))


@pytest.fixture
def undisturbed(root: str, tmp_path: Path) -> Iterator[dict[Any, Any]]:
    """What a store holds after a run that nothing disturbed."""
    with open_store(f"sqlite:///{tmp_path}/undisturbed.db", migrate=True) as store:
        publish(store, root)
        yield held(store)


def started(url: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "skillyard", "store", "publish", "--tenant", "acme"]
    return subprocess.Popen(
        [*command, "--publisher", "ci", "--json", "--quiet", "--batch", "100", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGES), "SKILLYARD_STORE": url},
    )


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    answer: dict[str, Any] = json.loads(out)
    return answer


def test_runs_that_are_killed_and_run_again_end_where_an_undisturbed_one_does(
    store: CatalogStore, url: str, root: str, undisturbed: dict[Any, Any]
) -> None:
    chance = random.Random(3)
    for _ in range(20 if SOAK else 3):
        process = started(url, root, "--jobs", "2")
        try:
            before = store.generation()
            store.listen(before, 60)  # it is at work: kill it somewhere in the next batches
            for _ in range(chance.randint(0, 4)):
                store.listen(store.generation(), 1)
        finally:
            process.kill()
            process.communicate(timeout=60)
        stands = held(store)
        assert set(stands.items()) <= set(undisturbed.items())
        if len(stands) == COUNT:
            break
    done = ended(started(url, root, "--jobs", "2"))
    # A commit that was on its way when its publisher died may have come after that look.
    assert done["unchanged"] >= len(stands)
    assert done["added"] == COUNT - done["unchanged"]
    assert held(store) == undisturbed
    counts = [generation.added for generation in store.generations(limit=100_000)]
    assert sum(counts) == COUNT
