"""The commands that read and print: list, check, show, summary, inject; and what all share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.tables import for_each
from tests.worked_examples.making import document
from tests.worked_examples.running import Command


def named(matches: list[dict[str, Any]]) -> list[str]:
    return [match["name"] for match in matches]


@requirement("cli:roots")
def test_the_folders_of_the_user_come_with_the_scope_only(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write_tree(tmp_path / "home", {".claude/skills/mine/SKILL.md": document("mine")})
    monkeypatch.setenv("HOME", str(home))
    assert "mine" not in named(run("list", "--json").json["skills"])
    assert "mine" in named(run("list", "--json", "--scope", "user").json["skills"])


@requirement("cli:list")
def test_list_names_every_skill_and_every_diagnostic(run: Command) -> None:
    write_tree(run.root, {"bad/SKILL.md": "# No frontmatter\n"})
    answer = run("list", "--json")
    assert answer.code == 0
    assert set(answer.json) >= {"schema", "skills", "diagnostics"}
    assert {"Code Review", "deploy-app", "query-db", "wipe-db", "generalist"} <= set(
        named(answer.json["skills"])
    )
    for card in answer.json["skills"]:
        assert {"name", "id", "slug", "path", "description", "tags"} <= set(card)
    (found,) = [one for one in answer.json["diagnostics"] if one["severity"] == "error"]
    assert {"code", "severity", "path", "line", "message", "hint"} <= set(found)
    assert found["path"].endswith("bad/SKILL.md")
    plain = run("list")
    assert "deploy-app" in plain.out
    assert "bad" in plain.out + plain.err


@requirement("cli:check:exit", "cli:check:formats")
def test_check_answers_by_the_worst_finding(run: Command) -> None:
    good = run.bare("check", str(run.root / "deploy-app"), "--json")
    assert (good.code, good.json["schema"]) == (0, "skillyard.check/1")
    write_tree(run.root, {"bad/SKILL.md": "# No frontmatter\n"})
    bad = run.bare("check", str(run.root / "bad"), "--json")
    assert bad.code == 1
    assert "frontmatter_missing" in [one["code"] for one in bad.json["diagnostics"]]
    assert isinstance(bad.json["counts"], dict)
    assert run.bare("check", str(run.root / "deploy-app"), str(run.root / "bad")).code == 1


@requirement("cli:check:profiles")
def test_check_takes_the_three_profiles(run: Command) -> None:
    path = str(run.root / "deploy-app")
    codes = [
        run.bare("check", path, "--profile", name).code for name in ("lenient", "spec", "reference")
    ]
    assert codes == [0, 0, 1]
    assert run.bare("check", path).code == 0
    assert run.bare("check", path, "--profile", "strictest").code == 2


@requirement("cli:check:formats")
def test_check_writes_text_json_sarif_and_github_annotations(run: Command) -> None:
    write_tree(run.root, {"bad/SKILL.md": "# No frontmatter\n"})
    path = str(run.root / "bad")
    text = run.bare("check", path, "--format", "text").out
    assert "frontmatter_missing" in text
    assert "SKILL.md" in text
    assert run.bare("check", path, "--format", "json").json["schema"] == "skillyard.check/1"
    sarif = run.bare("check", path, "--format", "sarif").json
    assert sarif["version"] == "2.1.0"
    (result,) = [r for r in sarif["runs"][0]["results"] if r["level"] == "error"]
    assert result["ruleId"] == "frontmatter_missing"
    assert "SKILL.md" in json.dumps(result["locations"])
    github = run.bare("check", path, "--format", "github").out
    assert "::error file=" in github
    assert "SKILL.md" in github


@requirement("cli:show")
def test_show_prints_one_skill(run: Command) -> None:
    answer = run("show", "deploy-app")
    assert answer.code == 0
    for text in ("deploy-app", "Deploy the app to staging.", "Ship it."):
        assert text in answer.out
    assert "staging.md" in run("show", "deploy-app", "--references").out


@requirement("cli:unknown-skill")
@pytest.mark.parametrize("command", [["show", "deploy-ap"], ["why", "deploy-ap", "deploy"]])
def test_an_unknown_skill_is_an_error_with_near_names(run: Command, command: list[str]) -> None:
    answer = run(*command)
    assert answer.code in {1, 2}
    assert answer.out == ""
    assert "deploy-ap" in answer.err
    assert "did you mean" in answer.err.lower()
    assert "deploy-app" in answer.err


@requirement("cli:summary")
def test_summary_prints_each_format(run: Command) -> None:
    lines = run("summary").out.splitlines()
    assert (
        "- Code Review (code-review): Find defects in code changes."
        " | triggers: review this, find bugs"
    ) in lines
    assert run("summary", "--format", "xml").out.startswith("<available_skills>")
    assert "deploy-app" in run("summary", "--format", "markdown").out
    assert "House rules" not in "".join(lines)
    short = run("summary", "--budget-tokens", "20", "--query", "deploy the app").out
    assert len(short) < len(run("summary").out)


@requirement("cli:inject")
def test_inject_prints_the_prompt_with_the_block_before_it(run: Command, tmp_path: Path) -> None:
    block = "[skill:deploy-app]\nShip it.\n[/skill]\n\n"
    answer = run("inject", "deploy the app", "--scorer", "overlap")
    assert (answer.code, answer.out.rstrip("\n")) == (0, f"{block}deploy the app")
    cut = run("inject", "deploy the app", "--scorer", "overlap", "--max-chars", "4")
    assert cut.out.startswith("[skill:deploy-app]\nShip\n[/skill]\n\n")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Please do it today.\n", encoding="utf-8")
    filed = run("inject", "deploy the app", "--scorer", "overlap", "--file", str(prompt))
    assert filed.out.startswith(f"{block}Please do it today.")


@requirement("cli:usage")
@for_each(
    "arguments",
    [
        [],
        ["frobnicate"],
        ["rank"],
        ["rank", "deploy", "--limit", "x"],
        ["rank", "deploy", "--nope"],
        ["list", "--root", "absent-folder"],
        ["rank", "deploy", "--root", "absent-folder"],
        ["bench", "run", "--skills", "absent.jsonl", "--queries", "absent.jsonl", "--out", "x"],
    ],
)
def test_wrong_use_and_unreadable_input_answer_two_on_standard_error(
    run: Command, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = run.bare(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.strip()
    assert "Traceback" not in answer.err
