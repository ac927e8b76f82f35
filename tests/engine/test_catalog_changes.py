"""A reload tells every change of files and folders, and trusts nothing that is young."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillyard import Catalog, InvalidSkillsRoot, load_catalog
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import document

TREE = {
    "a/SKILL.md": document("a", "Does A."),
    "b/SKILL.md": document("b", "Does B."),
    "b/references/more.md": "More.",
}


def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a minute pass: the time of a file's last change of state cannot be set back."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 60 * 10**9)


def _same_size(path: Path) -> None:
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"Does A", b"Does Z"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replaced(path: Path) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(path.read_bytes())
    os.replace(beside, path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit": lambda root: (root / "a/SKILL.md").write_text(document("a", "Does A better.")),
    "an edit of one size and time": lambda root: _same_size(root / "a/SKILL.md"),
    "a deletion": lambda root: (root / "a/SKILL.md").unlink(),
    "a new folder": lambda root: (root / "c").mkdir(),
    "a new file in a skill": lambda root: (root / "a/notes.md").write_text("x"),
    "a file replaced": lambda root: _replaced(root / "b/SKILL.md"),
    "a folder renamed": lambda root: (root / "b").rename(root / "z"),
    "the root gone": lambda root: root.rename(root.with_name("gone")),
}


def backdated(root: Path) -> None:
    """Give every folder and file a time that no change of today has."""
    for path in [*root.rglob("*"), root]:
        os.utime(path, (time.time() - 600, time.time() - 600))


def same(one: Catalog, other: Catalog) -> bool:
    return (one.skills, one.diagnostics, one.shadowed, one.digest) == (
        other.skills, other.diagnostics, other.shadowed, other.digest,
    )  # fmt: skip


@for_each("change", CHANGES)
def test_every_change_is_seen_as_a_new_reading_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    settled(monkeypatch)
    root = write_tree(tmp_path / "skills", TREE)
    backdated(root)
    catalog = load_catalog(root)
    assert catalog.reload().catalog is catalog
    CHANGES[change](root)
    if change == "the root gone":
        with pytest.raises(InvalidSkillsRoot):
            catalog.reload()
        return
    assert same(catalog.reload().catalog, load_catalog(root))
