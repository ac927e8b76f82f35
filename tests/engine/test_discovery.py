"""From roots to candidate files: layouts, links, skipped folders, order, the user's folders."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.engine.discovery import (
    BUILD_FOLDERS,
    HEAVY_FOLDERS,
    REFERENCE_FOLDERS,
    Root,
    Scan,
    scan,
)
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
    def test_the_root_itself_may_be_a_skill_and_is_called_as_its_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = tree(tmp_path / "mine", ["SKILL.md"])
        monkeypatch.chdir(root)
        for named in (Root("."), Root(str(root)), Root(f"{root}/")):
            (candidate,) = scan([named]).candidates
            assert (candidate.folder, candidate.parts) == ("mine", ("SKILL.md",))
        assert scan([Root(".")]).candidates[0].path == "SKILL.md"

    @for_each("name", [".skills", ".SKILLS"])
    def test_a_root_called_dot_skills_is_read_as_such(self, tmp_path: Path, name: str) -> None:
        root = tree(tmp_path / name, ["a.md", "team/b.md", "c/SKILL.md", "c/d.md", "c/e/f.md"])
        assert paths(look(root), root) == ["a.md", "c/SKILL.md", "team/b.md"]

    def test_a_root_called_key_skills_holds_the_registry(self, tmp_path: Path) -> None:
        root = tree(tmp_path / "key_skills", ["a/SKILL.md", "a/b/SKILL.md", ".c/SKILL.md"])
        found = {relative(c.path, root): c.origin for c in look(root).candidates}
        assert found == {
            ".c/SKILL.md": "agentskills",
            "a/SKILL.md": "oasis",
            "a/b/SKILL.md": "agentskills",
        }

    @for_each("folder", sorted(HEAVY_FOLDERS))
    def test_a_heavy_folder_is_never_entered_in_any_case(self, tmp_path: Path, folder: str) -> None:
        root = tree(tmp_path / "p", [f"{folder}/SKILL.md", f"a/{folder.upper()}/b/SKILL.md"])
        assert paths(look(root), root) == []

    @for_each("folder", sorted(BUILD_FOLDERS))
    def test_a_build_folder_is_entered_only_when_it_is_a_skill(
        self, tmp_path: Path, folder: str
    ) -> None:
        root = tree(tmp_path / "p", [f"{folder}/a/SKILL.md", f"s/{folder}/SKILL.md"])
        assert paths(look(root), root) == [f"s/{folder}/SKILL.md"]

    def test_below_dot_skills_a_convention_name_is_an_ordinary_one(self, tmp_path: Path) -> None:
        root = tree(tmp_path / "p", [".skills/AGENTS.md", ".skills/x.MD", ".skills/skill.md"])
        found = {relative(c.path, root): c.origin for c in look(root).candidates}
        assert found == {".skills/AGENTS.md": "runtime", ".skills/skill.md": "runtime"}

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


def refuse_to_open(monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    """Make opening a folder of that ending fail, as it would without permission."""
    real = os.open

    def refusing(path: str, flags: int, *, dir_fd: int | None = None) -> int:
        if path.endswith(ending):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refusing)


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

    def test_a_linked_reference_folder_and_one_that_cannot_be_listed_give_none(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = tree(tmp_path / "p", ["a/SKILL.md", "a/docs/d.md", "b/elsewhere.md"])
        (root / "a/references").symlink_to(root / "b", target_is_directory=True)
        refuse_to_open(monkeypatch, "docs")
        (candidate,) = look(root).candidates
        assert candidate.references == ()


class TestLinks:
    def test_a_linked_folder_in_a_root_is_listed_once_by_its_own_path(self, tmp_path: Path) -> None:
        root = tree(tmp_path / "p", ["store/a/SKILL.md"])
        (root / "a-link").symlink_to(root / "store/a", target_is_directory=True)
        assert paths(look(root), root) == ["store/a/SKILL.md"]

    def test_a_link_to_what_is_not_walked_otherwise_is_followed(self, tmp_path: Path) -> None:
        root = tree(tmp_path / "p", ["build/a/SKILL.md"])
        (root / "link").symlink_to(root / "build/a", target_is_directory=True)
        found = look(root)
        assert paths(found, root) == ["link/SKILL.md"]
        assert found.candidates[0].folder == "a"

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

    def test_a_folder_link_that_leads_nowhere_is_reported(self, tmp_path: Path) -> None:
        root = tree(tmp_path / "p", ["a/SKILL.md"])
        (root / "gone").symlink_to("nowhere", target_is_directory=True)
        assert codes(look(root)) == ["link_broken"]

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

    @for_each("goal", ["gone.md", "../gone/SKILL.md"])
    def test_a_skill_file_that_is_a_dangling_link_is_reported(
        self, tmp_path: Path, goal: str
    ) -> None:
        root = tree(tmp_path / "p", ["a/SKILL.md", "b/text.md"])
        (root / "b/SKILL.md").symlink_to(goal)
        found = look(root)
        assert (paths(found, root), codes(found)) == (["a/SKILL.md"], ["link_broken"])

    def test_a_root_may_be_a_link(self, tmp_path: Path) -> None:
        tree(tmp_path / "real", ["a/SKILL.md"])
        (tmp_path / "link").symlink_to("real", target_is_directory=True)
        assert paths(look(tmp_path / "link"), tmp_path / "link") == ["a/SKILL.md"]


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

    def test_a_folder_that_cannot_be_listed_costs_no_other(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = tree(tmp_path / "p", ["a/SKILL.md", "b/SKILL.md", "c/SKILL.md"])
        refuse_to_open(monkeypatch, "/b")
        found = look(root)
        assert paths(found, root) == ["a/SKILL.md", "c/SKILL.md"]
        assert [(d.code, d.message) for d in found.diagnostics] == [
            ("folder_unreadable", "cannot list: Permission denied")
        ]


class TestOrder:
    def test_candidates_come_by_root_then_path_component_by_component(self, tmp_path: Path) -> None:
        names = ["b/SKILL.md", "a/SKILL.md", "a-b/SKILL.md", "a/c/SKILL.md"]
        one, two = tree(tmp_path / "z", names), tree(tmp_path / "a", ["x/SKILL.md"])
        found = look(one, two)
        assert [c.path for c in found.candidates] == [
            f"{one}/a/SKILL.md",
            f"{one}/a/c/SKILL.md",
            f"{one}/a-b/SKILL.md",
            f"{one}/b/SKILL.md",
            f"{two}/x/SKILL.md",
        ]
        assert [c.root for c in found.candidates] == [0, 0, 0, 0, 1]

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

    def test_of_overlapping_roots_the_first_has_the_file(self, tmp_path: Path) -> None:
        root = tree(tmp_path / "p", ["a/SKILL.md", "sub/b/SKILL.md"])
        for roots, owners in (([root, root / "sub"], [0, 0]), ([root / "sub", root], [0, 1])):
            found = look(*roots)
            assert [c.root for c in found.candidates] == owners
            assert len({c.path for c in found.candidates}) == 2
        assert len(look(root, root).candidates) == 2


class TestRoots:
    @for_each("root", [b"bytes", "nul\0"])
    def test_a_root_that_is_no_path_is_wrong_use(self, root: str) -> None:
        with pytest.raises(sy.InvalidInput):
            sy.discover_skill_files(root)

    def test_an_empty_root_is_the_current_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tree(tmp_path / "p", ["a/SKILL.md"]))
        assert sy.discover_skill_files("") == [Path("a/SKILL.md")]
        assert sy.discover_instruction_files(".") == [Path("a/SKILL.md")]


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
