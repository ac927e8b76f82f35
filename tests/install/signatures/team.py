"""A project with a policy, and skills that are signed or not."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from skillyard.install.policy import library as places
from tests.cli.conftest import Answer, Run
from tests.cli.remotes import text
from tests.parity.trees import write_tree

__all__ = ["FILES", "Team", "team", "zip_of"]

FILES = {"SKILL.md": text("pdf", "Fill in PDF forms.").encode(), "scripts/fill.py": b"print()"}


class Team:
    """The project, whose policy and trust root can be written."""

    def __init__(self, root: Path, run: Run) -> None:
        self.root = root
        self.run = run
        self.skill = root / ".agents" / "skills" / "pdf"
        self.lock_path = root / "skills-lock.json"

    def policy(self, rules: str) -> None:
        """Set the table ``[signatures]``."""
        (self.root / places.POLICY_FILE).write_text(f"[signatures]\n{rules}\n", encoding="utf-8")

    def entry(self) -> Any:
        return json.loads(self.lock_path.read_bytes())["skills"]["pdf"]

    def folder(self, files: dict[str, bytes]) -> str:
        """Write a folder of the author's, beside the project, and return its path."""
        return str(write_tree(self.root.parent / "author" / "pdf", files))

    def add(self, target: str, *more: str) -> Answer:
        return self.run("add", target, "--into", ".agents/skills", *more)

    def assert_nothing_written(self) -> None:
        assert not self.skill.exists()
        assert not self.lock_path.exists()


@pytest.fixture
def team(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Team:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    for name in ("cache", "state"):
        monkeypatch.setenv(f"SKILLYARD_{name.upper()}", str(tmp_path / name))
    for name in ("SKILLYARD_CONFIG", "SKILLYARD_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(places, "system_policy_path", lambda: str(tmp_path / "system.toml"))
    return Team(root, run)


def zip_of(files: dict[str, bytes], inside: str = "pdf/") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(f"{inside}{path}"), data)
    return out.getvalue()
