"""A program that changes nodes and is killed at every system call that changes a folder.

``python -m tests.store.node.killed_node FOLDER few|rebuild`` takes a folder with ``store.db``. The
node in ``node`` does not have the last generation of that store yet. The program prints one JSON
object: the number of calls, and the errors after a kill, of which there should be none. Children
are forked, so that Python starts only once.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skillyard.store.node.generation_builder import apply, catch_up
from skillyard.store.node.state import NodeState, position_in
from skillyard.store.opening import open_store
from tests.store.node.nodes import Node, answers

CALLS = ("open", "write", "fsync", "replace", "rename", "link", "mkdir", "unlink", "rmdir")
MAX_CALLS = 400


def change(folder: Path, way: str) -> None:
    """Bring the node in the folder to the store's last generation."""
    with open_store(f"sqlite:///{folder}/store.db") as store:
        state = NodeState(str(folder / "node"))
        searcher = state.open()
        if way == "few" and searcher is not None:
            apply(store, state, store.changes(position_in(searcher)))
        else:
            catch_up(store, state, anew=True)


def die_at(number: int) -> None:
    """Let the process be killed before the n-th call that changes a folder."""
    left = [number]

    def wrapped(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return counted

    for name in CALLS:
        setattr(os, name, wrapped(getattr(os, name)))


def shown(folder: Path) -> bytes:
    """Return what the node in the folder answers, without asking the store."""
    with open_store(f"sqlite:///{folder}/store.db") as store:
        return answers(Node(store, folder / "node").open())


def main(folder: Path, way: str) -> dict[str, object]:
    """Kill a child at each call; return what was found."""
    old = shown(folder)
    done = shutil.copytree(folder, folder.parent / "done")
    change(done, way)
    new = shown(done)
    seen = {"old": 0, "new": 0}
    wrong: list[str] = []
    for number in range(1, MAX_CALLS):
        place = folder.parent / f"at-{number}"
        shutil.copytree(folder, place)
        child = os.fork()
        if not child:
            die_at(number)
            change(place, way)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            break
        found = shown(place)
        if found not in (old, new):
            wrong.append(f"after {number} calls it is neither the old nor the new one")
        seen["new" if found == new else "old"] += 1
        change(place, way)
        if shown(place) != new:
            wrong.append(f"after {number} calls the next change does not lead on")
        left = sorted(path.name for path in (place / "node").iterdir() if "segments-" in path.name)
        if way == "rebuild" and len(left) != 1:
            wrong.append(f"after {number} calls {left} stay")
        shutil.rmtree(place)
    return {"calls": number, "differ": old != new, "wrong": wrong, **seen}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), sys.argv[2])))
