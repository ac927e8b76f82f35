"""``summary --host``: what is printed, what uses and queries do, and wrong uses of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillyard.hosts.operations.prompts import used_in
from tests.cli.conftest import Run
from tests.shared_data import REPOSITORY
from tests.worked_examples.making import catalog, skill

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
    assert "--use says what was used" in answer.out
    assert "Source: Claude Code's settings" in answer.out


def test_the_json_is_the_summary_with_the_listing(run: Run) -> None:
    answer = run(*LIBRARY, "--host", "codex", "--window", "100000", "--json").json
    assert answer["schema"] == "skillyard.summary/1"
    listing = answer["listing"]
    assert (listing["budget"], listing["unit"], listing["window"]) == (2_000, "tokens", 100_000)
    assert listing["used"] <= 2_000 < listing["needed"]
    assert listing["cut"] == sum(each["state"] == "cut" for each in listing["skills"]) > 20
    assert answer["text"].count("\n") + 1 == listing["cut"] + listing["whole"]


def test_fit_prints_the_listing_and_says_on_the_side_what_it_took(run: Run) -> None:
    query = "clean a csv export"
    answer = run(*LIBRARY, "--host", "claude-code", "--budget", "2000", "--fit", "--query", query)
    assert answer.code == 0
    assert answer.out.startswith("- csv-cleaning: Repairs messy CSV")
    assert len(answer.out) <= 2_000
    assert "2,000 allowed" in answer.err


def test_a_log_of_uses_decides(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    used = [{"selected": [{"id": "old-id", "slug": "travel-itinerary", "name": "x"}]}] * 3
    lines = [json.dumps(each) for each in (*used, {"skill": "regex-building"}, {"selected": []})]
    log.write_text("\n".join([*lines, '{"id": "gone"}', "{half", "[]"]), encoding="utf-8")
    told = ("--host", "claude-code", "--budget", "6249", "--use", str(log))  # 4,249 are its own
    answer = run(*LIBRARY, *told, "--json").json
    state = {each["name"]: each["state"] for each in answer["listing"]["skills"]}
    assert state["travel-itinerary"] == state["regex-building"] == "whole"
    assert state["terraform-plan-review"] == "name only"
    assert answer["listing"]["unknown_uses"] == 3
    fitted = run(*LIBRARY, *told, "--fit")
    assert fitted.out.startswith("- travel-itinerary: ")
    assert fitted.out.splitlines()[1].startswith("- regex-building: ")
    assert "3 lines of" in fitted.err


def test_a_name_that_two_skills_share_is_no_use_of_either(tmp_path: Path) -> None:
    skills = catalog(
        skill("csv", "One.", path="/s/1/SKILL.md", slug="one"),
        skill("csv", "Two.", path="/s/2/SKILL.md", slug="two"),
    )
    log = tmp_path / "log.jsonl"
    log.write_text('{"name": "csv"}\n{"name": "csv", "slug": "two"}\n', encoding="utf-8")
    assert used_in(skills, str(log)) == ({"/s/2/SKILL.md": 1}, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fit",), "--host"),
        (("--use", "x"), "--host"),
        (("--budget", "5"), "--host"),
        (("--host", "emacs"), "emacs"),
        (("--host", "codex", "--query", "x"), "--fit"),
        (("--host", "codex", "--fit", "--query", "x", "--use", "x"), "--use"),
        (("--host", "codex", "--budget-tokens", "5"), "--budget"),
        (("--host", "codex", "--use", "nowhere.jsonl"), "cannot read nowhere.jsonl"),
        (("--host", "codex", "--window", "0"), "window"),
        (("--host", "vscode", "--budget", "5"), "no budget of VS Code"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_uses_say_what_to_do(run: Run, arguments: tuple[str, ...], said: str) -> None:
    answer = run(*LIBRARY, *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_a_hostile_log_is_counted_and_not_obeyed(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    deep = b"[" * 100_000
    log.write_bytes(b"\xff\xfe\n" + deep + b'\n{"selected": {}}\n{"selected": [5]}\n{"id": 5}\n')
    answer = run(*LIBRARY, "--host", "claude-code", "--use", str(log), "--json")
    assert answer.code == 0
    assert answer.json["listing"]["unknown_uses"] == 5


def test_an_empty_library_is_said(run: Run, tmp_path: Path) -> None:
    answer = run("summary", "--root", str(tmp_path), "--host", "claude-code")
    assert (answer.code, answer.out) == (
        0,
        (
            "Claude Code: 0 characters needed, 8,000 allowed, 4,249 of them for its own skills;"
            " no skill is listed\n"
        ),
    )
