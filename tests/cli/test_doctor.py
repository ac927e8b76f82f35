"""``skillyard doctor`` as people see it: a table and remedies, JSON, exit codes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from skillyard import __version__
from skillyard.cli.grammar import read_command
from tests.cli.conftest import Run
from tests.cli.making import write
from tests.requirements import requirement
from tests.shared_data import REPOSITORY


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with nothing in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("SKILLYARD_STATE", str(tmp_path / "state"))
    return folder


@requirement("cli:json")
def test_the_document_has_every_finding_and_their_counts(run: Run, skills: Path) -> None:
    answer = run("doctor", "skills", "--json")
    assert (answer.code, answer.err) == (0, "")
    shape = answer.json
    assert set(shape) == {"schema", "version", "findings", "counts"}
    assert (shape["schema"], shape["version"]) == ("skillyard.doctor/1", __version__)
    assert sum(shape["counts"].values()) == len(shape["findings"])
    assert set(shape["counts"]) == {"ok", "info", "warning", "error"}
    fields = {"id", "status", "message", "remedy", "command", "path", "line", "details"}
    assert {frozenset(finding) for finding in shape["findings"]} == {frozenset(fields)}
    (root,) = [finding for finding in shape["findings"] if finding["id"] == "root"]
    assert root["details"]["diagnostics"]["error"] == 1  # the library has a broken file
    assert answer.out == run("--root", "skills", "doctor", "--json").out


@requirement("cli:doctor:remedies")
def test_the_report_is_plain_in_a_pipe_and_ends_with_remedies_and_counts(
    run: Run, skills: Path
) -> None:
    answer = run("doctor", "skills")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0].split() == ["STATUS", "CHECK", "FINDING"]
    assert lines[-1].startswith(f"skillyard {__version__}: ")
    assert lines[-1].endswith(", 0 errors")
    assert "\x1b" not in answer.out
    commands = [line.strip()[2:] for line in lines if line.startswith("  $ skillyard")]
    assert commands
    for text in commands:
        assert read_command(shlex.split(text)[1:]) is not None, text
    assert answer.out == run("doctor", "skills").out


def test_warnings_come_before_hints_among_the_remedies(run: Run, skills: Path) -> None:
    lines = run("doctor", "skills").out.splitlines()
    heads = [line.split()[0] for line in lines[lines.index("") :] if line and line[0] != " "][:-1]
    assert heads == sorted(heads, key=["error", "warning", "info"].index)
    assert heads[0] == "warning"


def test_an_error_is_the_exit_code_1_and_wrong_use_is_2(run: Run, skills: Path) -> None:
    answer = run("doctor", "gone")
    assert answer.code == 1
    assert "the root gone does not exist" in answer.out
    assert run("doctor", "--scope", "everybody").code == 2
    assert run("doctor", "--odd").code == 2


def test_every_finding_is_on_the_page_about_troubleshooting(run: Run, skills: Path) -> None:
    page = (REPOSITORY / "docs" / "guides" / "troubleshooting.md").read_text(encoding="utf-8")
    named = set(re.findall("`([^`]+)`", page.partition("## What doctor looks at")[2]))
    found = {finding["id"] for finding in run("doctor", "--json").json["findings"]}
    missing = {name for name in found - named if f"{name.partition('.')[0]}.…" not in named}
    assert missing == set()


@requirement("cli:terminal")
def test_no_control_character_of_a_settings_file_reaches_the_terminal(
    run: Run, skills: Path
) -> None:
    attack = "skill\x1b]0;odd\x07\u202eyard"
    words = f"'/gone/{attack}/skillyard' hook claude-code # skillyard hook, made: entry"
    hook = {"type": "command", "command": words}
    settings = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    write(skills.parent, {".claude/settings.json": json.dumps(settings)})
    for color in ("never", "always"):
        answer = run("doctor", "skills", "--color", color)
        assert answer.code == 1
        assert "\\x1b]0;odd" in answer.out
        for hostile in ("\x1b]", "\x07", "\u202e"):
            assert hostile not in answer.out
