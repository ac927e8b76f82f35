"""A node's folder holds the old index or the new one, whatever happens to it or to the process."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard import SkillIoError
from skillyard.store.node.follower import Follower
from skillyard.store.node.generation_builder import apply, catch_up
from skillyard.store.node.state import NodeState, position_in
from skillyard.store.sql_store import CatalogStore
from tests.shared_data import PACKAGES, REPOSITORY
from tests.store.node.nodes import LIBRARY, Node, answers, in_memory, store_in
from tests.store.skills import key, skill, skills


@pytest.mark.slow
@pytest.mark.parametrize("way", ["few", "rebuild"])
def test_a_process_that_is_killed_at_any_call_leaves_an_index_that_answers(
    store: CatalogStore, tmp_path: Path, way: str
) -> None:
    folder = tmp_path / "begun"
    folder.mkdir()
    with store_in(folder) as own:
        own.publish([*LIBRARY, *skills(5)], tenant="acme", publisher="ci")
        Node(own, folder / "node").take()
        own.publish([skill("s00001", "two"), skill("new")], tenant="acme", publisher="ci")
        own.withdraw([key("s00002")], tenant="acme", publisher="ci")
    environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.node.killed_node", str(folder), way],
        capture_output=True, text=True, timeout=300, env=environment, cwd=REPOSITORY, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == []
    assert found["differ"]
    assert found["old"] > 3
    assert found["old"] + found["new"] == found["calls"] - 1
    assert found["new"] > 0 or way == "few"  # there nothing follows upon the switch


class Full:
    """A disk on which the n-th call that writes fails."""

    CALLS = ("open", "write", "fsync", "replace", "rename", "link", "mkdir")

    def __init__(self, patch: pytest.MonkeyPatch, number: int, folder: Path) -> None:
        self.left = number
        self.folder = str(folder)
        for name in self.CALLS:
            patch.setattr(os, name, self._wrapped(getattr(os, name)))

    def _wrapped(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return call(*arguments, **options)

        return counted


@pytest.mark.parametrize("way", ["few", "rebuild"])
def test_a_full_disk_is_an_error_and_the_index_before_stays(
    store: CatalogStore, node: Node, tmp_path: Path, way: str
) -> None:
    before = answers(node.open())
    store.publish([skill("s00001", "two")], tenant="acme", publisher="ci")
    after = answers(in_memory(store))
    page = store.changes(node.open().position)
    for number in range(1, 200):
        with pytest.MonkeyPatch.context() as patch:
            disk = Full(patch, number, tmp_path)
            told = ""
            try:
                if way == "few":
                    apply(store, node.state, page)
                else:
                    catch_up(store, node.state, anew=True)
            except SkillIoError as error:
                told = str(error)
        assert "No space left" in told or not told
        if disk.left > 0:
            break
        assert answers(node.open()) in (before, after)
    else:
        pytest.fail("it never came to an end")
    assert number > 5
    assert answers(node.open()) == after


class TestTheLock:
    """One process follows into a folder."""

    def test_a_second_one_is_refused_by_name(self, tmp_path: Path) -> None:
        state = NodeState(str(tmp_path / "node"))
        with state.lock() as held:
            with pytest.raises(SkillIoError, match="another process follows") as raised:
                state.lock()
            assert (raised.value.code, raised.value.path) == ("node_busy", state.folder)
            assert "--state-dir" in (raised.value.hint or "")
            with pytest.raises(SkillIoError, match="another process follows"):
                Follower(f"sqlite:///{tmp_path}/store.db", state.folder)
            held.close()
            held.close()
        state.lock().close()

    def test_the_system_gives_it_back_when_a_process_is_killed(self, tmp_path: Path) -> None:
        state = NodeState(str(tmp_path / "node"))
        code = (
            "import sys; from skillyard.store.node.state import NodeState;"
            " held = NodeState(sys.argv[1]).lock(); print('held', flush=True); sys.stdin.read()"
        )
        environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
        with subprocess.Popen(
            [sys.executable, "-c", code, state.folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
        ) as child:  # fmt: skip
            assert child.stdout is not None
            assert child.stdout.readline() == b"held\n"
            with pytest.raises(SkillIoError, match="another process follows"):
                state.lock()
            child.kill()
            child.wait()
        state.lock().close()


def test_generations_are_switched_and_the_one_before_is_removed(node: Node) -> None:
    held = node.open()
    expected = answers(held)
    for number in range(2, 5):
        catch_up(node.store, node.state, anew=True)
        assert node.state.current() == os.path.join(node.state.folder, f"segments-{number:08}")
        left = [name for name in os.listdir(node.state.folder) if "segments" in name]
        assert left == [f"segments-{number:08}"]
    assert answers(held) == expected  # whoever holds it goes on reading it
    assert position_in(held.library.searcher) == held.position
