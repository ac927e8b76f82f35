"""``eval improve`` with a model: hostile replies, the router, the price and the budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillyard.cli import main
from skillyard.skill import Skill
from skillyard.usecases.improvement.writing import MAX_REPLY_CHARS, read_descriptions
from skillyard_testkit.fake_llm import FakeLlm, faults
from tests.tables import for_each
from tests.usecases.improvement.making import OTHERS, SUBJECTS, Project, planted

SKILL = Skill("archive", "Sorts yellow folders.", "B")
GOOD = "Writes the invoice for any customer, and sorts yellow folders."
MODEL = ("--model", "claude-haiku-4-5", "--provider", "anthropic")


def reply(*texts: str, **more: object) -> str:
    return json.dumps({"descriptions": texts, **more})


@for_each(
    "text",
    [
        "",
        "none",
        "[]",
        json.dumps([GOOD]),
        json.dumps({"descriptions": GOOD}),
        json.dumps({"descriptions": [{"text": GOOD}]}),
        json.dumps({"descriptions": [1]}),
        json.dumps({"description": GOOD}),
        reply(GOOD, name="other"),
        reply(GOOD, allowed_tools=["Bash"]),
        reply(GOOD)[:-4],
        reply(GOOD) + " " * MAX_REPLY_CHARS,
        '{"descriptions":' * 5_000,
    ],
)
def test_a_reply_of_another_form_is_refused(text: str) -> None:
    written = read_descriptions(SKILL, text, 3)
    assert written.proposals == ()
    assert len(written.refused) == 1


@for_each(
    ("text", "fault"),
    [
        ("", "empty"),
        ("x" * 1_025, "1,025 characters"),
        ("Two\nlines", "one line"),
        ("name: x\n---\nIgnore this", "one line"),
        ("hidden\u200btext", "U+200B"),
        ("turned\u202etext", "U+202E"),
        ("\x1b[31mred", "U+001B"),
        ("lone \ud800", "U+D800"),
    ],
)
def test_a_text_that_no_description_may_be_is_refused_alone(text: str, fault: str) -> None:
    written = read_descriptions(SKILL, reply(text, GOOD), 3)
    assert [each.description for each in written.proposals] == [GOOD]
    (reason,) = written.refused
    assert fault in reason


def test_repeats_the_present_text_and_more_than_were_requested_are_left_out() -> None:
    texts = (SKILL.description, f" {GOOD} ", GOOD, "Another one.", "Too many.")
    written = read_descriptions(SKILL, f"Here:\n```json\n{reply(*texts)}\n```", 4)
    assert [each.description for each in written.proposals] == [GOOD, "Another one."]
    assert {(each.origin, each.added) for each in written.proposals} == {("model", ())}


def test_a_description_that_only_says_when_to_use_the_skill_is_refused() -> None:
    triggers = "Use when an invoice is due. Use this skill for yellow folders. Do not print."
    written = read_descriptions(SKILL, reply(triggers, GOOD), 3)
    assert [each.description for each in written.proposals] == [GOOD]
    assert written.refused == (
        "the description says only when to use the skill, and not what it does",
    )
    only_triggers = SKILL.replace(description="Use when folders are yellow.")
    assert read_descriptions(only_triggers, reply(triggers), 3).refused == ()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLlm]:
    for library in ("anthropic", "genai_prices", "scipy"):
        pytest.importorskip(library)
    with FakeLlm() as running:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-any")
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return planted(
        tmp_path, [f"write and send the invoice for {each}" for each in SUBJECTS], OTHERS
    )


def run(
    project: Project, capsys: pytest.CaptureFixture[str], *given: str, code: int = 0
) -> dict[str, Any]:
    capsys.readouterr()
    assert main(project.arguments("--json", *given)) == code
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_description_of_the_model_is_judged_beside_the_others(
    fake: FakeLlm, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.faults.add(faults.reply_with(reply(GOOD, "bad\ntext")), kind="generation")
    found = run(project, capsys, *MODEL)
    origins = [each["origin"] for each in found["proposals"]]
    assert origins == ["evidence", "model"]
    assert found["proposals"][1]["description"] == GOOD
    assert (len(found["refused"]), found["calls"], found["fake"]) == (1, 1, True)
    assert found["cost"] > 0
    assert run(project, capsys, *MODEL)["calls"] == 0, "the answer is cached"


def test_a_reply_that_cannot_be_used_leaves_the_other_proposals(
    fake: FakeLlm, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    before = project.skill_file.read_bytes()
    hostile = '{"descriptions": ["x"], "path": "../../etc/passwd"}'
    fake.faults.add(faults.reply_with(hostile), kind="generation")
    found = run(project, capsys, *MODEL)
    assert [each["origin"] for each in found["proposals"]] == ["evidence"]
    assert found["verdict"] == "better"
    assert len(found["refused"]) == 1
    assert project.skill_file.read_bytes() == before


def test_a_model_picks_with_each_description(
    fake: FakeLlm, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two descriptions on each of two halves of 22 cases; what is planned is what is sent."""
    given = ("--router", "model", *MODEL, "--proposals", "0")
    planned = run(project, capsys, *given, "--dry-run")
    assert not fake.log.calls
    assert planned["requests"] == {"planned": 44, "kept": 0, "to_make": 44}
    assert 0 < planned["cost_low"] < planned["cost_high"]
    found = run(project, capsys, *given)
    assert (found["router"], found["calls"]) == ("model", 44)
    assert found["verdict"] == "better"
    assert "invoice" in found["proposals"][found["chosen"]]["description"]
    before = project.skill_file.read_bytes()
    assert not run(project, capsys, *given, "--write", code=1)["written"], "a stand-in picked"
    assert project.skill_file.read_bytes() == before


def test_more_proposals_than_fit_into_a_reply_are_refused(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(project.arguments(*MODEL, "--proposals", "21", "--dry-run")) == 2
    assert "at most 20" in capsys.readouterr().err


def test_a_plan_needs_no_key_and_counts_what_a_model_may_write(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    planned = run(project, capsys, *MODEL, "--dry-run")
    assert (planned["model_proposals"], planned["requests"]["to_make"]) == (3, 1)
    planned = run(project, capsys, *MODEL, "--router", "model", "--dry-run")
    assert planned["requests"]["to_make"] == 1 + 11 * 5 + 11 * 2


def test_a_budget_stops_it_before_a_verdict(
    fake: FakeLlm, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("--router", "model", *MODEL, "--max-calls", "5", "--write")
    before = project.skill_file.read_bytes()
    assert main(project.arguments(*given)) == 3
    output = capsys.readouterr()
    assert output.out == ""
    assert "answers are cached" in output.err
    assert len(fake.log.calls) == 5
    assert project.skill_file.read_bytes() == before
