"""``setup`` changes the agents' files only with a yes, and ``--undo`` restores every byte."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.shared_data import REPOSITORY

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
    assert "2 whole" in planned.out
    assert "--yes changes what is planned" in planned.err
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
    assert done["chosen"] in ("git-bisect", "csv-cleaning")
    servers = json.loads((home / ".claude.json").read_text("utf-8"))["mcpServers"]
    assert servers["x"] == {"command": "a"}
    assert servers["skillyard"]["args"][-3:] == ["serve", "--mcp", "stdio"]
    codex = tomllib.loads((home / ".codex/config.toml").read_text("utf-8"))
    assert codex["tui"] == {"x": 1}
    assert codex["mcp_servers"]["skillyard"]["args"][-3:] == ["serve", "--mcp", "stdio"]
    assert run("select", "find the commit that broke the build").code == 0
    assert "1 selected a skill" in run("usage").out
    again = run("setup", "--yes", "--json").json
    assert {step["state"] for step in again["steps"]} == {"present"}
    assert run("setup", "--undo").code == 0
    assert contents(home) == before
    assert run("setup", "--undo").code == 1


def test_a_file_that_was_changed_since_loses_only_what_was_added(run: Run, home: Path) -> None:
    run("setup", "--yes")
    theirs = home / ".claude.json"
    document = json.loads(theirs.read_text("utf-8"))
    document["numStartups"] = 4
    theirs.write_text(json.dumps(document), encoding="utf-8")
    codex = home / ".codex/config.toml"
    codex.write_text(codex.read_text("utf-8") + "[more]\ny = 2\n", encoding="utf-8")
    undone = run("setup", "--undo", "--json").json
    notes = {step["file"]: step["note"] for step in undone["steps"] if "note" in step}
    assert set(notes) == {str(theirs), str(codex)}
    after = json.loads(theirs.read_text("utf-8"))
    assert after == {"numStartups": 4, "mcpServers": {"x": {"command": "a"}}}
    tables = tomllib.loads(codex.read_text("utf-8"))
    assert tables == {"model": "gpt", "tui": {"x": 1}, "more": {"y": 2}}


def test_a_file_that_cannot_be_changed_is_left_and_named(run: Run, home: Path) -> None:
    (home / ".claude.json").write_bytes(b"{broken")
    (home / ".codex/config.toml").write_text("mcp_servers = {a = {command = 'b'}}\n")
    before = contents(home)
    steps = run("setup", "--yes", "--json").json["steps"]
    refused = {step["file"]: step["note"] for step in steps if step["state"] == "refused"}
    assert set(refused) == {str(home / ".claude.json"), str(home / ".codex/config.toml")}
    assert all(refused.values())
    run("setup", "--undo")
    assert contents(home) == before
