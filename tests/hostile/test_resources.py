"""Beside a skill only its own regular files are ever read."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillyard import DEFAULT_LIMITS, ResourceRefused, list_resources, read_resource
from tests.hostile.case import SECRET, skill_bytes, write
from tests.hostile.conftest import Tree
from tests.hostile.hang_bound import assert_helpful, below, load
from tests.hostile.resource_cases import EITHER, GUIDE, READ, REFUSE, REQUESTS, Request
from tests.hostile.watchdog import hang_bound
from tests.tables import for_each

_SWAPS = int(os.environ.get("SKILLYARD_RACES", "4000"))
"""How often the racing thread swaps; a nightly run sets 100,000."""


@pytest.fixture
def pencil(hostile_tree: Tree) -> Any:
    """The skill with links, a FIFO and a giant beside it."""
    root = hostile_tree.root("res-01-paths")
    (skill,) = [
        skill for skill in load(root).skills if below(skill.path, root) == "pencil/SKILL.md"
    ]
    return skill


def test_there_are_as_many_requests_as_the_specification_lists() -> None:
    assert len({request.word for request in REQUESTS}) == len(REQUESTS) == 28


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: request.word)
def test_each_read_request_gives_the_right_bytes_or_a_refusal(
    request_: Request, pencil: Any, hostile_tree: Tree
) -> None:
    folder = str(hostile_tree.root("res-01-paths") / "pencil")
    path = request_.path.replace("{skill}", folder)
    with hang_bound():
        try:
            data = read_resource(pencil, path)
        except ResourceRefused as error:
            assert request_.verdict in (REFUSE, EITHER)
            assert_helpful(error)
            return
    assert request_.verdict in (READ, EITHER)
    assert data == request_.content


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "/",
        "//etc/passwd",
        "references/..",
        "references/../references/guide.md",
        "....//secret.txt",
        ".. /secret.txt",
        "\u2024\u2024/secret.txt",
        "．．/secret.txt",
        "%252e%252e/secret.txt",
        "..%c0%afsecret.txt",
        "\\\\server\\share",
        "C:\\secret.txt",
        "\\\\?\\C:\\secret.txt",
        "con",
        "nul.txt",
        "references/guide.md::$DATA",
        "references/guide.md\n",
        "references/guide.md\x1b[2J",
        "guide\ud800.md",
        "$HOME/secret.txt",
        "-rf",
        "references/*.md",
        "a" * 100_000,
        "a/" * 50_000,
        "pencil/SKILL.md",
        "http://evil.invalid/x",
    ],
)
def test_more_ways_out_are_refused(path: str, pencil: Any) -> None:
    with hang_bound(), pytest.raises(ResourceRefused):
        read_resource(pencil, path)


def test_the_listing_holds_the_regular_files_and_no_way_out(pencil: Any) -> None:
    with hang_bound():
        paths = [resource.path for resource in list_resources(pencil)]
    assert paths == sorted(paths)
    assert {"references/guide.md", "assets/naïve name.txt", "assets/shared.txt"} <= set(paths)
    assert not {"link-out.md", "endless", "assets/pipe", "SKILL.md"} & set(paths)
    assert not any(path.startswith(("folder-out", "again", "/", "..")) for path in paths)


def test_everything_listed_can_be_read_unless_it_is_too_large(pencil: Any) -> None:
    for resource in list_resources(pencil):
        if resource.size <= DEFAULT_LIMITS.resource_bytes:
            assert len(read_resource(pencil, resource.path)) == resource.size


@for_each("identity", ["fs-24-resources-5000", "fs-23-asset-64g"])
def test_a_listing_is_bounded_and_reads_nothing(identity: str, hostile_tree: Tree) -> None:
    root = hostile_tree.root(identity)
    (skill,) = [skill for skill in load(root).skills if skill.name == "pencil"]
    with hang_bound():
        listed = list_resources(skill)
    assert 1 <= len(listed) <= DEFAULT_LIMITS.resources_listed


@pytest.fixture
def racing_ground() -> Iterator[Path]:
    """A folder of its own, removed whatever state the race leaves it in."""
    base = Path(tempfile.mkdtemp(prefix="skillyard-race-"))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # as many interleavings as there can be
    yield base
    sys.setswitchinterval(interval)
    shutil.rmtree(base)


class _Swapper:
    """A thread that swaps a place for a link to ``outside`` and back, a bounded number of times."""

    def __init__(self, place: Path, outside: Path, ground: Path) -> None:
        self._place, self._outside = place, outside
        self._kept = ground / "kept"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        for _ in range(_SWAPS):
            os.rename(self._place, self._kept)
            os.symlink(self._outside, self._place)
            os.unlink(self._place)
            os.rename(self._kept, self._place)
            if self._stop.is_set():
                break

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def __enter__(self) -> _Swapper:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@pytest.mark.parametrize("swapped", ["references", "references/guide.md"])
def test_a_folder_or_file_swapped_for_a_link_never_shows_the_secret(
    swapped: str, racing_ground: Path
) -> None:
    root, outside = racing_ground / "root", racing_ground / "outside"
    write(root / "pencil/SKILL.md", skill_bytes())
    write(root / "pencil/references/guide.md", GUIDE)
    write(outside / "guide.md", SECRET)
    (skill,) = load(root).skills
    goal = outside if swapped == "references" else outside / "guide.md"
    read: set[bytes] = set()
    refused = 0
    with hang_bound(60), _Swapper(root / "pencil" / swapped, goal, racing_ground) as swapper:
        while swapper.running:
            try:
                read.add(read_resource(skill, "references/guide.md"))
            except ResourceRefused:
                refused += 1
    assert read == {GUIDE}
    assert refused, "the race was never lost: nothing was proved"


def test_a_folder_swapped_while_it_is_listed_shows_no_way_out(racing_ground: Path) -> None:
    root, outside = racing_ground / "root", racing_ground / "outside"
    write(root / "pencil/SKILL.md", skill_bytes())
    write(root / "pencil/references/guide.md", GUIDE)
    write(outside / "secret.txt", SECRET)
    (skill,) = load(root).skills
    listings: set[tuple[str, ...]] = set()
    with (
        hang_bound(60),
        _Swapper(root / "pencil/references", outside, racing_ground) as swapper,
    ):
        while swapper.running:
            listings.add(tuple(resource.path for resource in list_resources(skill)))
    assert listings == {(), ("references/guide.md",)}, "a way out, or nothing was proved"
