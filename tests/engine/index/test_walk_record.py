"""The record of a walk shows every change that a walk sees, with folder times and without them."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from skillyard.engine.catalog.roots import LibrarySpec
from skillyard.engine.discovery.hosts import HOST_FOLDERS
from skillyard.engine.discovery.layout import Root, Scan
from skillyard.engine.discovery.walk import scan
from skillyard.engine.index import library_spec
from skillyard.engine.index.library_spec import encode_walk, is_unchanged, scan_fingerprint
from skillyard.engine.ranking.hybrid import HYBRID
from skillyard.engine.skill import Skill
from skillyard.install.policy.library import open_catalog
from tests.parity.trees import write_tree
from tests.tables import for_each
from tests.worked_examples.making import document

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is recorded on Windows")

TREE = {
    "a/SKILL.md": document("a", "Does A."),
    "a/references/more.md": "More.",
    "b/SKILL.md": document("b", "Does B."),
    "b/notes.txt": "x",
    "project/build/out.txt": "x",
    "project/AGENTS.md": "Be kind.",
    "project/.skills/single.md": document("single", "Is one file."),
}


def _same_size_and_time(path: Path) -> None:
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"Does A", b"Does Z"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replaced(path: Path) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(path.read_bytes())
    os.replace(beside, path)


def _file_becomes_folder(path: Path) -> None:
    path.unlink()
    write_tree(path, {"SKILL.md": document("inner", "Was a file.")})


def _folder_becomes_link(path: Path) -> None:
    moved = path.with_name(f"{path.name}-moved")
    path.rename(moved)
    path.symlink_to(moved, target_is_directory=True)


CHANGES: dict[str, Callable[[Path], object]] = {
    "an edit": lambda root: (root / "a/SKILL.md").write_text(document("a", "Does A better.")),
    "an edit of one size and time": lambda root: _same_size_and_time(root / "a/SKILL.md"),
    "a file replaced": lambda root: _replaced(root / "b/SKILL.md"),
    "a deletion": lambda root: (root / "a/SKILL.md").unlink(),
    "a new skill": lambda root: write_tree(root, {"c/SKILL.md": document("c", "Does C.")}),
    "a new skill in a skill": lambda root: write_tree(root, {"a/x/SKILL.md": document("x", "X.")}),
    "a new reference": lambda root: write_tree(root, {"a/references/new.md": "New."}),
    "a reference changed": lambda root: write_tree(root, {"a/references/more.md": "Other text."}),
    "a reference removed": lambda root: (root / "a/references/more.md").unlink(),
    "a new reference folder": lambda root: write_tree(root, {"b/docs/new.md": "New."}),
    "a new convention file": lambda root: write_tree(root, {"project/CLAUDE.md": "Be brief."}),
    "a new single file": lambda root: write_tree(
        root, {"project/.skills/two.md": document("two", "Is another.")}
    ),
    "a skill in a build folder": lambda root: write_tree(
        root, {"project/build/SKILL.md": document("built", "Was built.")}
    ),
    "a file that becomes a folder": lambda root: _file_becomes_folder(root / "b/notes.txt"),
    "a folder that becomes a link": lambda root: _folder_becomes_link(root / "b"),
    "a link to a folder": lambda root: (root / "z").symlink_to(root / "a"),
    "a folder renamed": lambda root: (root / "b").rename(root / "z"),
    "the root gone": lambda root: root.rename(root.with_name("gone")),
}


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a minute pass: the time of a folder's last change cannot be set back."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 60 * 10**9)


def walk(root: Path) -> Scan:
    return scan([Root(str(root))])


def record_of(found: Scan, index: Path) -> tuple[bytes, str]:
    fingerprint = scan_fingerprint(found)
    index.mkdir(exist_ok=True)
    return encode_walk(found, fingerprint, str(index)), fingerprint


@pytest.fixture(params=["with folder times", "without folder times"])
def index(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: None
) -> Path:
    """Return the folder of an index that relies on folder times, or of one that does not."""
    if request.param == "without folder times":
        monkeypatch.setattr(library_spec, "_device_with_folder_times", lambda folder: None)
    return tmp_path / "index"


@for_each("change", CHANGES)
def test_every_change_that_a_walk_sees_is_seen(tmp_path: Path, index: Path, change: str) -> None:
    root = write_tree(tmp_path / "skills", TREE)
    record, fingerprint = record_of(walk(root), index)
    assert is_unchanged(record, fingerprint)
    CHANGES[change](root)
    assert not is_unchanged(record, fingerprint)


SCOPES = {
    "home/.claude/settings.json": "{}",
    "home/.claude/skills/a/SKILL.md": document("a", "Does A."),
    "p/.git/HEAD": "ref",
    "p/.claude/skills/b/SKILL.md": document("b", "Does B."),
    "p/c/SKILL.md": document("c", "Does C."),
}
PLUGIN = {"plugins": {"x@y": {"scope": "user", "installPath": "/nowhere"}}}
AROUND: dict[str, Callable[[Path, pytest.MonkeyPatch], object]] = {
    "a skill": lambda base, _: (base / "home/.claude/skills/a/SKILL.md").unlink(),
    "a folder of the user": lambda base, _: write_tree(
        base, {"home/.kiro/skills/x/SKILL.md": document("x", "X.")}
    ),
    "a folder of the project": lambda base, _: (base / "p/.kiro/skills").mkdir(parents=True),
    "a folder gone": lambda base, _: (base / "home/.claude/skills").rename(base / "gone"),
    "a repository gone": lambda base, _: (base / "p/.git").rename(base / "gone"),
    "settings": lambda base, _: write_tree(base, {"home/.claude/settings.json": '{"a": 1}'}),
    "settings of the project": lambda base, _: write_tree(base, {"p/.claude/settings.json": "{}"}),
    "a plugin": lambda base, _: write_tree(
        base, {"home/.claude/plugins/installed_plugins.json": json.dumps(PLUGIN)}
    ),
    "a plugin of Codex": lambda base, _: write_tree(base, {"home/.codex/config.toml": ""}),
    "an extension": lambda base, _: (base / "home/.gemini/extensions").mkdir(parents=True),
    "a variable": lambda base, patch: patch.setenv("CODEX_HOME", str(base / "codex")),
    "the home folder": lambda base, patch: patch.setenv("HOME", str(base / "other")),
}


@for_each("change", AROUND)
def test_every_change_of_what_decides_on_the_folders_of_scopes_is_seen(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch, later: None
) -> None:
    base = write_tree(tmp_path / "base", SCOPES)
    for name in filter(None, (row.variable for row in HOST_FOLDERS)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(base / "home"))
    spec = LibrarySpec((str(base / "p"),), ("project", "user"), folder=str(base / "p"))
    record, fingerprint = record_of(spec.scan_resolved(), tmp_path / "index")
    assert is_unchanged(record, fingerprint)
    AROUND[change](base, monkeypatch)
    assert not is_unchanged(record, fingerprint)
    if change in ("a plugin", "an extension"):  # what these give depends on more
        assert record_of(spec.scan_resolved(), tmp_path / "index")[0] == b""


def test_without_folder_times_what_a_walk_does_not_look_at_changes_nothing(
    tmp_path: Path, index: Path
) -> None:
    root = write_tree(tmp_path / "skills", TREE)
    record, fingerprint = record_of(walk(root), index)
    (root / "project/build/deep").mkdir()
    os.utime(root / "b")
    assert scan_fingerprint(walk(root)) == fingerprint
    assert is_unchanged(record, fingerprint)


def test_where_a_new_file_does_not_change_the_time_of_its_folder_no_time_is_recorded(
    tmp_path: Path, later: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(tmp_path / "skills", TREE)
    found = walk(root)
    with_times, fingerprint = record_of(found, tmp_path / "index")
    assert b'",null,["' not in with_times
    real = os.unlink

    def set_back(path: str) -> None:
        real(path)
        os.utime(os.path.dirname(path), (0, 0))

    monkeypatch.setattr(os, "unlink", set_back)
    without, _ = record_of(found, tmp_path / "index")
    assert b'",[' not in without.partition(b'"files"')[0]
    assert is_unchanged(without, fingerprint)


def test_an_unchanged_library_is_not_walked_again(
    tmp_path: Path, later: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    root = write_tree(tmp_path / "skills", TREE)
    count = len(open_catalog(str(root)))
    monkeypatch.setattr(LibrarySpec, "scan", lambda spec: pytest.fail("the library was walked"))
    assert len(open_catalog(str(root))) == count


def test_a_folder_that_becomes_the_first_leaves_nothing_of_the_others_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other roots have other numbers then, by which their documents are stored."""
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    write_tree(tmp_path / "home/.claude/skills", TREE)
    before = [skill.path for skill in _ranked_skills()]
    assert before
    for name in ("a", "new"):
        write_tree(project / f".claude/skills/{name}", {"SKILL.md": document(name, "Is new.")})
        skills = _ranked_skills()
        assert all(os.path.isfile(skill.path) for skill in skills)
        assert {skill.name for skill in skills} >= {name, "b", "single"}
    shutil.rmtree(project / ".claude")
    assert [skill.path for skill in _ranked_skills()] == before


def _ranked_skills() -> Sequence[Skill]:
    """Return the skills that a choice without roots is made from."""
    return HYBRID.bind(open_catalog(scopes=["project", "user"])).skills
