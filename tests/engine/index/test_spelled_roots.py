"""One index for one folder: its paths come back as the roots were named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.engine.catalog import read_catalog
from skillyard.engine.index.indexed_catalog import IndexedCatalog
from skillyard.install.policy.library import open_catalog
from tests.parity.trees import write_tree
from tests.worked_examples.making import document

FILES = {
    "lib/git-bisect/SKILL.md": document("git-bisect", "Finds the commit that broke the build."),
    "lib/copy/git-bisect/SKILL.md": document(
        "git-bisect", "Finds the commit that broke the build."
    ),
    "lib/other/SKILL.md": document("csv-cleaning", "Repairs messy CSV files."),
    "lib/bad/SKILL.md": "---\nname: [\n---\n",
    "more/csv/SKILL.md": document("csv-cleaning", "Repairs broken CSV files."),
}
NAMED = [("lib",), ("./lib",), ("lib/",), ("lib/../lib",), ("link",), ("lib", "./more"), (".",)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    home = tmp_path / "home"
    write_tree(home, FILES)
    (home / "link").symlink_to(home / "lib")
    monkeypatch.chdir(home)
    return home


@pytest.mark.parametrize("roots", [*NAMED, (os.curdir, "more")], ids=" ".join)
def test_it_says_what_reading_the_named_roots_says(folder: Path, roots: tuple[str, ...]) -> None:
    absolute = [str((folder / root).resolve()) for root in roots]
    open_catalog(absolute)  # made by somebody who named the roots otherwise
    kept, read = open_catalog(roots), read_catalog(roots)
    assert isinstance(kept, IndexedCatalog)
    assert kept.diagnostics == read.diagnostics
    for request in ("find the commit", "repair a csv", "@git-bisect"):
        ours, theirs = sy.rank(kept, request), sy.rank(read, request)
        assert [(m.skill.path, m.score) for m in ours] == [(m.skill.path, m.score) for m in theirs]
        assert [m.skill for m in ours] == [m.skill for m in theirs]
        assert [kept.copies(m.skill) for m in ours] == [read.copies(m.skill) for m in theirs]


def test_a_link_called_as_the_folder_of_runtime_documents_makes_another_library(
    folder: Path,
) -> None:
    write_tree(folder, {"store/one.md": document("one"), "store/two/SKILL.md": document("two")})
    (folder / ".skills").symlink_to(folder / "store")
    for root in (".skills", "store"):
        kept, read = open_catalog(root), read_catalog(root)
        assert isinstance(kept, IndexedCatalog)
        assert kept.skills == read.skills
    assert len(open_catalog(".skills")) > len(open_catalog("store"))
