"""``doctor`` as a whole: it only reads, reports its own faults, and knows every variable."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from skillyard.base.errors import InvalidInput
from skillyard.base.shapes.encoder import encode
from skillyard.cli.grammar import read_command
from skillyard.hosts.doctor import diagnose
from skillyard.hosts.doctor.settings import VARIABLES
from skillyard.install.sources.host_tokens import PREFIX
from tests.hosts.doctor.conftest import Doctor, User, follow
from tests.requirements import requirement
from tests.shared_data import REPOSITORY


def everything(folder: Path) -> dict[str, tuple[int, int]]:
    found = [folder, *folder.rglob("*")]
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in found}


@requirement("cli:doctor:reads")
def test_nothing_is_written_and_nothing_is_started(
    doctor: Doctor, user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user.add_skill(user.project / ".claude" / "skills")
    for folder in (".claude/skills", ".codex"):
        (user.home / folder).mkdir(parents=True)
    report = doctor()
    for name in ("hook.claude-code", "hook.codex", "index"):
        follow(report.one(name))
    before = everything(tmp_path)

    def refuse(*arguments: object, **more: object) -> None:
        raise AssertionError("doctor starts nothing and asks nobody")

    for owner, name in (
        (subprocess, "Popen"), (os, "posix_spawn"), (os, "system"), (os, "fork"),
        (socket, "socket"), (socket, "getaddrinfo"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, refuse)
    doctor(scopes=("user",))
    assert everything(tmp_path) == before


def test_wrong_use_is_an_error(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="scope"):
        diagnose([], ["everybody"], version="1", read_command=read_command)
    with pytest.raises(InvalidInput, match="path"):
        diagnose(["a\0b"], [], version="1", read_command=read_command)
    folder = user.home / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(InvalidInput, match="current folder"):
        diagnose([], [], version="1", read_command=read_command)


def test_every_variable_that_the_sources_read_is_known() -> None:
    named = set()
    for path in (REPOSITORY / "src").rglob("*.py"):
        named |= set(re.findall(r"SKILLYARD_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8")))
    hosts = {name for name in named if f"{name}_".startswith(PREFIX)}
    assert named - hosts == VARIABLES


def test_no_value_of_a_variable_is_reported(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "GITHUB_TOKEN", "SKILLYARD_HTTP_TOKEN", "SKILLYARD_SKILLS_SH_TOKEN", "SKILLYARD_ODD",
        "SKILLYARD_SCORER",
    ):  # fmt: skip
        monkeypatch.setenv(name, "https://me:hunter2@example.org/")
    report = doctor()
    assert report.one("scorer").status == "error"
    assert "hunter2" not in json.dumps(encode(report.diagnosis))


def test_a_variable_that_nothing_reads_is_told_with_the_near_name(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor().all("environment.unknown") == []
    monkeypatch.setenv("SKILLYARD_OFLINE", "1")
    found = doctor().one("environment.unknown")
    assert found.status == "warning"
    assert "did you mean SKILLYARD_OFFLINE?" in found.message


def test_settings_that_cannot_be_used_are_an_error_with_file_and_line(
    doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = user.home / ".config" / "skillyard" / "config.toml"
    path.parent.mkdir(parents=True)
    assert doctor().one("settings").status == "ok"
    path.write_text("[cache]\noffline = true\n", encoding="utf-8")
    assert doctor().one("settings").status == "ok"
    path.write_text("[cache]\n\noffline == 1\n", encoding="utf-8")
    found = doctor().one("settings")
    assert (found.status, found.path, found.line) == ("error", str(path), 3)
    path.write_text("[cach]\n", encoding="utf-8")
    assert "no setting cach" in doctor().one("settings").message
    monkeypatch.setenv("SKILLYARD_CONFIG", str(user.home / "gone.toml"))
    assert doctor().one("settings").status == "error"
