"""Safe reads: one regular file, inside one skill's real folder, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.base.io.folders import Folder, open_real_file, open_real_folder
from skillyard.engine import resources
from skillyard.engine.resources import (
    read_declared,
    read_file,
    resources_of,
)
from tests.parity.trees import write_tree
from tests.worked_examples.making import document

FILES: dict[str, str | bytes] = {
    "p/SKILL.md": document("p", extra="references: [references/a.md, ../secret.txt, gone.md]\n"),
    "p/references/a.md": "reference",
    "p/references/SKILL.md": document("inside"),
    "p/docs/b.txt": "docs",
    "p/scripts/run.py": "print(1)\n",
    "p/assets/x.bin": b"\0\1",
    "p/notes.MD": "notes",
    "p/nested/SKILL.md": document("nested"),
    "p/nested/own.md": "own",
    "secret.txt": "secret",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "root", FILES)


@pytest.fixture
def skill(root: Path) -> sy.Skill:
    return sy.parse_skill(str(root / "p/SKILL.md"), str(FILES["p/SKILL.md"]))


class TestReadFile:
    @pytest.mark.parametrize("name", ["gone", "p", "secret.txt/x"])
    def test_what_cannot_be_read_is_an_error_with_the_path_as_shown(
        self, root: Path, name: str
    ) -> None:
        with pytest.raises(sy.SkillIoError) as caught:
            read_file(str(root / name), 100, "shown")
        assert caught.value.path == "shown"
        assert caught.value.code in {"io_error", "not_a_regular_file"}

    def test_a_link_is_not_followed(self, root: Path) -> None:
        (root / "link").symlink_to("secret.txt")
        with pytest.raises(sy.SkillIoError):
            read_file(str(root / "link"), 100)

    def test_a_pipe_is_refused_without_waiting_for_a_writer(self, root: Path) -> None:
        os.mkfifo(root / "pipe")
        with pytest.raises(sy.SkillIoError) as caught:
            read_file(str(root / "pipe"), 100)
        assert caught.value.code == "not_a_regular_file"

    def test_the_cap_is_the_last_size_that_is_read(self, root: Path) -> None:
        path = str(root / "secret.txt")
        assert read_file(path, 6).data == b"secret"
        with pytest.raises(sy.SkillIoError) as caught:
            read_file(path, 5)
        assert caught.value.code == "file_too_large"


class TestList:
    def test_links_pipes_and_odd_names_are_left_out(self, root: Path, skill: sy.Skill) -> None:
        before = sy.files.list_resources(skill)
        (root / "p/link.md").symlink_to("notes.MD")
        (root / "p/out").symlink_to(root, target_is_directory=True)
        os.mkfifo(root / "p/pipe")
        (root / "p/a\nb.md").write_text("x", encoding="utf-8")
        assert sy.files.list_resources(skill) == before

    def test_at_most_as_many_as_allowed_are_listed_and_not_too_deep(self, skill: sy.Skill) -> None:
        few = sy.files.list_resources(skill, sy.files.DEFAULT_LIMITS._replace(resources_listed=2))
        assert few == sy.files.list_resources(skill)[:2]
        cut = resources_of(skill, sy.files.DEFAULT_LIMITS._replace(resources_listed=2))
        assert cut.resources == few
        assert [(each.code, each.message) for each in cut.diagnostics] == [
            ("too_many_resources", "4 of 6 files beside it are not listed")
        ]
        assert resources_of(skill).diagnostics == ()
        flat = sy.files.list_resources(skill, sy.files.DEFAULT_LIMITS._replace(tree_depth=0))
        assert [item.path for item in flat] == ["notes.MD"]

    def test_a_folder_that_cannot_be_listed_costs_no_other(
        self, skill: sy.Skill, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = open_real_folder

        def opening(path: str) -> Folder:
            if path.endswith("scripts"):
                raise PermissionError(13, "Permission denied")
            return real(path)

        monkeypatch.setattr(resources, "open_real_folder", opening)
        assert "scripts/run.py" not in {item.path for item in sy.files.list_resources(skill)}
        assert "notes.MD" in {item.path for item in sy.files.list_resources(skill)}


class TestPaths:
    def test_a_link_is_followed_inside_the_folder_and_never_out_of_it(
        self, root: Path, skill: sy.Skill
    ) -> None:
        (root / "p/in.md").symlink_to("references/a.md")
        (root / "p/out.md").symlink_to("../secret.txt")
        (root / "p/up").symlink_to("..", target_is_directory=True)
        write_tree(root, {"p-sibling/x.md": "sibling"})
        (root / "p/sibling.md").symlink_to("../p-sibling/x.md")
        assert sy.files.read_resource(skill, "in.md") == b"reference"
        for path in ("out.md", "up/secret.txt", "up", "sibling.md"):
            with pytest.raises(sy.errors.ResourceRefused):
                sy.files.read_resource(skill, path)

    def test_a_folder_swapped_for_a_link_after_the_check_is_not_followed(
        self, root: Path, skill: sy.Skill, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_tree(root, {"elsewhere/a.md": "secret"})
        real = open_real_file

        def swap_then_open(path: str) -> int:
            (root / "p/references").rename(root / "p/moved")
            (root / "p/references").symlink_to(root / "elsewhere", target_is_directory=True)
            return real(path)

        monkeypatch.setattr(resources, "open_real_file", swap_then_open)
        with pytest.raises(sy.errors.ResourceRefused):
            sy.files.read_resource(skill, "references/a.md")


class TestDeclared:
    def test_only_a_declared_path_is_read(self, skill: sy.Skill) -> None:
        assert read_declared(skill, "references/a.md") == b"reference"
        with pytest.raises(sy.errors.ResourceRefused, match="does not declare it"):
            read_declared(skill, "notes.MD")

    def test_the_path_of_a_single_document_is_seen_from_its_folder(self, tmp_path: Path) -> None:
        root = write_tree(tmp_path / "r", {".skills/x.md": "x", ".skills/a/y.md": "y"})
        one = sy.Skill("x", "d", "b", str(root / ".skills/x.md"), declared_references=("a/y.md",))
        assert read_declared(one, "a/y.md") == b"y"
