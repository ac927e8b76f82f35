"""The hostile tree, built once for all tests of this folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile import tree
from tests.hostile.network import World, world


class Tree:
    """Where each case lies, and why some could not be built here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.roots, self.missing = tree.write_tree(folder)

    def root(self, identity: str) -> Path:
        """Return the root of one case; skips the test where the platform cannot hold it."""
        if identity in self.missing:
            pytest.skip(f"this platform cannot hold the input: {self.missing[identity]}")
        return self.roots[identity]


@pytest.fixture(scope="session")
def hostile_tree() -> Iterator[Tree]:
    """Every case, in a folder that other users may enter (pytest's own are closed to them)."""
    with tempfile.TemporaryDirectory(prefix="skillyard-hostile-") as name:
        os.chmod(name, 0o755)
        yield Tree(Path(os.path.realpath(name)))


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[World]:
    """A person's surroundings, with stand-ins for every source."""
    with world(tmp_path, monkeypatch, capsys) as made:
        yield made
