"""What a node does when its own folder fails it, and when it is killed over its first skills."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillyard import Skill
from skillyard.store.sql_store import CatalogStore
from tests.store.cluster.families import AMBER, TENANT, crowd
from tests.store.cluster.nodes import Node, alive_children, is_alive, node, until

pytestmark = pytest.mark.slow

ROOT = os.geteuid() == 0
CROWD = 3_000
"""Skills of a first synchronisation that takes seconds."""
ROOM = "3m"
MORE_ROOM = "64m"


def bulky(count: int, said: str) -> list[Skill]:
    """Return skills of 50 KB that no compression makes small."""
    return [
        Skill(f"bulk-{n}", f"Bulk {n}, {said}.", os.urandom(25_000).hex()) for n in range(count)
    ]


@contextmanager
def narrow(folder: Path) -> Iterator[Callable[[Node], None]]:
    """Let little fit below a folder; gives what makes room again under a running node."""
    folder.mkdir(parents=True)
    if not ROOT:
        yield lambda made: _largest_file(made, resource.RLIM_INFINITY)
        return
    _run("mount", "-t", "tmpfs", "-o", f"size={ROOM}", "skillyard-test", str(folder))
    try:
        yield lambda made: _run("mount", "-o", f"remount,size={MORE_ROOM}", str(folder))
    finally:
        while os.path.ismount(folder):
            _run("umount", "--lazy", str(folder))


def _largest_file(made: Node, size: int) -> None:
    """Without a file system of our own: no file of the process may be larger."""
    _, hard = resource.prlimit(made.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(made.pid, resource.RLIMIT_FSIZE, (size, hard))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, timeout=30, capture_output=True)


def test_a_full_disk_is_named_and_what_was_there_answers_until_there_is_room(
    store: CatalogStore, url: str, tmp_path: Path
) -> None:
    generation = store.publish(AMBER.skills(1), tenant=TENANT, publisher="p").generation
    with (
        narrow(tmp_path / "node" / "state") as make_room,
        node(url, tmp_path / "node", "--max-stale", "1") as made,
    ):
        made.wait_generation(generation)
        if not ROOT:
            _largest_file(made, 400_000)
        wanted = store.publish(bulky(100, "one"), tenant=TENANT, publisher="p").generation
        failure = until(lambda: made.failure, "a failure")
        assert "space" in failure or "too large" in failure
        until(lambda: made.probe("/readyz") == (503, "stale"))
        answer = made.get("/search?q=polish+amber+stones")
        assert AMBER.numbers_in(answer.text) == {1}
        assert answer.headers["skillyard-generation"] == str(generation)
        make_room(made)
        made.wait_generation(wanted)
        until(lambda: not made.failure)
        assert made.get("/skill/bulk-99").status_code == 200


def segments(made: Node) -> list[Path]:
    return sorted(made.state.glob("segments-*/*.seg"))


def test_a_segment_that_is_damaged_under_a_node_is_fetched_again(
    store: CatalogStore, url: str, tmp_path: Path
) -> None:
    """Whoever meets the damage gets an error and never a wrong answer, and then it is gone."""
    wanted = store.publish(crowd(600), tenant=TENANT, publisher="p").generation
    with node(url, tmp_path) as made:
        made.wait_generation(wanted)
        path = max(segments(made), key=lambda path: path.stat().st_size)
        size = path.stat().st_size
        with path.open("r+b") as file:  # in place: the node has it mapped
            for place in range(size // 2, size - size // 50, 64):
                file.seek(place)
                file.write(b"\xff\x00" * 8)

        def all_answered() -> bool:
            answers = [made.get(f"/skill/crowd-{n:05}") for n in range(0, 600, 20)]
            for number, answer in zip(range(0, 600, 20), answers, strict=True):
                if answer.status_code == 200:
                    assert f"Write {number * number}." in answer.text
                else:
                    assert answer.status_code in (500, 503)
            return all(answer.status_code == 200 for answer in answers)

        assert not all_answered()
        until(all_answered, "healing", 30)
        told = [
            event["error"]
            for event in made.events()
            if event["event"] == "store" and "error" in event
        ]
        assert told == ["the index of this node is damaged; it is being rebuilt"]


def test_a_node_killed_over_its_first_skills_leaves_nobody_behind_and_ends_equal(
    store: CatalogStore, url: str, tmp_path: Path
) -> None:
    wanted = store.publish(crowd(CROWD), tenant=TENANT, publisher="p").generation
    with node(url, tmp_path) as made:
        until(lambda: made.store()["taken"], "the first skills")
        workers = until(lambda: alive_children(made.pid), "processes that work")
        assert made.probe("/readyz") == (503, "starting")
        made.kill()
        until(lambda: not any(map(is_alive, workers)), "their end", 10)
        made.start()
        made.wait_generation(wanted)
        assert made.get("/health").json()["catalog"]["skills"] == CROWD
        for number in (0, CROWD // 2, CROWD - 1):
            assert f"Write {number * number}." in made.get(f"/skill/crowd-{number:05}").text
        until(lambda: not _makes(made), "the end of those that made it")


def _makes(made: Node) -> list[int]:
    """Return the processes below a node but the one that Python keeps for its own."""
    return [
        child
        for child in alive_children(made.pid)
        if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
