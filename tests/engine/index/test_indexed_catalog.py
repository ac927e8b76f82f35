"""The index of some roots: made by itself, kept up to date by itself, and never in the way."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random

import pytest

import skillyard as sy
from skillyard import Catalog, SelectionPolicy
from skillyard.engine.catalog import read_catalog
from skillyard.engine.catalog.entries import read_one
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.index import library_spec as place_module
from skillyard.engine.index.index_update import refresh_index
from skillyard.engine.index.indexed_catalog import IndexedCatalog
from skillyard.engine.index.library import Library
from skillyard.engine.index.library_spec import index_folder
from skillyard.files import DEFAULT_LIMITS
from skillyard.install.policy.library import open_catalog
from tests.tables import for_each

REQUESTS = ("find the commit that broke the build", "@wipe-disk please", "repair a csv", "hello")


def skill(name: str, description: str, more: str = "") -> str:
    return f"---\nname: {name}\ndescription: {description}\n{more}---\n# {name}\n\nDo it.\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "skills"
    put(folder, "git-bisect", skill("git-bisect", "Finds the commit that broke the build."))
    put(folder, "git-revert", skill("git-revert", "Takes back a commit.", "tags: [git]\n"))
    csv = 'triggers:\n  files: ["*.csv"]\n'
    put(folder, "csv-cleaning", skill("csv-cleaning", "Repairs messy CSV files.", csv))
    hidden = folder / ".skills" / "wipe-disk.md"
    hidden.parent.mkdir(parents=True)
    hidden.write_text(skill("wipe-disk", "Erases a disk.", "trigger: true\n"), encoding="utf-8")
    (folder / "AGENTS.md").write_text("# Agents\n\nBe kind.\n", encoding="utf-8")
    age(folder)
    return folder


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "SKILL.md").write_text(text, encoding="utf-8")


def age(folder: Path) -> None:
    """Let the files look old enough for their stamps to tell every later change."""
    for path in folder.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))


def ranked(catalog: sy.Catalog) -> list[object]:
    found: list[object] = []
    for request in REQUESTS:
        for files in ((), ("data/a.csv",)):
            matches = sy.rank(catalog, request, files=files)
            found.append([(m.skill.name, m.skill.path, m.score, m.reason) for m in matches])
            selection = sy.select(catalog, sy.Query(request, files=files), SelectionPolicy())
            found.append(([m.skill.id for m in selection.selected], selection.considered))
    return found


def test_it_answers_like_the_catalog_in_memory(root: Path) -> None:
    for _ in range(2):  # made, then found
        catalog = open_catalog(root)
        assert isinstance(catalog, IndexedCatalog)
        assert ranked(catalog) == ranked(sy.load_catalog(root))
        assert (len(catalog), catalog.digest) == (5, sy.load_catalog(root).digest)


@pytest.mark.parametrize("change", ["edit", "add", "remove", "hide", "shadow", "break"])
def test_every_change_of_the_files_is_seen(root: Path, change: str) -> None:
    open_catalog(root)
    target = root / "git-revert" / "SKILL.md"
    if change == "edit":
        target.write_text(skill("git-revert", "Finds a commit with a csv."), encoding="utf-8")
    elif change == "add":
        put(root, "csv-repair", skill("csv-repair", "Repairs a broken csv."))
    elif change == "remove":
        target.unlink()
    elif change == "hide":
        text = skill("git-revert", "Finds the commit.", "trigger: true\n")
        target.write_text(text, encoding="utf-8")
    elif change == "shadow":
        text = skill("git-revert", "Another one for the commit.")
        (root / ".skills" / "git-revert.md").write_text(text, encoding="utf-8")
    else:
        target.write_text("---\nname: [\n", encoding="utf-8")
    catalog = open_catalog(root)
    assert isinstance(catalog, IndexedCatalog)
    whole = sy.load_catalog(root)
    assert ranked(catalog) == ranked(whole)
    assert catalog.diagnostics == whole.diagnostics


def test_only_what_changed_is_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skillyard.engine.catalog.entries.STABLE_AFTER_NS", 0)
    open_catalog(root)
    read: list[str] = []
    real = read_one

    def counted(candidate: object, *rest: object) -> object:
        read.append(candidate.path)  # type: ignore[attr-defined]
        return real(candidate, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("skillyard.engine.index.index_update.read_one", counted)
    open_catalog(root)
    assert read == []
    put(root, "git-bisect", skill("git-bisect", "Halves the commits."))
    open_catalog(root)
    assert {Path(path).parent.name for path in read} == {"git-bisect"}


def test_a_large_library_is_trusted_for_a_while(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place_module, "MAX_ALWAYS_SCANNED", 2)
    open_catalog(root)
    put(root, "new-one", skill("new-one", "Finds the commit that broke the build."))
    assert len(open_catalog(root)) == 5
    monkeypatch.setattr(place_module, "FRESH_S", 0.0)
    assert len(open_catalog(root)) == 6


def test_a_damaged_index_is_made_anew(root: Path) -> None:
    expected = ranked(open_catalog(root))
    folder = Path(index_folder(LibrarySpec((str(root),), (), DEFAULT_LIMITS)))
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.stat().st_size:
            path.write_bytes(path.read_bytes()[:-1] + b"?")
            assert ranked(open_catalog(root)) == expected, path.name


def test_where_no_index_can_be_kept_the_answers_are_the_same(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = ranked(open_catalog(root))
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "file"))
    blocked = open_catalog(root)
    assert not isinstance(blocked, IndexedCatalog)
    assert ranked(blocked) == expected


@pytest.mark.slow
@for_each("catalog", [read_catalog, open_catalog])
def test_a_catalog_that_has_answered_travels_between_processes(
    root: Path, catalog: Callable[..., Catalog]
) -> None:
    here = catalog(str(root))
    matches = sy.rank(here, "which commit broke it")
    there = pickle.loads(pickle.dumps(here))
    assert type(there) is type(here)
    assert there.skills == here.skills
    assert there.digest == here.digest
    assert sy.rank(there, "which commit broke it") == matches


def test_many_threads_may_ask_one_catalog(root: Path) -> None:
    """Cards are read as they are met; whoever meets one first, all get the same skill."""
    for number in range(60):
        put(root, f"skill-{number}", skill(f"skill-{number}", f"Handles matter {number} of a csv."))
    age(root)
    requests = [f"handle matter {number} of the csv" for number in range(60)]

    def asked(catalog: sy.Catalog, request: str) -> list[object]:
        return [(m.skill.id, m.score, m.explanation) for m in sy.rank(catalog, request)]

    expected = [asked(sy.load_catalog(root), request) for request in requests]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(3):
            catalog = open_catalog(root)
            with ThreadPoolExecutor(8) as pool:
                assert list(pool.map(partial(asked, catalog), requests)) == expected
            opened = open_catalog(root)
            assert isinstance(opened, IndexedCatalog)
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(partial(looked_up, opened.library), range(8)))
            assert all(each == found[0] for each in found)
    finally:
        sys.setswitchinterval(interval)


def test_a_young_file_with_the_same_content_is_read_again_and_not_written(root: Path) -> None:
    now = time.time()
    for path in root.rglob("SKILL.md"):
        os.utime(path, (now, now))
    place = LibrarySpec((str(root),), (), DEFAULT_LIMITS)
    folder = index_folder(place)
    first = refresh_index(place, folder)
    again = refresh_index(place, folder)
    assert (first.added, again.added, again.changed, again.removed) == (5, 0, 0, 0)
    stamp = (root / "git-bisect" / "SKILL.md").stat()
    put(root, "git-bisect", skill("git-bisect", "Finds the commit that broke the BUILD."))
    os.utime(root / "git-bisect" / "SKILL.md", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert refresh_index(place, folder).changed == 1  # same size, same time, other content


def test_whether_it_is_current_is_asked_without_opening_anything(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 60 * 10**9)  # no file is young
    catalog = open_catalog(root)
    assert isinstance(catalog, IndexedCatalog)
    assert catalog.is_current()
    put(root, "git-blame", skill("git-blame", "Says who wrote a line."))
    age(root)
    assert not catalog.is_current()
    again = open_catalog(root, force_scan=True)
    assert isinstance(again, IndexedCatalog)
    assert again.is_current()
    assert not catalog.is_current()  # a newer index is there
    assert again.full_catalog(catalog.full_catalog()).digest == sy.load_catalog(root).digest


def looked_up(library: Library, seed: int) -> list[tuple[int, int]]:
    """Return the cards of a library, by identity, met in an order of one's own."""
    ordinals = list(library.searcher.ordinals())
    cards = {}
    for ordinal in Random(seed).sample(ordinals, len(ordinals)):
        cards[ordinal] = library.skill(ordinal)
        assert library.ordinal(cards[ordinal]) == ordinal
    return [(ordinal, id(cards[ordinal])) for ordinal in ordinals]


def test_names_are_found_as_by_all_files_and_without_reading_them(
    root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    put(other, "git-bisect", skill("git-bisect", "Finds the commit that broke the build."))
    put(other, "csv", skill("csv-cleaning", "Cleans CSV files otherwise."))
    put(other, "twin/a", skill("Two Words", "One of two."))
    put(other, "twin/b", skill("Two Words", "Another of two."))
    put(other, "odd", skill("odd", "Is odd.", "id: Strange-Slug\n"))
    age(other)
    full = read_catalog(root, other)
    names = [name for each in full for name in (each.name, each.slug, each.id)]
    for name in (*names, "git", "nobody", "Git-Bisect", "two", " ", "", "nobody-0123456789ab"):
        indexed = open_catalog(root, other)
        assert isinstance(indexed, IndexedCatalog)
        found = indexed.named(name)
        quick = name in ("git-bisect", "csv-cleaning", "wipe-disk", "Two Words", "nobody", "git")
        assert not quick or indexed._full is None, name
        assert [each.path for each in found] == [each.path for each in full.named(name)], name
