"""``setup`` changes the agents' files only with a yes, and ``--undo`` restores every byte."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from skillyard.hosts.hook.installation import installed_commands
from skillyard.hosts.operations import setup as operation
from tests.cli.conftest import Run
from tests.cli.terminal import read_terminal
from tests.shared_data import PACKAGES, REPOSITORY

FILES = {
    ".claude/settings.json": b'{\r\n    "model": "opus",\r\n    "hooks": {}\r\n}',
    ".claude.json": b'{"numStartups":3,"mcpServers":{"x":{"command":"a"}}}',
    ".codex/config.toml": b'model = "gpt"\n[tui]\nx = 1',
    ".gemini/settings.json": b'{\n  "theme": "dark"\n}\n',
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "SKILLYARD_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", str(PACKAGES))
    monkeypatch.setattr(operation, "TRIAL_MS", 60_000)
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    skills = REPOSITORY / "examples" / "skills"
    for name in ("git-bisect", "csv-cleaning"):
        shutil.copytree(skills / name, tmp_path / ".claude/skills" / name)
    (tmp_path / ".cursor").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def contents(home: Path) -> dict[str, bytes]:
    files = (path for path in home.rglob("*") if path.is_file())
    names = {str(path.relative_to(home)): path for path in files}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith("state")}


def test_everything_is_set_up_and_undone_to_the_byte(run: Run, home: Path) -> None:
    before = contents(home)
    planned = run("setup")
    assert planned.code == 0
    assert contents(home) == before, "nobody said yes"
    assert re.search(r"2 whole; [0-9]+ tokens in each session", planned.out)
    assert f"text of every request is stored in {home}/state/decisions.jsonl" in planned.out
    assert "--yes changes what is planned" in planned.err
    assert run("setup", "--scope", "none").code == 2, "the hook does not read what is named here"
    done = run("setup", "--yes", "--json").json
    assert {(step["host"], step["what"]): step["state"] for step in done["steps"]} == {
        ("claude-code", "hook"): "done",
        ("claude-code", "mcp"): "done",
        ("codex", "hook"): "done",
        ("codex", "mcp"): "done",
        ("cursor", "mcp"): "done",
        ("gemini-cli", "mcp"): "done",
        ("", "log"): "done",
    }
    assert done["skills"] == 2
    assert (done["request"], done["chosen"]) == (
        "can you help me with csv cleaning?",
        "csv-cleaning",
    )
    assert f"file: {home}/.claude/skills/csv-cleaning/SKILL.md" in done["answer"]
    servers = json.loads((home / ".claude.json").read_text("utf-8"))["mcpServers"]
    assert servers["x"] == {"command": "a"}
    assert servers["skillyard"]["args"][-3:] == ["serve", "--mcp", "stdio"]
    codex = tomllib.loads((home / ".codex/config.toml").read_text("utf-8"))
    assert codex["tui"] == {"x": 1}
    assert codex["mcp_servers"]["skillyard"]["args"][-3:] == ["serve", "--mcp", "stdio"]
    assert run("usage").code == 0, "nothing is logged yet"
    assert run("select", "find the commit that broke the build").code == 0
    assert "1 selected a skill" in run("usage").out
    again = run("setup", "--yes", "--json").json
    assert {step["state"] for step in again["steps"]} == {"present"}
    undone = run("setup", "--undo")
    assert (undone.code, contents(home)) == (0, before)
    assert "what was logged stays until you remove" in undone.out
    assert run("setup", "--undo").code == 1


def test_on_a_terminal_nothing_is_done_without_a_yes_and_the_users_request_is_tried(
    home: Path,
) -> None:
    pty = pytest.importorskip("pty", reason="a terminal of its own needs a pty")
    before = contents(home)
    host, guest = pty.openpty()
    os.write(host, b"n\n" * 7 + b"which commit broke the build?\n")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "skillyard", "setup"],
            stdin=guest, stdout=subprocess.PIPE, stderr=guest, timeout=120, check=False,
        )  # fmt: skip
    finally:
        os.close(guest)
    asked, shown = read_terminal(host), done.stdout.decode()
    assert "A request to try" in asked
    assert asked.index("text of every request") < asked.index("A request to try")
    assert (done.returncode, shown.count("declined"), contents(home)) == (0, 7, before)
    assert "A test request: “which commit broke the build?”" in shown


def test_an_agent_that_starts_the_server_at_home_has_its_skills_and_reads_nothing_else(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home / ".claude/skills/csv-cleaning", home / "downloads/csv-cleaning")
    for folder in (home, home.parent):
        monkeypatch.chdir(folder)
        assert run("list", "--json").json["counts"]["files"] == 2
    assert run("doctor", "--json").json["findings"][0]["id"] == "agent-folder"
    assert run("list", "--root", str(home), "--json").json["counts"]["files"] == 3
    monkeypatch.setenv("HOME", str(home / "downloads"))
    assert "no agent is there; setup knows Claude Code" in run("setup").err


def test_a_file_that_was_changed_since_loses_only_what_was_added(run: Run, home: Path) -> None:
    run("setup", "--yes")
    theirs = home / ".claude.json"
    document = json.loads(theirs.read_text("utf-8"))
    document["numStartups"] = 4
    theirs.write_text(json.dumps(document), encoding="utf-8")
    codex = home / ".codex/config.toml"
    codex.write_text(codex.read_text("utf-8") + "[more]\ny = 2\n", encoding="utf-8")
    (home / ".gemini/settings.json").write_bytes(b"\xff")
    undone = run("setup", "--undo", "--json").json["steps"]
    states = {step["file"]: step["state"] for step in undone if "note" in step}
    kept = {str(home / ".gemini/settings.json"): "kept"}
    assert states == {str(theirs): "undone", str(codex): "undone", **kept}
    after = json.loads(theirs.read_text("utf-8"))
    assert after == {"numStartups": 4, "mcpServers": {"x": {"command": "a"}}}
    tables = tomllib.loads(codex.read_text("utf-8"))
    assert tables == {"model": "gpt", "tui": {"x": 1}, "more": {"y": 2}}


def test_a_hook_whose_program_is_gone_is_written_again_with_its_options(
    run: Run, home: Path
) -> None:
    assert run("hook", "install", "claude-code", "--max-chars", "900").code == 0
    settings = home / ".claude/settings.json"
    now = settings.read_text("utf-8")
    (command,) = installed_commands(now)
    gone = now.replace(command.partition(" hook ")[0], "/gone/skillyard")
    settings.write_text(gone, "utf-8")
    (step, *_) = run("setup", "--json").json["steps"]
    assert (step["state"], step["note"]) == (
        "planned",
        f"replaces the one in {settings}, which starts /gone/skillyard: that is not there",
    )
    assert run("setup", "--yes", "--json").json["steps"][0]["state"] == "done"
    assert settings.read_text("utf-8") == now
    assert run("setup", "--json").json["steps"][0]["state"] == "present"
    run("setup", "--undo")
    assert settings.read_text("utf-8") == gone
    settings.write_text(gone.replace("/gone", "$HOME/bin"), "utf-8")  # of the user's own hand
    assert run("setup", "--json").json["steps"][0]["state"] == "present"


def test_a_file_that_cannot_be_changed_is_left_and_named(run: Run, home: Path) -> None:
    (home / ".claude.json").write_bytes(b'{"a": 1,\nbroken')
    (home / ".codex/config.toml").write_text("mcp_servers = {a = {command = 'b'}}\n")
    before = contents(home)
    answer = run("setup", "--yes", "--json")
    steps = answer.json["steps"]
    assert answer.code == 2
    assert {step["state"] for step in steps} == {"refused", "done"}
    refused = {step["file"]: step["note"] for step in steps if step["state"] == "refused"}
    assert set(refused) == {str(home / ".claude.json"), str(home / ".codex/config.toml")}
    assert "line 2: it is not JSON" in refused[str(home / ".claude.json")]
    assert all(refused.values())
    run("setup", "--undo")
    assert contents(home) == before
    (server,) = (step for step in operation.planned_steps() if step.title == "Gemini CLI")
    (home / ".gemini/settings.json").write_bytes(broken := b'{"mcpServers": {}, "mcpServers": {}}')
    assert operation.apply(server).state == "refused"
    assert (home / ".gemini/settings.json").read_bytes() == broken
