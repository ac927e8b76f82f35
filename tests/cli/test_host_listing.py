"""``summary --host``: what is printed, and wrong uses of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.parity.trees import write_tree
from tests.shared_data import REPOSITORY
from tests.worked_examples.making import document

LIBRARY = ("summary", "--root", str(REPOSITORY / "examples" / "skills"))


def test_the_table_says_what_becomes_of_each_skill(run: Run) -> None:
    answer = run(*LIBRARY, "--host", "claude-code", "--budget", "7000")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].startswith("Claude Code: ")
    assert "7,000 allowed" in lines[0]
    found = {line.split()[0]: line for line in lines[2:]}
    assert "whole" in found["csv-cleaning"]
    assert "name only" in found["travel-itinerary"]
    assert "not read" in found["hotline-escalation"]
    assert "the most used first" in answer.out
    assert "Source: Claude Code's settings" in answer.out


def test_the_json_is_the_summary_with_the_listing(run: Run) -> None:
    answer = run(*LIBRARY, "--host", "codex", "--window", "100000", "--json").json
    assert answer["schema"] == "skillyard.summary/1"
    listing = answer["listing"]
    assert (listing["budget"], listing["unit"], listing["window"]) == (2_000, "tokens", 100_000)
    assert listing["used"] <= 2_000 < listing["needed"]
    assert listing["cut"] == sum(each["state"] == "cut" for each in listing["skills"]) > 20
    assert answer["text"].count("\n") + 1 == listing["cut"] + listing["whole"]


def test_a_format_shows_what_the_host_lists_in_that_format(run: Run) -> None:
    arguments = (*LIBRARY, "--host", "claude-code", "--budget", "7000", "--format", "markdown")
    answer = run(*arguments)
    lines = answer.out.splitlines()
    assert all(line.startswith("- **") for line in lines)
    assert "- **travel-itinerary**: " in lines  # by name only
    assert "hotline-escalation" not in answer.out  # not read
    shown = run(*arguments, "--json").json
    assert (shown["format"], shown["text"]) == ("markdown", answer.out.rstrip("\n"))


def test_skills_of_plugins_are_listed_by_their_host(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / ".claude/plugins"
    installed = {"powers@m": [{"scope": "user", "installPath": str(store / "powers")}]}
    write_tree(
        store,
        {
            "powers/skills/brainstorming/SKILL.md": document("brainstorming", "Asks questions."),
            "installed_plugins.json": json.dumps({"plugins": installed}),
            "../settings.json": '{"enabledPlugins": {"powers@m": true}}',
        },
    )
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    for host, state in {"claude-code": "whole", "codex": "not read"}.items():
        shown = run("summary", "--scope", "user", "--host", host, "--json").json
        skills = [(each["name"], each["state"]) for each in shown["listing"]["skills"]]
        assert skills == [("powers:brainstorming", state)]
    chosen = run("select", "/powers:brainstorming it", "--scope", "user", "--json").json
    assert [each["name"] for each in chosen["selected"]] == ["powers:brainstorming"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--budget", "5"), "--host"),
        (("--host", "emacs"), "emacs"),
        (("--host", "codex", "--query", "x"), "--query"),
        (("--host", "codex", "--budget-tokens", "5"), "--budget"),
        (("--host", "codex", "--window", "0"), "window"),
        (("--host", "vscode", "--budget", "5"), "no budget of VS Code"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_uses_say_what_to_do(run: Run, arguments: tuple[str, ...], said: str) -> None:
    answer = run(*LIBRARY, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_an_empty_library_is_said(run: Run, tmp_path: Path) -> None:
    answer = run("summary", "--root", str(tmp_path), "--host", "claude-code")
    assert (answer.code, answer.out) == (
        0,
        (
            "Claude Code: 0 characters needed, 8,000 allowed, 4,249 of them for its own skills;"
            " no skill is listed\n"
        ),
    )
