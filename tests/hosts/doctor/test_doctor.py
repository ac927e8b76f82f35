"""``doctor`` as a whole: it only reads, reports its own faults, and knows every variable."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from skillyard.base.shapes.encoder import encode
from skillyard.hosts.doctor import VARIABLES
from tests.configuration import configure
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


def test_every_variable_that_the_sources_read_is_known() -> None:
    named = set()
    for path in (REPOSITORY / "src").rglob("*.py"):
        named |= set(re.findall(r"SKILLYARD_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8")))
    assert named - {"SKILLYARD_HTTP_TOKEN_FILE"} == VARIABLES  # which serve refuses
    assert len(VARIABLES) == 7


def test_no_value_is_reported(doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "GITHUB_TOKEN", "SKILLYARD_HTTP_TOKEN", "SKILLYARD_SKILLS_SH_TOKEN", "SKILLYARD_ODD",
    ):  # fmt: skip
        monkeypatch.setenv(name, "https://me:hunter2@example.org/")
    configure(monkeypatch, user.home, scorer={"name": "https://me:hunter2@example.org/"})
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
    path = user.home / ".config" / "skillyard" / "skillyard.toml"
    path.parent.mkdir(parents=True)
    assert doctor().one("settings").status == "ok"
    path.write_text("[sources]\noffline = true\n", encoding="utf-8")
    assert doctor().one("settings").status == "ok"
    path.write_text("[sources]\n\noffline == 1\n", encoding="utf-8")
    found = doctor().one("settings")
    assert (found.status, found.path, found.line) == ("error", str(path), 3)
    path.write_text("[source]\n", encoding="utf-8")
    found = doctor().one("settings")
    assert ("there is no key source" in found.message, found.remedy) == (
        True,
        "did you mean sources?",
    )
    path.unlink()
    monkeypatch.setenv("SKILLYARD_CONFIG", str(user.home / "gone.toml"))
    assert doctor().one("settings").status == "error"


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [("store", "url", "mysql://me:hunter2@host/db"), ("sources", "ranker", "no-such-scorer")],
)
def test_a_value_that_only_a_command_can_judge_is_judged(
    section: str, key: str, value: str, doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, user.home, **{section: {key: value}})
    report = doctor()
    found = report.one("settings")
    assert (found.status, f"{section}.{key}" in found.message) == ("error", True)
    assert "hunter2" not in json.dumps(encode(report.diagnosis))
