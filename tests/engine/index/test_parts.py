"""An index is made in parts: what is done stays, and answers whoever asks meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.base.io.locks import file_lock
from skillyard.engine.catalog import read_catalog
from skillyard.engine.catalog.entries import read_one
from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.index import index_update, indexed_catalog
from skillyard.engine.index.index_update import build_index, refresh_index
from skillyard.engine.index.index_writer import LOCK
from skillyard.engine.index.indexed_catalog import BUILDING, IndexedCatalog, open_library_index
from skillyard.engine.index.library_spec import index_folder
from skillyard.files import DEFAULT_LIMITS
from skillyard.install.policy.library import open_catalog
from tests.parity.trees import write_tree
from tests.worked_examples.making import document

FILES = 700
SHADOWED = 50
REQUEST = "repairs broken files of kind 7"

KILLED = """
import os, signal, sys
import skillyard.engine.catalog.entries
import skillyard.engine.index.index_update
from skillyard.install.policy.library import open_catalog

skillyard.engine.catalog.entries.STABLE_AFTER_NS = 0
skillyard.engine.index.index_update.MIN_COMMIT_FILES = 256

def told(done, total):
    if done >= 384:
        os.kill(os.getpid(), signal.SIGKILL)

open_catalog(sys.argv[1], progress=told)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LibrarySpec:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(indexed_catalog, "POLL_S", 0.0)
    monkeypatch.setattr(index_update, "MIN_COMMIT_FILES", 256)
    monkeypatch.setattr(indexed_catalog, "WAIT_S", 0.0)
    files = {
        f"n{number % 9}/s{number}/SKILL.md": document(
            f"s{number % (FILES - SHADOWED)}", f"Repairs broken files of kind {number % 13}."
        )
        for number in range(FILES)
    }
    root = write_tree(tmp_path / "skills", files)
    for path in root.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    monkeypatch.setattr("skillyard.engine.catalog.entries.STABLE_AFTER_NS", 0)
    return LibrarySpec((str(root),), (), DEFAULT_LIMITS)


def part_of(place: LibrarySpec) -> IndexedCatalog:
    found = indexed_catalog.open_current(place, index_folder(place), trusted=True)
    assert found is not None
    return found


def scores(catalog: sy.Catalog) -> list[tuple[str, float]]:
    return [(match.skill.path, match.score) for match in sy.rank(catalog, REQUEST, limit=None)]


def read_from_now_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    read: list[str] = []

    def counted(candidate: object, *rest: object) -> object:
        read.append(candidate.path)  # type: ignore[attr-defined]
        return read_one(candidate, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(index_update, "read_one", counted)
    return read


def test_a_process_that_is_killed_leaves_what_it_had_done(
    place: LibrarySpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [sys.executable, "-c", KILLED, place.roots[0]]
    assert subprocess.run(arguments, check=False).returncode == -9
    part = part_of(place)
    assert part.building == (256, FILES, None)
    read = read_from_now_on(monkeypatch)
    catalog = open_library_index(place)
    assert catalog.building is None
    # The rest, and those of the first that a later file shadows.
    assert len(set(read)) <= FILES - 256 + SHADOWED
    assert scores(catalog) == scores(read_catalog(place.roots))
    assert catalog.diagnostics == read_catalog(place.roots).diagnostics


def test_who_asks_meanwhile_is_answered_from_the_part_and_told_so(place: LibrarySpec) -> None:
    def interrupt(done: int, total: int) -> None:
        if done >= 320:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refresh_index(place, index_folder(place), progress=interrupt)
    with file_lock(os.path.join(index_folder(place), LOCK)):  # somebody goes on with it
        catalog = open_catalog(place.roots)
        assert isinstance(catalog, IndexedCatalog)
        (said,) = [each for each in catalog.diagnostics if each.code == BUILDING]
        assert said.message.endswith("answers come from 320 of 700 files")
        assert {match.skill.name for match in sy.rank(catalog, REQUEST, limit=None)}
        assert len(catalog.counts.words) > 0
        # Who cannot do with a part waits for the whole.
        with pytest.raises(sy.SkillIoError, match="another process"):
            open_library_index(place, in_parts=False)
    assert not [each for each in open_catalog(place.roots).diagnostics if each.code == BUILDING]


def test_an_index_that_is_made_anew_answers_with_all_of_it_until_then(place: LibrarySpec) -> None:
    before = scores(open_library_index(place))

    def interrupt(done: int, total: int) -> None:
        if done >= 320:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(place, index_folder(place), progress=interrupt)
    assert part_of(place).building is None
    assert scores(part_of(place)) == before


def test_a_part_does_not_show_what_another_file_shadows(place: LibrarySpec) -> None:
    def interrupt(done: int, total: int) -> None:
        if done >= 640:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(place, index_folder(place), progress=interrupt)
    part = part_of(place)
    shared = {
        each.message.split("'")[1] for each in part.diagnostics if "same file" in each.message
    }
    assert len(part) == 640
    assert part.counts.copies == len(shared) > 0
    for name in shared:
        found = [match.skill.name for match in sy.rank(part, f"@{name}", limit=None)]
        assert found.count(name) == 1
