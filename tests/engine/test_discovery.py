"""From roots to candidate files: layouts, links, skipped folders, order, the user's folders."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from skillyard.engine.discovery.layout import BUILD_FOLDERS, REFERENCE_FOLDERS, Root, Scan
from skillyard.engine.discovery.walk import scan
from tests.parity.trees import relative, write_tree
from tests.tables import for_each
from tests.worked_examples.making import document

SKILL = document("x")


def look(*roots: Path, scope: str = "project") -> Scan:
    return scan([Root(str(root), scope) for root in roots])


def paths(found: Scan, root: Path) -> list[str]:
    return [relative(candidate.path, root) for candidate in found.candidates]


def codes(found: Scan) -> list[str]:
    return [diagnostic.code for diagnostic in found.diagnostics]


def tree(root: Path, files: Iterable[str]) -> Path:
    return write_tree(root, dict.fromkeys(files, SKILL))


class TestWhichFiles:
    @for_each("folder", sorted(BUILD_FOLDERS))
    def test_a_build_folder_is_entered_only_when_it_is_a_skill(
        self, tmp_path: Path, folder: str
    ) -> None:
        root = tree(tmp_path / "p", [f"{folder}/a/SKILL.md", f"s/{folder}/SKILL.md"])
        assert paths(look(root), root) == [f"s/{folder}/SKILL.md"]

    @for_each(
        ("files", "taken", "code"),
        [
            (["a/skill.md"], ["a/skill.md"], ["file_name_case"]),
            (["a/Skill.md"], [], ["skill_md_missing"]),
            (["a/Skill.md", "a/sKill.md"], [], ["skill_md_missing", "skill_md_missing"]),
            (["a/Skill.md", "a/skill.md"], ["a/skill.md"], ["skill_md_twice", "file_name_case"]),
            (["a/SKILL.md", "a/skill.md"], ["a/SKILL.md"], ["skill_md_twice"]),
            (
                ["a/SKILL.md", "a/skill.md", "a/Skill.md"],
                ["a/SKILL.md"],
                ["skill_md_twice", "skill_md_twice"],
            ),
        ],
    )
    def test_a_name_in_another_case_is_taken_or_reported(
        self, tmp_path: Path, files: Sequence[str], taken: list[str], code: list[str]
    ) -> None:
        root = tree(tmp_path / "p", files)
        found = look(root)
        assert (paths(found, root), codes(found)) == (taken, code)


class TestReferences:
    def test_documents_beside_a_skill_and_in_its_reference_folders_are_listed(
        self, tmp_path: Path
    ) -> None:
        inside = [f"a/{folder}/r.md" for folder in REFERENCE_FOLDERS]
        others = ["a/notes.MD", "a/skill.md", "a/x.txt", "a/scripts/s.md", "a/docs/deep/d.md"]
        root = tree(tmp_path / "p", ["a/SKILL.md", *inside, *others])
        (tmp_path / "secret.md").write_text("x", encoding="utf-8")
        (root / "a/link.md").symlink_to(tmp_path / "secret.md")
        candidate = next(c for c in look(root).candidates if c.folder == "a")
        assert [reference.path for reference in candidate.references] == sorted(
            ["notes.MD", *(f"{folder}/r.md" for folder in REFERENCE_FOLDERS)]
        )
        assert {reference.content for reference in candidate.references} == {None}


class TestLinks:
    def test_a_link_into_a_later_root_is_followed_and_one_beside_all_roots_is_not(
        self, tmp_path: Path
    ) -> None:
        store = tree(tmp_path / "store", ["build/a/SKILL.md"])
        tree(tmp_path / "storeroom", ["b/SKILL.md"])
        root = tree(tmp_path / "p", ["c/SKILL.md"])
        (root / "a").symlink_to(store / "build/a", target_is_directory=True)
        (root / "b").symlink_to(tmp_path / "storeroom/b", target_is_directory=True)
        found = look(root, store)
        assert [c.path for c in found.candidates] == [f"{root}/a/SKILL.md", f"{root}/c/SKILL.md"]
        assert [(d.code, d.path) for d in found.diagnostics] == [("link_outside", f"{root}/b")]

    @for_each(
        ("file", "text", "found"),
        [
            (".agents/skills/x", "../../.claude/skills/x", ["link_as_text"]),
            (".agents/skills", "../.claude/skills", ["link_as_text"]),
            ("skills/x", "packages/my skills/x", ["link_as_text"]),
            ("skills/README", "see docs/x\nand docs/y\n", []),
            ("skills/LICENSE", "../" * 400 + "x", []),
            ("skills/a.txt", "../x", []),
            ("notes/x", "../x", []),
        ],
    )
    def test_a_link_that_was_checked_out_as_a_text_file_is_an_error(
        self, file: str, text: str, found: list[str], tmp_path: Path
    ) -> None:
        root = tree(tmp_path / "p", ["a/SKILL.md", file])
        (root / file).write_text(text)
        assert codes(look(root)) == found
        assert all(each.severity == "error" for each in look(root).diagnostics)

    def test_links_that_lead_to_themselves_are_reported_as_loops(self, tmp_path: Path) -> None:
        root = tree(tmp_path / "p", ["a/SKILL.md"])
        (root / "self").symlink_to("self", target_is_directory=True)
        (root / "one").symlink_to("two")
        (root / "two").symlink_to("one")
        (root / "b").mkdir()
        (root / "b/SKILL.md").symlink_to("SKILL.md")
        found = look(root)
        assert [(d.code, relative(d.path, root)) for d in found.diagnostics] == [
            ("link_loop", "b/SKILL.md"),
            ("link_loop", "one"),
            ("link_loop", "self"),
            ("link_loop", "two"),
        ]

    def test_a_link_in_key_skills_must_stay_in_key_skills(self, tmp_path: Path) -> None:
        root = tree(tmp_path / "p", ["build/a/SKILL.md", "key_skills/b/c/SKILL.md"])
        (root / "key_skills/a").symlink_to(root / "build/a", target_is_directory=True)
        found = look(root)
        assert paths(found, root) == ["key_skills/b/c/SKILL.md"]
        assert codes(found) == ["link_outside"]

    def test_a_skill_file_may_be_a_link_inside_the_root(self, tmp_path: Path) -> None:
        root = tree(tmp_path / "p", ["a/real.md", "b/text.md", "c/deep/real.md", "e/SKILL.md"])
        tree(tmp_path, ["real.md"])
        (root / "a/SKILL.md").symlink_to("real.md")
        (root / "b/SKILL.md").symlink_to("../a/real.md")
        (root / "c/SKILL.md").symlink_to("deep/real.md")
        for name, goal in (("d", "../../real.md"), ("f", "../e/SKILL.md")):
            (root / name).mkdir()
            (root / name / "SKILL.md").symlink_to(goal)
        found = look(root)
        # f is a second door to e, which is listed by its own path.
        listed = ["a/SKILL.md", "b/SKILL.md", "c/SKILL.md", "e/SKILL.md"]
        assert paths(found, root) == listed
        real = str((root / "a/real.md").resolve())
        assert [each.target for each in found.candidates[:2]] == [real, real]
        assert [(d.code, d.severity) for d in found.diagnostics] == [("link_outside", "error")]


class TestOddThings:
    def test_what_is_no_file_is_named_and_not_opened(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = tree(tmp_path / "p", ["a/SKILL.md", "folder/SKILL.md/x.txt"])
        for name in ("pipe", "door", "null"):
            (root / name).mkdir()
        os.mkfifo(root / "pipe/SKILL.md")
        monkeypatch.chdir(root / "door")
        with socket.socket(socket.AF_UNIX) as door:
            door.bind("SKILL.md")  # a socket's path must be short
        (root / "null/SKILL.md").symlink_to("/dev/null")
        found = look(root)
        assert paths(found, root) == ["a/SKILL.md"]
        messages = {d.path.split("/")[-2]: d.message for d in found.diagnostics}
        assert messages["pipe"] == "SKILL.md is a pipe, not a file"
        assert messages["door"] == "SKILL.md is a socket, not a file"
        assert messages["folder"] == "SKILL.md is a folder"
        assert "leads out" in messages["null"]

    @for_each("name", [b"a\nb", b"a\x1b[2J", b"a\xff", "a\u202eb".encode()])
    def test_an_odd_name_is_skipped_and_shown_without_harm(
        self, tmp_path: Path, name: bytes
    ) -> None:
        root = tree(tmp_path / "p", ["ok/SKILL.md", ".skills/ok.md"])
        os.mkdir(os.path.join(os.fsencode(root), name))
        with open(os.path.join(os.fsencode(root), b".skills", name + b".md"), "wb") as file:
            file.write(SKILL.encode())
        found = look(root)
        assert paths(found, root) == [".skills/ok.md", "ok/SKILL.md"]
        assert codes(found) == ["odd_file_name", "odd_file_name"]
        assert all(d.path.isprintable() for d in found.diagnostics)


class TestOrder:
    def test_the_order_of_the_file_system_does_not_matter(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = tree(
            tmp_path / "p",
            ["b/SKILL.md", "a/SKILL.md", ".skills/a.md", ".skills/b.md", "AGENTS.md", "c/Skill.md",
             "d/skill.md", "d/SKILL.mD", "a/x.md", "a/y.md", "build/e/SKILL.md"],
        )  # fmt: skip
        for link in ("l", "m", "n"):  # three doors to one folder: the first by name is taken
            (root / link).symlink_to("build/e", target_is_directory=True)
        before = look(root)
        real = os.scandir

        class Reversed:
            def __init__(self, path: str) -> None:
                with real(path) as entries:
                    self._entries = sorted(entries, key=lambda entry: entry.name, reverse=True)

            def __enter__(self) -> Iterable[os.DirEntry[str]]:
                return self._entries

            def __exit__(self, *_: object) -> None:
                pass

        monkeypatch.setattr(os, "scandir", Reversed)
        assert look(root) == before


def test_a_root_that_is_a_link_called_skills_is_read_as_runtime(tmp_path: Path) -> None:
    tree(tmp_path / "store", ["a.md"])
    (tmp_path / ".skills").symlink_to(tmp_path / "store", target_is_directory=True)
    (candidate,) = look(tmp_path / ".skills").candidates
    assert candidate.origin == "runtime"


def test_folders_named_like_build_output_are_read_below_dot_skills(tmp_path: Path) -> None:
    root = tree(tmp_path / "p", [".skills/build/a.md", ".skills/dist/b.md", "build/c/SKILL.md"])
    assert paths(look(root), root) == [".skills/build/a.md", ".skills/dist/b.md"]


@for_each("name", ["a\u200bb", "a\u3000b", "a\u00adb", "👩\u200d💻"])
def test_a_folder_name_that_is_only_unusual_is_entered(tmp_path: Path, name: str) -> None:
    root = tree(tmp_path / "p", [f"{name}/SKILL.md"])
    assert len(look(root).candidates) == 1
