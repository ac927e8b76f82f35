"""``npx skills`` and ``add`` leave the same layout and lock; each reads what the other wrote."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.remotes import text, tree_of
from tests.clients.conftest import PATIENCE_S, SKILLYARD
from tests.configuration import configure
from tests.install.git.home import git_home as git_home
from tests.install.git.servers import Upstream, http_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="links need a right there"),
]
AGENTS = ("--agent", "claude-code", "--agent", "codex")


def run(project: Path, *command: str | Path) -> None:
    environment = {**os.environ, "CI": "1", "DO_NOT_TRACK": "1", "DISABLE_TELEMETRY": "1"}
    done = subprocess.run(
        command, cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-4_000:]}\n{done.stderr[-4_000:]}"


def entry_of(project: Path) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads((project / "skills-lock.json").read_text())["skills"]["pdf"]
    return entry


def test_both_write_the_same_lock_and_layout(git_home: Path, tmp_path: Path) -> None:
    modules = Path(os.environ["SKILLYARD_CLIENTS_NPM"])
    installer = (modules / ".bin" / "node", modules / "skills" / "bin" / "cli.mjs")
    upstream = Upstream(tmp_path / "served" / "team" / "skills.git")
    upstream.publish(
        {
            "skills/pdf/SKILL.md": text("pdf", "Fill in PDF forms."),
            "skills/pdf/scripts/fill.py": "print()",
            "skills/docx/SKILL.md": text("docx", "Write Word documents."),
        },
        tag="v1",
    )
    theirs, ours, restored = (tmp_path / name for name in ("theirs", "ours", "restored"))
    for project in (theirs, ours, restored):
        (project / ".git").mkdir(parents=True)
    with http_server(tmp_path / "served") as base:
        url = f"{base}/team/skills.git"
        run(theirs, *installer, "add", f"{url}#v1", "--skill", "pdf", "-y", *AGENTS)
        run(ours, SKILLYARD, "add", f"{url}#v1@pdf", *AGENTS)
        theirs_entry, ours_entry = entry_of(theirs), entry_of(ours)
        assert list(ours_entry.items())[: len(theirs_entry)] == list(theirs_entry.items())
        assert list(ours_entry)[len(theirs_entry) :] == ["commit", "digest", "executableDigest"]
        for skills in (".agents/skills", ".claude/skills"):
            assert tree_of(ours / skills) == tree_of(theirs / skills)
        link = Path(".claude") / "skills" / "pdf"
        assert os.readlink(ours / link) == os.readlink(theirs / link)

        shutil.copy(ours / "skills-lock.json", restored)
        run(restored, *installer, "experimental_install")
        assert tree_of(restored / ".agents") == tree_of(ours / ".agents")
        run(theirs, SKILLYARD, "add", f"{url}#v1@pdf", *AGENTS)  # takes over what they installed
        assert entry_of(theirs) == ours_entry


def test_both_keep_the_lock_of_the_user(
    git_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = Path(os.environ["SKILLYARD_CLIENTS_NPM"])
    installer = (modules / ".bin" / "node", modules / "skills" / "bin" / "cli.mjs")
    upstream = Upstream(tmp_path / "served" / "team" / "skills.git")
    files = {
        "skills/pdf/SKILL.md": text("pdf", "Fill in PDF forms."),
        "skills/docx/SKILL.md": text("docx", "Write Word documents."),
    }
    upstream.publish(files)
    lock = git_home / ".agents" / ".skill-lock.json"
    skills, claude = git_home / ".agents" / "skills", git_home / ".claude" / "skills"

    def entries() -> dict[str, Any]:
        shape: dict[str, Any] = json.loads(lock.read_text())
        assert shape["version"] == 3
        found: dict[str, Any] = shape["skills"]
        return found

    with http_server(tmp_path / "served") as base:
        configure(monkeypatch, tmp_path, sources={"git_hosts": [base]})
        url = f"{base}/team/skills.git"
        run(tmp_path, *installer, "add", url, "--skill", "pdf", "-g", "-y", *AGENTS)
        theirs = entries()["pdf"]
        run(tmp_path, SKILLYARD, "add", f"{url}#@docx", "--global", *AGENTS)
        assert entries()["pdf"] == theirs
        ours = entries()["docx"]
        for key in theirs.keys() - {"skillPath", "skillFolderHash", "installedAt", "updatedAt"}:
            assert ours[key] == theirs[key], key
        assert ours.keys() - theirs.keys() == {"commit", "digest", "executableDigest"}
        assert os.readlink(claude / "docx") == os.readlink(claude / "pdf").replace("pdf", "docx")
        for command in (("verify",), ("outdated",), ("sync", "--frozen")):
            run(tmp_path, SKILLYARD, *command, "--global")

        run(tmp_path, *installer, "remove", "docx", "-g", "-y")
        assert list(entries()) == ["pdf"]
        run(tmp_path, SKILLYARD, "add", f"{url}#@docx", "--global", *AGENTS)
        upstream.publish({**files, "skills/pdf/SKILL.md": text("pdf", "Newer.")})
        run(tmp_path, SKILLYARD, "update", "--global", "--yes")
        assert entries()["pdf"]["skillFolderHash"] != theirs["skillFolderHash"]
        before = lock.read_bytes(), tree_of(skills)
        run(tmp_path, *installer, "update", "-g", "-y")  # to it all is the newest
        assert (lock.read_bytes(), tree_of(skills)) == before
        run(tmp_path, SKILLYARD, "remove", "pdf", "docx", "--global")
        assert (entries(), tree_of(skills), tree_of(claude)) == ({}, {}, {})
