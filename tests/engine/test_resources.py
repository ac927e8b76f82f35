"""Safe reads: one regular file, inside one skill's real folder, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import skillyard as sy
from skillyard.base.io.folders import Folder, open_real_file, open_real_folder
from skillyard.engine import resources
from skillyard.engine.resources import (
    Resource,
    read_declared,
    read_file,
    resources_of,
    safe_parts,
    skill_folder,
)
from tests.parity.trees import write_tree
from tests.tables import for_each
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
    def test_the_bytes_come_with_the_status_of_the_file_that_was_read(self, root: Path) -> None:
        path = root / "secret.txt"
        found = read_file(str(path), 6)
        assert (found.data, found.status.st_ino) == (b"secret", path.stat().st_ino)

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

    @pytest.mark.parametrize(
        ("size", "cap", "read"), [(0, 100, b"secret"), (3, 6, b"secret"), (10, 100, b"secret")]
    )
    def test_a_file_that_changes_its_size_meanwhile_is_read_as_it_is(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, size: int, cap: int, read: bytes
    ) -> None:
        monkeypatch.setattr(os, "fstat", status_of_size(size))
        assert read_file(str(root / "secret.txt"), cap).data == read

    def test_a_file_that_grows_beyond_the_cap_meanwhile_is_refused(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "fstat", status_of_size(3))
        with pytest.raises(sy.SkillIoError) as caught:
            read_file(str(root / "secret.txt"), 5)
        assert caught.value.code == "file_too_large"

    def test_a_read_that_fails_half_way_is_an_error_with_its_path(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, skill: sy.Skill
    ) -> None:
        def fail(*_: object) -> bytes:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "read", fail)
        with pytest.raises(sy.SkillIoError, match="Input/output error"):
            read_file(str(root / "secret.txt"), 100)
        with pytest.raises(sy.ResourceRefused, match="Input/output error"):
            sy.read_resource(skill, "notes.MD")


def status_of_size(size: int) -> Callable[[int], os.stat_result]:
    """Return an ``fstat`` that reports a size which is no longer true."""
    real = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        fields = list(real(descriptor))
        fields[6] = size
        return os.stat_result(fields)

    return fstat


class TestList:
    def test_files_come_sorted_with_size_and_kind(self, skill: sy.Skill) -> None:
        assert sy.list_resources(skill) == (
            Resource("assets/x.bin", 2, "asset"),
            Resource("docs/b.txt", 4, "reference"),
            Resource("notes.MD", 5, "reference"),
            Resource("references/SKILL.md", len(FILES["p/references/SKILL.md"]), "reference"),
            Resource("references/a.md", 9, "reference"),
            Resource("scripts/run.py", 9, "script"),
        )

    def test_links_pipes_and_odd_names_are_left_out(self, root: Path, skill: sy.Skill) -> None:
        before = sy.list_resources(skill)
        (root / "p/link.md").symlink_to("notes.MD")
        (root / "p/out").symlink_to(root, target_is_directory=True)
        os.mkfifo(root / "p/pipe")
        (root / "p/a\nb.md").write_text("x", encoding="utf-8")
        assert sy.list_resources(skill) == before

    def test_at_most_as_many_as_allowed_are_listed_and_not_too_deep(self, skill: sy.Skill) -> None:
        few = sy.list_resources(skill, sy.DEFAULT_LIMITS._replace(resources_listed=2))
        assert few == sy.list_resources(skill)[:2]
        cut = resources_of(skill, sy.DEFAULT_LIMITS._replace(resources_listed=2))
        assert cut.resources == few
        assert [(each.code, each.message) for each in cut.diagnostics] == [
            ("too_many_resources", "4 of 6 files beside it are not listed")
        ]
        assert resources_of(skill).diagnostics == ()
        flat = sy.list_resources(skill, sy.DEFAULT_LIMITS._replace(tree_depth=0))
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
        assert "scripts/run.py" not in {item.path for item in sy.list_resources(skill)}
        assert "notes.MD" in {item.path for item in sy.list_resources(skill)}

    def test_a_folder_that_fails_while_it_is_listed_is_left_out(
        self, skill: sy.Skill, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def scandir(path: str) -> object:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "scandir", scandir)
        assert sy.list_resources(skill) == ()

    def test_a_folder_that_is_gone_has_none(self, root: Path, skill: sy.Skill) -> None:
        (root / "p").rename(root / "moved")
        assert sy.list_resources(skill) == ()

    def test_a_path_that_cannot_be_resolved_is_refused(
        self, skill: sy.Skill, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def realpath(path: str) -> str:
            raise OSError(40, "Too many levels of symbolic links")

        monkeypatch.setattr(os.path, "realpath", realpath)
        for call in (sy.list_resources, lambda one: sy.read_resource(one, "notes.MD")):
            with pytest.raises(sy.ResourceRefused, match="Too many levels"):
                call(skill)


class TestFolder:
    def test_the_folder_is_the_real_one(self, root: Path, skill: sy.Skill) -> None:
        (root / "link").symlink_to("p", target_is_directory=True)
        linked = sy.parse_skill(str(root / "link/SKILL.md"), document("p"))
        assert skill_folder(linked) == skill_folder(skill) == str((root / "p").resolve())

    def test_a_relative_path_is_seen_from_the_current_folder(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(root / "p")
        assert skill_folder(sy.parse_skill("SKILL.md", document("p"))) == os.getcwd()

    @for_each("path", ["", ".skills/p.md", "AGENTS.md"])
    def test_a_single_document_has_none(self, path: str) -> None:
        skill = sy.Skill("p", "d", "b", path)
        for call in (skill_folder, sy.list_resources):
            with pytest.raises(sy.ResourceRefused, match="single document"):
                call(skill)


REFUSED: list[Any] = [
    "", "  ", ".", "./", "/etc/passwd", "~/x", "..", "../secret.txt", "a/../b",
    "references/../../secret.txt", "a\\b", "C:x", "file:///etc/passwd", "a\0b", "a\nb", "a\u202eb",
    "%2e%2e/secret.txt", "a%2Fb", "a%5cb", "a%00", "%252e%252e", "a./b", "a /b", "... ",
]  # fmt: skip


class TestPaths:
    @for_each(
        ("path", "parts"),
        [("a", ("a",)), ("./a//b/./c.md", ("a", "b", "c.md")), (".hidden", (".hidden",)),
         ("100% sure.md", ("100% sure.md",)), ("ü/数.md", ("ü", "数.md")), ("a~b", ("a~b",))],
    )  # fmt: skip
    def test_a_plain_relative_path_is_its_parts(self, path: str, parts: tuple[str, ...]) -> None:
        assert safe_parts(path) == parts

    def test_a_resource_is_its_bytes(self, skill: sy.Skill) -> None:
        assert sy.read_resource(skill, "references/a.md") == b"reference"
        assert sy.read_resource(skill, "assets/x.bin") == b"\0\1"

    def test_a_file_over_the_cap_is_refused(self, skill: sy.Skill) -> None:
        limits = sy.DEFAULT_LIMITS._replace(resource_bytes=8)
        with pytest.raises(sy.ResourceRefused, match="larger than 8 bytes"):
            sy.read_resource(skill, "references/a.md", limits)

    def test_a_link_is_followed_inside_the_folder_and_never_out_of_it(
        self, root: Path, skill: sy.Skill
    ) -> None:
        (root / "p/in.md").symlink_to("references/a.md")
        (root / "p/out.md").symlink_to("../secret.txt")
        (root / "p/up").symlink_to("..", target_is_directory=True)
        write_tree(root, {"p-sibling/x.md": "sibling"})
        (root / "p/sibling.md").symlink_to("../p-sibling/x.md")
        assert sy.read_resource(skill, "in.md") == b"reference"
        for path in ("out.md", "up/secret.txt", "up", "sibling.md"):
            with pytest.raises(sy.ResourceRefused):
                sy.read_resource(skill, path)

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
        with pytest.raises(sy.ResourceRefused):
            sy.read_resource(skill, "references/a.md")


class TestDeclared:
    def test_only_a_declared_path_is_read(self, skill: sy.Skill) -> None:
        assert read_declared(skill, "references/a.md") == b"reference"
        with pytest.raises(sy.ResourceRefused, match="does not declare it"):
            read_declared(skill, "notes.MD")

    @pytest.mark.parametrize("path", ["../secret.txt", "gone.md"])
    def test_declaring_a_path_opens_no_way_out(self, skill: sy.Skill, path: str) -> None:
        with pytest.raises(sy.ResourceRefused):
            read_declared(skill, path)

    def test_the_path_of_a_single_document_is_seen_from_its_folder(self, tmp_path: Path) -> None:
        root = write_tree(tmp_path / "r", {".skills/x.md": "x", ".skills/a/y.md": "y"})
        one = sy.Skill("x", "d", "b", str(root / ".skills/x.md"), declared_references=("a/y.md",))
        assert read_declared(one, "a/y.md") == b"y"

    def test_a_skill_without_a_file_has_nothing_to_read(self) -> None:
        with pytest.raises(sy.ResourceRefused, match="comes from no file"):
            read_declared(sy.Skill("x", "d", "b", declared_references=("a.md",)), "a.md")
