"""Copies: files with one name and the same bytes are one skill in several places."""

from __future__ import annotations

from pathlib import Path

import pytest

import skillyard as sy
from skillyard import validate
from skillyard.engine.index.indexed_catalog import IndexedCatalog
from skillyard.install.policy.library import open_catalog
from skillyard.serve.runtime.snapshot import snapshot_of
from tests.parity.trees import relative, write_tree
from tests.requirements import requirement
from tests.worked_examples.making import document

PDF = document("pdf")
COPIES = {
    ".claude/skills/pdf/SKILL.md": PDF,
    ".agents/skills/pdf/SKILL.md": PDF,
    ".agents/skills/csv/SKILL.md": document("csv"),
}


def below(root: Path, paths: tuple[str, ...]) -> list[str]:
    return [relative(path, root) for path in paths]


@requirement("catalog:copies")
def test_two_identical_files_are_one_skill_with_two_places(tmp_path: Path) -> None:
    root = write_tree(tmp_path, COPIES)
    catalog = sy.load_catalog(root)
    skill = catalog.get("pdf")
    assert below(root, catalog.places(skill)) == [
        ".agents/skills/pdf/SKILL.md",
        ".claude/skills/pdf/SKILL.md",
    ]
    assert catalog.get(skill.id) == skill
    assert [each.name for each in catalog.candidates] == ["csv", "pdf"]
    assert [each.name for each in catalog.find()] == ["csv", "pdf"]
    (remark,) = catalog.diagnostics
    assert (remark.code, remark.severity) == ("identical_copy", "info")
    assert relative(remark.path, root) == ".claude/skills/pdf/SKILL.md"
    assert catalog.counts == (2, 0, 0, 1, 0, 0)
    assert [match.skill for match in sy.select(catalog, "do pdf").selected] == [skill]


def test_the_first_root_wins_and_leads_an_id_and_the_other_folders_slug(tmp_path: Path) -> None:
    one = write_tree(tmp_path / "b", {"pdf/SKILL.md": PDF})
    other = write_tree(tmp_path / "a", {"pdf-backup/SKILL.md": PDF})
    catalog = sy.load_catalog(one, other)
    skill = catalog.get("pdf")
    assert skill.path.startswith(str(one))
    assert catalog.get(skill.id) == catalog.get("pdf-backup") == skill
    assert sy.load_catalog(other, one).get("pdf").path.startswith(str(other))


@pytest.mark.parametrize(
    ("files", "winner"),
    [
        # A folder that is called as the skill is goes before one that is not.
        ({"a-copy/SKILL.md": PDF, "pdf/SKILL.md": PDF}, "pdf/SKILL.md"),
        ({"z/SKILL.md": PDF, "b/SKILL.md": PDF, "a/SKILL.md": PDF}, "a/SKILL.md"),
        ({"pdf/SKILL.md": PDF, ".skills/pdf.md": PDF}, ".skills/pdf.md"),
        ({"a/SKILL.md": PDF, ".skills/other.md": PDF}, ".skills/other.md"),
    ],
)
def test_of_the_places_in_one_root_the_proper_one_wins(
    tmp_path: Path, files: dict[str, str], winner: str
) -> None:
    root = write_tree(tmp_path, files)
    catalog = sy.load_catalog(root)
    assert relative(catalog.get("pdf").path, root) == winner
    assert catalog.counts == (1, 0, 0, len(files) - 1, 0, 0)


def test_files_and_index_agree_before_and_after_one_copy_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    root = write_tree(tmp_path / "p", COPIES)

    def both() -> tuple[sy.Catalog, IndexedCatalog]:
        indexed = open_catalog(root, force_scan=True)
        assert isinstance(indexed, IndexedCatalog)
        files = sy.load_catalog(root)
        assert indexed.counts == files.counts
        assert indexed.diagnostics == files.diagnostics
        card = next(m.skill for m in sy.rank(indexed, "do pdf") if m.skill.name == "pdf")
        assert indexed.places(card) == files.places(card)
        assert repr(indexed) == f"<IndexedCatalog of {files.counts.skills} skills>"
        return files, indexed

    before, indexed = both()
    assert before.counts.copies == 1
    snapshot = snapshot_of(indexed, 1, lambda: indexed)
    assert snapshot.whole.counts == before.counts
    (root / ".agents/skills/pdf/SKILL.md").write_text(document("pdf", body="Changed."))
    files, _ = both()
    assert (files.counts.copies, files.counts.skills) == (0, 3)
    assert before.reload().catalog.counts == files.counts
    (root / ".agents/skills/pdf/SKILL.md").unlink()
    files, _ = both()
    assert files.counts == (2, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a/pdf/run.py": "1", "b/pdf/run.py": "1"}, ""),
        ({"a/pdf/run.py": "1", "b/pdf/run.py": "2"}, "'run.py' is another one here"),
        ({"a/pdf/run.py": "1", "b/pdf/run.py": "11"}, "'run.py' is another one here"),
        ({"a/pdf/run.py": "1"}, "'run.py' is missing here"),
        ({"b/pdf/x/run.py": "1"}, "'x/run.py' is only here"),
    ],
)
def test_check_names_the_first_file_in_which_two_copies_differ(
    tmp_path: Path, files: dict[str, str], said: str
) -> None:
    root = write_tree(tmp_path, {"a/pdf/SKILL.md": PDF, "b/pdf/SKILL.md": PDF, **files})
    found = [each for each in validate(root) if each.code == "copies_differ"]
    assert len(found) == bool(said)
    for each in found:
        assert (each.severity, relative(each.path, root)) == ("warning", "b/pdf/SKILL.md")
        assert f"the file {said}" in each.message
        assert each.message.endswith(f"from {root}/a/pdf/SKILL.md")
