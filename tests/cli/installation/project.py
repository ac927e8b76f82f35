"""A project with two skills from a fake repository, for the commands of installed skills."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard_testkit import FakeServers
from tests.cli.conftest import Run
from tests.cli.remotes import remotes as remotes
from tests.cli.remotes import text, tree_of
from tests.remote_answers import forget_remote_answers

OLD = {
    "skills/pdf/SKILL.md": text("pdf", "Fill in PDF forms."),
    "skills/pdf/references/forms.md": "Forms.",
    "skills/pdf/scripts/fill.py": "print()",
    "skills/docx/SKILL.md": text("docx", "Write Word documents."),
}
NEWER = text("pdf", "Fill in PDF forms, newer.")
LOCK = "skills-lock.json"


class Project:
    """A project with the skills ``pdf`` and ``docx``, and what can happen to it."""

    def __init__(self, root: Path, run: Run, remotes: FakeServers) -> None:
        self.root = root
        self.run = run
        self.remotes = remotes
        self.skills = root / ".agents" / "skills"

    def publish(self, **files: str) -> None:
        """Let the repository have other files of ``pdf``, by names without the folder."""
        paths = {f"skills/pdf/{path}": content for path, content in files.items()}
        kept = {path: content for path, content in OLD.items() if path.startswith("skills/docx")}
        self.remotes.add_repository("acme/skills", {**kept, **paths})
        forget_remote_answers()

    def lock(self) -> dict[str, Any]:
        shape: dict[str, Any] = json.loads((self.root / LOCK).read_text())
        return shape

    def relock(self, change: Callable[[dict[str, Any]], None]) -> bytes:
        """Change the lock as somebody else does, and return its bytes."""
        shape = self.lock()
        change(shape)
        (self.root / LOCK).write_text(json.dumps(shape, indent=2) + "\n")
        return (self.root / LOCK).read_bytes()

    def state(self, command: str, *more: str, name: str = "pdf") -> str:
        """Return the state that a command reports of one skill."""
        document = self.run(command, *more, "--json").json
        (state,) = (each["state"] for each in document["skills"] if each["name"] == name)
        assert isinstance(state, str)
        return state

    def tree(self) -> dict[str, bytes]:
        """Return every file of the project."""
        return tree_of(self.root)


@pytest.fixture
def project(
    tmp_path: Path, run: Run, remotes: FakeServers, monkeypatch: pytest.MonkeyPatch
) -> Project:
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    monkeypatch.chdir(root)
    for name in ("pdf", "docx"):
        assert run("add", name, "--into", ".agents/skills").code == 0
    return Project(root, run, remotes)
