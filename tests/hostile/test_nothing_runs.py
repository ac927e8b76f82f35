"""Reading the whole hostile tree runs nothing, imports nothing and opens nothing outside it.

The reader runs in a process of its own, under an audit hook that Python calls before every such
act; the hook cannot be taken off again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import skillyard
from tests.hostile.conftest import Tree

_SECONDS = 120

_SPY = r"""
import json, os, sys
import skillyard as sy
from skillyard.engine.discovery.hosts import may_read_source
# Loaded when needed:
import unicodedata, skillyard.engine.discovery.plugins
import skillyard.engine.formats.frontmatter, skillyard.engine.formats.yaml_guard
roots = json.loads(sys.stdin.read())
# Whatever reading imports is imported before anybody watches.
sy.load_catalog(roots[0], index=False)
events = []
ACTS = ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
        "socket.connect", "socket.bind", "socket.getaddrinfo", "ctypes.dlopen", "import",
        "exec", "compile", "os.startfile", "os.putenv", "os.chmod", "os.remove", "os.rename",
        "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.utime")
LOOKS = ("open", "os.scandir", "os.listdir", "os.walk", "os.chdir")
def inside(path):
    if path is None or isinstance(path, int):
        return True
    text = os.fsdecode(path)
    if not os.path.isabs(text):
        return ".." not in text.split(os.sep)
    real = os.path.realpath(os.path.dirname(text))
    return any(real == root or (real + os.sep).startswith(root + os.sep) for root in allowed)
allowed = [os.path.realpath(root) for root in roots]
allowed += [os.path.dirname(root) for root in allowed]  # where the root itself is looked up
def spy(event, arguments):
    if not watching:
        return
    watching.clear()  # the spy's own acts are nobody's business
    if event.startswith(ACTS):
        events.append([event, repr(arguments)[:300]])
    elif event in LOOKS and not inside(arguments[0]):
        events.append([event, repr(arguments)[:300]])
    elif event == "open" and (arguments[1] or "r").strip("rbt") and isinstance(arguments[1], str):
        events.append(["write", repr(arguments)[:300]])
    watching.append(True)
watching = []
may_read_source(os.sep, os.curdir)  # links ask it, and what it needs is loaded at its first call
sys.addaudithook(spy)
answers = []
for root in roots:
    watching.append(True)
    catalog = sy.load_catalog(root, index=False)  # nothing is kept: no write at all
    watching.clear()
    answers.append([catalog.digest, [found.to_dict() for found in catalog.diagnostics]])
if "--provoke" in sys.argv:
    watching.append(True)
    os.system("true"); open(os.devnull).close(); os.listdir(os.sep)
    watching.clear()
print(json.dumps({"events": events, "answers": answers}))
"""


def _spy(roots: list[Path], seed: str, *arguments: str) -> dict[str, Any]:
    (package,) = skillyard.__path__
    source = str(Path(package).parent)
    environment = dict(os.environ, PYTHONHASHSEED=seed, PYTHONPATH=source)
    done = subprocess.run(
        [sys.executable, "-c", _SPY, *arguments],
        input=json.dumps([str(root) for root in roots]),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def watched(hostile_tree: Tree) -> list[dict[str, Any]]:
    """The whole tree read in two processes with different hash seeds."""
    roots = [hostile_tree.roots[identity] for identity in sorted(hostile_tree.roots)]
    roots.insert(0, hostile_tree.root("clean-01-control"))
    return [_spy(roots, seed) for seed in ("1", "2")]


def test_no_process_no_socket_no_import_no_write_and_no_file_outside(
    watched: list[dict[str, Any]],
) -> None:
    assert [answer["events"] for answer in watched] == [[], []]


def test_two_hash_seeds_give_the_same_digests_and_diagnostics(
    watched: list[dict[str, Any]],
) -> None:
    assert watched[0]["answers"] == watched[1]["answers"]


def test_no_trap_of_the_tree_has_sprung(hostile_tree: Tree, watched: list[dict[str, Any]]) -> None:
    assert not [str(path) for path in hostile_tree.folder.rglob("*pwned*")]


def test_the_spy_sees_what_it_is_there_to_see(hostile_tree: Tree) -> None:
    root = hostile_tree.root("clean-01-control")
    events = _spy([root], "1", "--provoke")["events"]
    assert {event for event, _ in events} >= {"os.system", "open", "os.listdir"}
