"""Skills that packages of npm and Python distributions declare; nothing else of them is read."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import skillyard as sy
from skillyard.cli.grammar import CommandParser, add_shared_options
from skillyard.engine.discovery.scopes import ScopeRoots, places_of
from skillyard.engine.skill import SCOPES
from tests.parity.trees import relative, write_tree
from tests.tables import for_each
from tests.worked_examples.making import document


def find(folder: Path) -> ScopeRoots:
    return places_of(["packages"], environ={}, folder=str(folder))


def roots(found: ScopeRoots, folder: Path) -> list[str]:
    return [relative(root.path, folder) for root in found.roots]


def package(name: str, skills: object) -> dict[str, str]:
    folder = f"node_modules/{name}"
    return {
        f"{folder}/package.json": json.dumps({"name": name, "agents": {"skills": skills}}),
        f"{folder}/skills/one/SKILL.md": document("one"),
        f"{folder}/skills/two/SKILL.md": document("two"),
    }


def project(**dependencies: dict[str, str]) -> dict[str, str]:
    return {".git": "", "package.json": json.dumps(dependencies)}


class TestNpm:
    def test_what_a_dependency_declares_is_read_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_tree(
            tmp_path,
            project(dependencies={"lib": "1"}, devDependencies={"@team/tool": "1", "gone": "1"})
            | package("lib", [{"name": "one", "path": "./skills/one"}])
            | package("@team/tool", ["skills/two"])
            | package("stranger", [{"name": "one", "path": "./skills/one"}]),
        )
        found = find(tmp_path)
        assert roots(found, tmp_path) == [
            "node_modules/@team/tool/skills/two",
            "node_modules/lib/skills/one",
        ]
        assert found.problems == ()
        monkeypatch.chdir(tmp_path)
        assert [skill.name for skill in sy.load_catalog(".")] == []
        assert [skill.name for skill in sy.load_catalog(".", scopes="packages")] == ["one", "two"]

    def test_a_workspace_finds_the_packages_of_the_folders_above(self, tmp_path: Path) -> None:
        write_tree(
            tmp_path,
            project()
            | package("lib", ["skills"])
            | {"packages/a/package.json": '{"dependencies": {"lib": "1"}}'},
        )
        assert roots(find(tmp_path / "packages/a"), tmp_path) == ["node_modules/lib/skills"]
        assert roots(find(tmp_path), tmp_path) == []

    @for_each(
        ("skills", "codes"),
        [
            (["../../secret"], ["manifest_path"]),
            (["/etc"], ["manifest_path"]),
            (["./gone"], ["manifest_path"]),
            ([7, None, {"path": 7}, {"name": "x"}, ""], []),
            ("skills", []),
            ({"path": "skills"}, []),
        ],
    )
    def test_only_folders_of_the_package_are_read(
        self, tmp_path: Path, skills: object, codes: list[str]
    ) -> None:
        write_tree(tmp_path, project(dependencies={"lib": "1"}) | package("lib", skills))
        write_tree(tmp_path, {"secret/SKILL.md": document("secret")})
        found = find(tmp_path)
        assert (found.roots, [each.code for each in found.problems]) == ((), codes)


class TestPython:
    SITE = f".venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    INFO = f"{SITE}/mylib-1.0.dist-info"

    def distribution(self, value: str, group: str = "skillyard.skills") -> dict[str, str]:
        info = self.INFO
        return {
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: mylib\nVersion: 1.0\n",
            f"{info}/entry_points.txt": f"[{group}]\nguides = {value}\n",
            f"{self.SITE}/mylib/__init__.py": "raise SystemExit('imported')\n",
            f"{self.SITE}/mylib/skills/guide/SKILL.md": document("guide"),
            f"{self.SITE}/mylib/other/SKILL.md": document("other"),
            f"{self.SITE}/stranger/skills/x/SKILL.md": document("x"),
        }

    def test_an_entry_point_names_a_folder_that_is_read_without_an_import(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_tree(tmp_path, {".git": "", "src/x": ""} | self.distribution("mylib.skills"))
        expected = [f"{self.SITE}/mylib/skills"]
        assert roots(find(tmp_path / "src"), tmp_path) == expected
        monkeypatch.chdir(tmp_path)
        assert [skill.name for skill in sy.load_catalog("src", scopes="packages")] == ["guide"]

    @for_each(
        "value", ["mylib.gone", "mylib:skills", "../../secret", "mylib..skills", "mylib/skills"]
    )
    def test_a_folder_that_is_not_there_is_reported(self, tmp_path: Path, value: str) -> None:
        write_tree(tmp_path, self.distribution(value))
        found = find(tmp_path)
        assert found.roots == ()
        assert [(each.code, each.path) for each in found.problems] == [("manifest_path", "mylib")]

    @for_each("source", [".", "src", "packages/mylib"])
    def test_an_editable_installation_has_its_folder_elsewhere(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
    ) -> None:
        files = self.distribution("mylib.skills")
        moved = {
            path.replace(f"{self.SITE}/mylib", f"my lib/{source}/mylib"): text
            for path, text in files.items()
            if "/mylib/" in path
        }
        metadata = {path: text for path, text in files.items() if "dist-info" in path}
        write_tree(tmp_path, moved | metadata)
        monkeypatch.syspath_prepend(str(tmp_path / "my lib" / source))
        assert find(tmp_path).roots == ()  # nothing says that it is this distribution's
        origin = {"url": (tmp_path / "my lib").as_uri(), "dir_info": {"editable": True}}
        write_tree(tmp_path, {f"{self.INFO}/direct_url.json": json.dumps(origin)})
        assert roots(find(tmp_path), tmp_path) == [
            os.path.normpath(f"my lib/{source}/mylib/skills")
        ]

    @for_each("value", ["other.skills", "linked.skills", "mylib.link", "mylib.inner.link"])
    def test_a_dotted_path_does_not_leave_its_distribution(
        self, tmp_path: Path, value: str
    ) -> None:
        write_tree(
            tmp_path,
            self.distribution(value)
            | {
                f"{self.INFO}/RECORD": 'mylib/link/x,,\n"mylib/inner/link/x",,\n',
                f"{self.SITE}/other/skills/a/SKILL.md": document("a"),
                f"{self.SITE}/mylib/inner/x": "",
            },
        )
        site = tmp_path / self.SITE
        (site / "linked").symlink_to(site / "mylib")
        (site / "mylib/link").symlink_to(site / "other/skills")
        (site / "mylib/inner/link").symlink_to(site / "other/skills")
        found = find(tmp_path)
        assert (found.roots, [each.code for each in found.problems]) == ((), ["manifest_path"])

    @for_each("kind", ["pipe", "device", "bytes", "large", "no section", "folder"])
    def test_a_hostile_list_of_entry_points_is_reported_and_costs_nothing_else(
        self, tmp_path: Path, kind: str
    ) -> None:
        write_tree(tmp_path, self.distribution("mylib.skills"))
        info = tmp_path / self.SITE / "aaa-1.0.dist-info"
        info.mkdir()
        path = info / "entry_points.txt"
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "folder":
            path.mkdir()
        else:
            text = {
                "bytes": b"[skillyard.skills]\n\xff = x\n",
                "large": b"[skillyard.skills]\n" + b"#" * 5_000_000,
                "no section": b"skillyard.skills = x\n",
            }
            path.write_bytes(text[kind])
        found = find(tmp_path)
        assert roots(found, tmp_path) == [f"{self.SITE}/mylib/skills"]
        assert [each.code for each in found.problems] == ["manifest_unreadable"]


def test_the_command_line_has_every_scope() -> None:
    parser = CommandParser(prog="x", summary="")
    add_shared_options(parser)
    (option,) = [each for each in parser._actions if each.dest == "scope"]
    assert tuple(option.choices or ()) == SCOPES
