"""`load_catalog` over the kept index: the same skills and answers as reading every file."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import skillyard as sy
from skillyard import Catalog
from skillyard.engine.catalog import entries, read_catalog
from skillyard.engine.index.indexed_catalog import IndexedCatalog
from tests.shared_data import PACKAGES

SECOND = """
import sys, skillyard as sy
from skillyard.engine.catalog import entries
def refuse(*given): raise AssertionError("a file was read again")
entries.read_one = entries.refresh = refuse
catalog = sy.load_catalog(sys.argv[1])
(match,) = sy.select(catalog, "turn number 7 into a chart", top_k=1).selected
print(type(catalog).__name__, match.skill.name)
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small library."""
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "skills"
    for number in range(9):
        path = root / f"chart-{number}" / "SKILL.md"
        path.parent.mkdir(parents=True)
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


def test_the_next_process_reads_no_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_every_field_of_every_skill_is_as_in_its_file(root: Path) -> None:
    kept, read = sy.load_catalog(root), read_catalog(root)
    assert [match.skill for match in sy.rank(kept, "chart", limit=9)] == [
        match.skill for match in sy.rank(read, "chart", limit=9)
    ]
    for match in sy.rank(kept, "chart", limit=len(read)):
        card, skill = match.skill, read.get(match.skill.id)
        assert {name: getattr(card, name) for name in skill.fields()} == skill.fields()
        assert (card, hash(card)) == (skill, hash(skill))
        assert pickle.loads(pickle.dumps(card)) == skill
        assert type(card.replace(description="Other.")) is sy.Skill


def test_a_relative_root_is_the_same_in_another_working_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept, read = sy.load_catalog("skills"), sy.load_catalog("skills", index=False)
    (tmp_path / "elsewhere" / "skills").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    (match,) = sy.rank(kept, "number 7", limit=1)
    assert match.skill == read.get("chart-7")
    assert [each.body for each in kept] == [each.body for each in read]


def test_a_file_that_is_gone_is_an_error_that_names_it(root: Path) -> None:
    (match,) = sy.rank(sy.load_catalog(root), "number 7", limit=1)
    Path(match.skill.path).unlink()
    with pytest.raises(sy.SkillError, match="chart-7"):
        match.skill.body  # noqa: B018 - looking at it is the test
