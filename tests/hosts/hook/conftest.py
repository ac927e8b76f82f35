"""A user with a home of their own, a project, and the hook in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from skillyard.base.shapes.hooks import Approval
from skillyard.hosts.operations.project_trust import review_trust
from skillyard.install.policy.library import open_catalog
from tests.shared_data import PACKAGES

PAYLOADS = Path(__file__).parent / "payloads"
PROMPT = "find the commit that broke the build"


class Answer(NamedTuple):
    """What one run of the hook left behind."""

    code: int
    out: str
    err: str

    @property
    def context(self) -> str:
        """What the model would read; empty for no answer."""
        if not self.out:
            return ""
        shape = json.loads(self.out)
        assert set(shape) == {"hookSpecificOutput"}
        assert set(shape["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        assert shape["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
        return str(shape["hookSpecificOutput"]["additionalContext"])

    @property
    def skill(self) -> str:
        """The name of the skill that was chosen; empty for none."""
        named = [line for line in self.context.split("\n") if line.startswith("skill: ")]
        return named[0].removeprefix("skill: ") if named else ""


Hook = Callable[..., Answer]


def skill_text(name: str, description: str, body: str = "Do it.") -> str:
    return f"---\nname: {name}\ndescription: {json.dumps(description)}\n---\n{body}\n"


def add_skill(folder: Path, name: str, description: str, body: str = "Do it.") -> Path:
    """Write a skill and return its file."""
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(skill_text(name, description, body), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user with Claude Code and Codex; nothing else is theirs."""
    place = tmp_path / "home"
    for folder in (".claude/skills", ".codex"):
        (place / folder).mkdir(parents=True)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "SKILLYARD_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    return place


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a skill that fits the prompt; nobody has approved it."""
    place = tmp_path / "app"
    add_skill(place / ".claude" / "skills", "git-bisect", "Finds the commit that broke the build.")
    return place


@pytest.fixture
def users_skill(home: Path) -> Path:
    """A skill of the user's own that fits the prompt, with its index."""
    path = add_skill(
        home / ".claude" / "skills", "bisecting", "Finds the commit that broke the build."
    )
    open_catalog([], scopes=("user",))
    return path


def approve_project(folder: Path | str) -> Approval:
    """Do what ``trust`` does where the scan finds nothing."""
    return review_trust(str(folder), {}).approve()


def payload(folder: Path | str, prompt: str = PROMPT, **fields: Any) -> bytes:
    """Return what Claude Code would send, in a session of its own unless one is given."""
    shape = json.loads((PAYLOADS / "claude-code.json").read_text(encoding="utf-8"))
    shape |= {"session_id": uuid4().hex, "cwd": str(folder), "prompt": prompt}
    return json.dumps({**shape, **fields}).encode()


@pytest.fixture
def hook() -> Hook:
    """Run the hook in a process of its own: ``hook(bytes, "--max-chars", "9", host=…)``."""

    def call(given: bytes, *options: str, host: str = "claude-code") -> Answer:
        done = subprocess.run(
            [
                *(sys.executable, "-P", "-m", "skillyard", "hook", host, "--no-refresh"),
                *(() if "--budget-ms" in options else ("--budget-ms", "60000")),
                *options,
            ],
            input=given,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGES)},
            timeout=120,
            check=False,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def events(tmp_path: Path) -> Callable[[], list[dict[str, str]]]:
    """Return what the hook has written to its log."""

    def read() -> list[dict[str, str]]:
        path = tmp_path / "state" / "hook.log"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    return read
