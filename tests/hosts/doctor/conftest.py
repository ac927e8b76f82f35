"""A user with a home folder, a project and an installation of their own, and its diagnosis."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from skillyard.base.shapes.encoder import encode
from skillyard.base.shapes.upkeep import Diagnosis, Finding
from skillyard.cli import main
from skillyard.cli.grammar import read_command
from skillyard.hosts.doctor import diagnose

SKILL = "---\nname: {name}\ndescription: Finds the commit that broke the build.\n---\nDo it.\n"


class User(NamedTuple):
    """The folders of a user."""

    home: Path
    project: Path
    """The current folder, a repository."""
    programs: Path
    """Holds ``python`` and ``skillyard``, and is on PATH."""
    cache: Path

    def add_skill(self, folder: Path, name: str = "bisect") -> Path:
        """Write a skill and return its file."""
        path = folder / name / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SKILL.format(name=name), encoding="utf-8")
        return path

    def add_program(self, folder: Path, name: str) -> Path:
        """Write a program that fails whoever starts it."""
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\nexit 99\n", encoding="utf-8")
        path.chmod(0o755)
        return path


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    """A user with nothing but an installation and an empty project."""
    made = User(tmp_path / "home", tmp_path / "home" / "app", tmp_path / "bin", tmp_path / "cache")
    (made.project / ".git").mkdir(parents=True)
    for name in ("python", "skillyard"):
        made.add_program(made.programs, name)
    of_hosts = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME")
    for name in [name for name in os.environ if name.startswith(("SKILLYARD_", *of_hosts))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("PATH", os.pathsep.join([str(made.programs), "/usr/bin", "/bin"]))
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("SKILLYARD_CACHE", str(made.cache))
    monkeypatch.setattr(sys, "executable", str(made.programs / "python"))
    monkeypatch.chdir(made.project)
    return made


class Report(NamedTuple):
    """A diagnosis, to be asked by id."""

    diagnosis: Diagnosis

    def all(self, name: str) -> list[Finding]:
        """Return the findings of that id."""
        return [finding for finding in self.diagnosis.findings if finding.id == name]

    def one(self, name: str) -> Finding:
        """Return the only finding of that id."""
        (found,) = self.all(name)
        return found


Doctor = Callable[..., Report]


@pytest.fixture
def doctor() -> Doctor:
    """Diagnose: ``doctor("root", scopes=("user",))``. Every finding is held to the contract."""

    def call(*roots: str, scopes: Sequence[str] = ()) -> Report:
        found = diagnose(roots, scopes, read_command=read_command)
        json.dumps(encode(found))
        for finding in found.findings:
            assert bool(finding.remedy) == (finding.status != "ok"), finding
            assert finding.message, finding
            if finding.command.startswith("skillyard "):
                assert read_command(shlex.split(finding.command)[1:]) is not None, finding
        assert sum(found.counts.values()) == len(found.findings)
        return Report(found)

    return call


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as read for good at once, not when they are two seconds old."""
    monkeypatch.setattr("skillyard.engine.catalog.entries.STABLE_AFTER_NS", -(10**15))


def follow(finding: Finding, code: int = 0) -> None:
    """Run the skillyard command of a remedy in this process."""
    words = shlex.split(finding.command)
    assert words[0] == "skillyard", finding
    assert main(words[1:]) == code, finding
