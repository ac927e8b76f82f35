"""``doctor`` as a whole: it only reads, reports its own faults, and knows every variable."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from skillyard.errors import InvalidInput
from skillyard.remote.sources.host_tokens import PREFIX
from skillyard.shapes.encoder import encode
from skillyard.usecases.doctor import diagnose, library
from skillyard.usecases.doctor.environment import VARIABLES
from tests.requirements import requirement
from tests.shared_data import REPOSITORY
from tests.usecases.conftest import Doctor, User, follow


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
    servers = {"mcpServers": {"skillyard": {"command": "skillyard", "args": ["serve"]}}}
    (user.project / ".mcp.json").write_text(json.dumps(servers), encoding="utf-8")
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


def test_a_subject_that_fails_becomes_a_finding_and_the_others_go_on(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **more: object) -> None:
        raise ZeroDivisionError("of postgresql://me:hunter2@db")

    monkeypatch.setattr(library, "read_catalog", fail)
    with pytest.raises(ZeroDivisionError):  # as the remedy says
        doctor()
    monkeypatch.delenv("SKILLYARD_DEBUG")
    report = doctor()
    found = report.one("doctor.library")
    assert found.status == "error"
    assert "ZeroDivisionError" in found.message
    assert "hunter2" not in found.message
    assert report.one("embedder").status == "ok"


def test_wrong_use_is_an_error(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="scope"):
        diagnose(scopes=["everybody"], version="1")
    with pytest.raises(InvalidInput, match="path"):
        diagnose(["a\0b"], version="1")
    folder = user.home / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    with pytest.raises(InvalidInput, match="current folder"):
        diagnose(version="1")


def test_every_variable_that_the_sources_read_is_known() -> None:
    named = set()
    for path in (REPOSITORY / "src").rglob("*.py"):
        named |= set(re.findall(r"SKILLYARD_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8")))
    hosts = {name for name in named if f"{name}_".startswith(PREFIX)}
    assert named - hosts == {name for name in VARIABLES if name.startswith("SKILLYARD_")}


def test_variables_are_named_and_their_values_are_not(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = {
        "GITHUB_TOKEN", "SKILLYARD_HTTP_TOKEN", "SKILLYARD_SKILLS_SH_TOKEN", "OPENAI_API_KEY",
        "SKILLYARD_EMBEDDINGS_KEY", "ANTHROPIC_API_KEY",
    }  # fmt: skip
    for name in secret:
        monkeypatch.setenv(name, "hunter2")
    monkeypatch.setenv("SKILLYARD_STORE", "postgresql://me:hunter2@db/skills")
    monkeypatch.setenv("SKILLYARD_EMBEDDINGS_URL", "https://me:hunter2@example.org/embeddings")
    monkeypatch.setenv("SKILLYARD_EMBEDDINGS_MODEL", "m")
    report = doctor()
    assert secret < set(report.one("environment").details["set"])
    assert report.one("embedder").status == "error"
    assert report.one("network").status == "ok"
    assert "hunter2" not in json.dumps(encode(report.diagnosis))


def test_a_variable_that_nothing_reads_is_told_with_the_near_name(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor().all("environment.unknown") == []
    monkeypatch.setenv("SKILLYARD_OFLINE", "1")
    found = doctor().one("environment.unknown")
    assert (found.status, found.command) == ("warning", "unset SKILLYARD_OFLINE")
    assert "SKILLYARD_OFFLINE" in found.message


def test_settings_that_cannot_be_used_are_an_error_with_file_and_line(
    doctor: Doctor, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = user.home / ".config" / "skillyard" / "config.toml"
    path.parent.mkdir(parents=True)
    assert doctor().one("settings").status == "ok"
    path.write_text("[cache]\noffline = true\n", encoding="utf-8")
    report = doctor()
    assert (report.one("settings").status, report.one("network").status) == ("ok", "info")
    path.write_text("[cache]\n\noffline == 1\n", encoding="utf-8")
    found = doctor().one("settings")
    assert (found.status, found.path, found.line) == ("error", str(path), 3)
    path.write_text("[cach]\n", encoding="utf-8")
    assert "no setting cach" in doctor().one("settings").message
    monkeypatch.setenv("SKILLYARD_CONFIG", str(user.home / "gone.toml"))
    assert doctor().one("settings").status == "error"


def test_what_remotes_and_the_embedder_need(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = doctor()
    assert report.one("network").status == "info"
    assert report.one("embedder").status == "ok"
    monkeypatch.setenv("SKILLYARD_OFFLINE", "1")
    assert doctor().one("network").command == "unset SKILLYARD_OFFLINE"
    monkeypatch.setenv("SKILLYARD_EMBEDDINGS_URL", "https://example.org/v1/embeddings")
    found = doctor().one("embedder")
    assert (found.status, found.command) == ("warning", "unset SKILLYARD_EMBEDDINGS_URL")
    monkeypatch.setenv("SKILLYARD_EMBEDDINGS_MODEL", "m")
    assert doctor().one("embedder").status == "ok"
    monkeypatch.setattr("skillyard.embedding.endpoint.find_spec", lambda name: None)
    assert doctor().one("embedder").status == "error"
