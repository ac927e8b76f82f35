"""`load_catalog` over the kept index: the same skills and answers as reading every file."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import skillyard as sy
from skillyard import Catalog
from skillyard.engine.catalog import entries, read_catalog
from skillyard.engine.index.indexed_catalog import MAX_KEPT, IndexedCatalog
from tests.parity.trees import write_tree
from tests.shared_data import PACKAGES
from tests.tables import for_each

SECOND = """
import sys, skillyard as sy
from skillyard.engine.catalog import entries
def refuse(*given): raise AssertionError("a file was parsed")
entries.read_one = entries.refresh = entries.parse_file = refuse
catalog = sy.load_catalog(sys.argv[1])
(match,) = sy.select(catalog, "turn number 7 into a chart", top_k=1).selected
print(type(catalog).__name__, match.skill.name)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small library."""
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    return write_charts(tmp_path / "skills", 9)


def write_charts(root: Path, files: int) -> Path:
    for number in range(files):
        path = root / f"chart-{number}" / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (
            f"---\nname: chart-{number}\ndescription: Turns number {number} into a chart.\n"
            f"license: MIT\ncompatibility: any\nmetadata:\n  author: a{number}\n"
            f"tags: [t{number}]\ntriggers:\n  files: ['*.n{number}']\n---\n# Chart {number}\n"
        )
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return root


def test_a_library_of_a_few_files_is_opened_over_its_index(root: Path) -> None:
    assert type(sy.load_catalog(root)) is IndexedCatalog
    assert type(sy.load_catalog(root, index=False)) is Catalog
    assert not (root / ".skillyard").exists()


def test_the_next_process_parses_no_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "STABLE_AFTER_NS", 0)  # their stamps tell every change from now on
    sy.load_catalog(root)
    done = subprocess.run(
        [sys.executable, "-c", SECOND, str(root)],
        env={**os.environ, "PYTHONPATH": str(PACKAGES)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("IndexedCatalog chart-7\n", "")


def test_pages_beside_a_skill_count_as_they_are_now_and_nothing_outside_is_read(root: Path) -> None:
    page = root / "chart-3" / "references" / "globe.md"
    write_tree(root.parent, {"secret.md": "Isochrones.", "skills/chart-3/references/globe.md": ""})
    (page.parent / "outside.md").symlink_to(root.parent / "secret.md")
    for text, word in (("# Globe\n\nGreat circles.", "circles"), ("Azimuths.", "azimuth")):
        page.write_text(text, encoding="utf-8")
        for catalog in (sy.load_catalog(root), read_catalog(root)):
            matches = sy.rank(catalog, f"{word} isochrones")
            assert [m.skill.name for m in matches if m.signals.get("words")] == ["chart-3"]
            assert sy.rank(catalog, "isochrones") == []


def test_every_field_of_every_skill_is_as_in_its_file(root: Path) -> None:
    indexed, read = sy.load_catalog(root), read_catalog(root)
    assert [match.skill for match in sy.rank(indexed, "chart", limit=9)] == [
        match.skill for match in sy.rank(read, "chart", limit=9)
    ]
    for match in sy.rank(indexed, "chart", limit=len(read)):
        card, skill = match.skill, read.get(match.skill.id)
        assert {name: getattr(card, name) for name in skill.fields()} == skill.fields()
        assert (card, hash(card)) == (skill, hash(skill))
        assert pickle.loads(pickle.dumps(card)) == skill
        assert type(card.replace(description="Other.")) is sy.Skill


def test_a_relative_root_is_the_same_in_another_working_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    indexed, read = sy.load_catalog("skills"), sy.load_catalog("skills", index=False)
    (tmp_path / "elsewhere" / "skills").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    (match,) = sy.rank(indexed, "number 7", limit=1)
    assert match.skill == read.get("chart-7")
    assert [each.body for each in indexed] == [each.body for each in read]


def delete(root: Path) -> None:
    for path in root.rglob("SKILL.md"):
        path.unlink()


def edit(root: Path) -> None:
    for path in root.rglob("SKILL.md"):
        path.write_text("---\nname: other\ndescription: Another one.\n---\nOther.\n", "utf-8")


@for_each("change", [delete, edit, shutil.rmtree])
def test_a_small_catalog_stays_what_its_files_were(
    change: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    root = write_charts(tmp_path / "skills", 9)
    more = {"broken/SKILL.md": "---\nname: [\n---\n", ".claude/skills/plain/SKILL.md": "# Plain\n"}
    write_tree(root, more | {"again/SKILL.md": (root / "chart-3/SKILL.md").read_text("utf-8")})
    for _ in range(2):  # the index is made, and is there
        indexed, other = sy.load_catalog(root), sy.load_catalog(root)
        read = sy.load_catalog(root, index=False)
    assert {type(indexed), type(read)} == {IndexedCatalog, Catalog}
    change(root)
    (match,) = sy.select(indexed, "turn number 7 into a chart", top_k=1).selected
    assert match.skill.fields() == read.get("chart-7").fields()
    told = sy.inject("turn number 7 into a chart", indexed)
    assert "# Chart 7" in told.prompt
    for catalog in (indexed, pickle.loads(pickle.dumps(other))):
        assert [each.fields() for each in catalog.skills] == [each.fields() for each in read]
        assert (catalog.digest, catalog.counts) == (read.digest, read.counts)
        assert (catalog.diagnostics, catalog.shadowed) == (read.diagnostics, read.shadowed)


def test_a_reload_of_a_small_catalog_is_a_snapshot_again(root: Path) -> None:
    first = sy.load_catalog(root)
    (root / "chart-7" / "SKILL.md").unlink()
    write_tree(root, {"new/SKILL.md": "---\nname: new\ndescription: A new one.\n---\nNew.\n"})
    added, _, removed, second = first.reload()
    shutil.rmtree(root)
    told = [each.body for each in (*added, *removed, second.get("new"))]
    assert told == ["New.", "# Chart 7", "New."]
    assert (len(first.skills), len(second.skills)) == (9, 9)


def test_a_file_of_many_that_is_gone_is_an_error_that_names_it(root: Path) -> None:
    catalog = sy.load_catalog(write_charts(root, MAX_KEPT + 1))
    (match,) = sy.rank(catalog, "number 7", limit=1)
    Path(match.skill.path).unlink()
    with pytest.raises(sy.SkillError, match="chart-7"):
        match.skill.body  # noqa: B018 - looking at it is the test


def test_a_file_that_cannot_be_kept_has_every_file_read(root: Path) -> None:
    write_tree(root, {"large/SKILL.md": "x" * 3_000_000})
    indexed, read = sy.load_catalog(root), sy.load_catalog(root, index=False)
    shutil.rmtree(root)
    assert [each.fields() for each in indexed] == [each.fields() for each in read]
    assert indexed.diagnostics == read.diagnostics
