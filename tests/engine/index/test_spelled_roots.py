"""One index for one folder: its paths come back as the roots were named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import skillyard as sy
from skillyard import DEFAULT_LIMITS
from skillyard.engine.catalog import read_catalog
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.index.indexed_catalog import IndexedCatalog
from skillyard.engine.index.library_spec import index_folder
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


def test_however_it_is_named_a_folder_has_one_index(folder: Path) -> None:
    places = [LibrarySpec((root,), (), DEFAULT_LIMITS) for root in ("lib", "./lib", "lib/", "link")]
    assert len({index_folder(place) for place in places}) == 1
    assert index_folder(LibrarySpec(("more",), (), DEFAULT_LIMITS)) != index_folder(places[0])


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


def test_a_root_that_is_missing_is_named_as_it_was(folder: Path) -> None:
    with pytest.raises(sy.InvalidSkillsRoot) as raised:
        open_catalog("./nowhere")
    assert raised.value.path == "./nowhere"
