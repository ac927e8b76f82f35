"""A folder or file swapped for a link at the n-th look at the disk, for every n.

Deterministic where a race between threads proves something only by luck: the swap happens before
the n-th call of the operating system, n = 1, 2, … until a run makes fewer calls than that. The
second swap, back again, happens at each later call in turn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.engine.catalog.entries import refresh
from skillyard.errors import ResourceRefused, SkillIoError
from skillyard.files import list_resources, read_resource
from tests.hostile.case import SECRET, skill_bytes, write
from tests.hostile.resource_cases import GUIDE
from tests.hostile.watchdog import hang_bound
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import document

_LOOKS = ("open", "stat", "lstat", "fstat", "scandir", "listdir", "readlink", "access")
_MOST = 400
"""More calls than any of these readings makes: a bound on the loop."""


class _Ground:
    """A root with one skill, a store of secrets beside it, and a place that can be swapped."""

    def __init__(self, folder: Path, swapped: str) -> None:
        self.root = folder / "root"
        write(self.root / "team/pencil/SKILL.md", skill_bytes())
        write(self.root / "team/pencil/references/guide.md", GUIDE)
        outside = folder / "outside"
        write(outside / "pencil/SKILL.md", skill_bytes(body=SECRET.decode()))
        write(outside / "pencil/references/guide.md", SECRET)
        write(outside / "pencil/references/secret.txt", SECRET)
        self._place, self._kept = self.root / swapped, folder / "kept"
        self._goal = outside / Path(swapped).relative_to("team")
        self.swaps = 0

    def swap(self) -> None:
        """Put the link in the place, or what was there before it back."""
        if self.swaps % 2:
            os.unlink(self._place)
            os.rename(self._kept, self._place)
        else:
            os.rename(self._place, self._kept)
            os.symlink(self._goal, self._place)
        self.swaps += 1

    def restore(self) -> None:
        """End with the link gone, whatever happened."""
        if self.swaps % 2:
            self.swap()
        self.swaps = 0


@contextmanager
def _swapping(ground: _Ground, numbers: tuple[int, ...]) -> Iterator[list[int]]:
    """Swap before each call whose number is listed; yields the count of calls, in a list."""
    calls = [0]

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            calls[0] += 1
            if calls[0] in numbers:
                ground.swap()
            return real(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in _LOOKS:
            real = getattr(os, name)
            fake = watched(real)
            for capable in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
                if real in capable:
                    patch.setattr(os, _set_name(capable), capable | {fake})
            patch.setattr(os, name, fake)
        try:
            yield calls
        finally:
            patch.undo()
            ground.restore()


def _set_name(capable: set[Callable[..., Any]]) -> str:
    names = ("supports_dir_fd", "supports_fd", "supports_follow_symlinks")
    return next(name for name in names if getattr(os, name) is capable)


def _every_swap(ground: _Ground, act: Callable[[], None]) -> int:
    """Run ``act`` with one swap before each call, then with a swap back before each later one."""
    with _swapping(ground, ()) as calls:
        act()
    total = calls[0]
    assert 0 < total < _MOST
    with hang_bound(120):
        for first in range(1, total + 1):
            for second in (0, *range(first + 1, min(total, first + 12) + 1)):
                with _swapping(ground, (first, second)):
                    act()
    return total


@for_each("swapped", ["team", "team/pencil", "team/pencil/SKILL.md"])
def test_no_swap_makes_a_catalog_read_outside_its_root(swapped: str, tmp_path: Path) -> None:
    ground = _Ground(tmp_path, swapped)

    def act() -> None:
        catalog = sy.load_catalog(ground.root)
        assert not [skill for skill in catalog.skills if "secret" in (skill.body or "")]

    _every_swap(ground, act)


@for_each("swapped", ["team/pencil/references", "team/pencil/references/guide.md"])
def test_no_swap_makes_a_resource_come_from_outside(swapped: str, tmp_path: Path) -> None:
    ground = _Ground(tmp_path, swapped)
    (skill,) = sy.load_catalog(ground.root).skills
    outcomes = set()

    def act() -> None:
        try:
            outcomes.add(read_resource(skill, "references/guide.md"))
        except ResourceRefused:
            outcomes.add(b"refused")

    _every_swap(ground, act)
    assert outcomes == {GUIDE, b"refused"}


@for_each("swapped", ["team/pencil/references", "team/pencil/references/guide.md"])
def test_no_swap_makes_a_listing_show_what_is_outside(swapped: str, tmp_path: Path) -> None:
    ground = _Ground(tmp_path, swapped)
    (skill,) = sy.load_catalog(ground.root).skills

    def act() -> None:
        paths = {resource.path for resource in list_resources(skill)}
        assert paths <= {"references/guide.md"}

    _every_swap(ground, act)


@requirement("safety:reading:swapped-folder")
def test_a_folder_that_became_a_link_after_loading_is_not_followed(tmp_path: Path) -> None:
    """The same skill may be loaded through a link; what takes its place later may not."""
    root = tmp_path / "root"
    write_tree(root, {"one/SKILL.md": document("one"), "one/a.txt": "fine"})
    secrets = tmp_path / "secrets"
    write_tree(secrets, {"SKILL.md": document("one", "Another one."), "a.txt": "secret", "k": "x"})
    (skill,) = sy.load_catalog(str(root))
    assert read_resource(skill, "a.txt") == b"fine"
    (root / "one").rename(tmp_path / "kept")
    (root / "one").symlink_to(secrets, target_is_directory=True)
    with pytest.raises(ResourceRefused, match="another folder than the one that was loaded"):
        read_resource(skill, "a.txt")
    with pytest.raises(ResourceRefused):
        list_resources(skill)
    with pytest.raises(SkillIoError, match="another file than the one that was loaded"):
        refresh(skill)
    (secrets / "SKILL.md").unlink()
    with pytest.raises(ResourceRefused):
        read_resource(skill, "a.txt")
    with pytest.raises(SkillIoError):
        refresh(skill)
    (root / "one").unlink()
    (root / "one").symlink_to(tmp_path / "kept", target_is_directory=True)  # moved by its owner
    assert read_resource(skill, "a.txt") == b"fine"
    assert refresh(skill).name == "one"
