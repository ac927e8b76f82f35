"""What comes from npm is pinned by hashes, and is installed once."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.shared_data import REPOSITORY
from tests.tables import for_each

TOOLS = REPOSITORY / "tools"


def _loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pinned_npm", TOOLS / "pinned_npm.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


pinned_npm = _loaded()
FOLDERS = [TOOLS / name for name in ("conformance", "clients", "hosts", "pages", "workflows")]


def lock(folder: Path) -> dict[str, Any]:
    packages = json.loads((folder / "package-lock.json").read_text())["packages"]
    return {name: each for name, each in packages.items() if name}


@for_each("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_package_is_pinned_by_its_hash_and_names_no_host(folder: Path) -> None:
    assert all(each["integrity"].startswith("sha512-") for each in lock(folder).values())
    assert not [name for name, each in lock(folder).items() if "resolved" in each]
    assert "://" not in (folder / "package-lock.json").read_text()


@for_each("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_programs_are_those_that_the_package_file_names(folder: Path) -> None:
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    assert {name: lock(folder)[f"node_modules/{name}"]["version"] for name in wanted} == wanted


@for_each("name", ["hosts", "clients", "pages"])
@for_each(("ci", "code"), [("", 0), ("true", 1)])
def test_programs_that_cannot_run_are_passed_over_but_not_on_ci(
    name: str, ci: str, code: int
) -> None:
    done = subprocess.run(
        [sys.executable, str(TOOLS / name / "run.py")],
        env={"PATH": "", "CI": ci}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert done.stdout.startswith(f"{name}: not run: node and npm are not installed")


class TestInstall:
    @pytest.fixture
    def run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        """The commands that were run, none of them really."""
        ran: list[list[str]] = []

        def noted(command: list[str], **options: object) -> None:
            assert options["cwd"] == tmp_path / "build" / "conformance"
            ran.append(command)

        monkeypatch.setattr(pinned_npm, "BUILD", tmp_path / "build")
        monkeypatch.setattr(subprocess, "run", noted)
        return ran

    def test_it_is_done_once_for_a_lock_file_and_no_package_runs_anything(
        self, run: list[list[str]], tmp_path: Path
    ) -> None:
        into = pinned_npm.install(FOLDERS[0], ["node", "ours.cjs"])
        assert into == tmp_path / "build" / "conformance"
        assert [command[:2] for command in run] == [["npm", "ci"], ["node", "ours.cjs"]]
        assert "--ignore-scripts" in run[0]
        assert pinned_npm.install(FOLDERS[0], ["node", "ours.cjs"]) == into
        assert len(run) == 2

    def test_another_lock_file_is_installed_anew(
        self, run: list[list[str]], tmp_path: Path
    ) -> None:
        into = pinned_npm.install(FOLDERS[0])
        (into / ".installed").write_text("of another one")
        pinned_npm.install(FOLDERS[0])
        assert len(run) == 2
