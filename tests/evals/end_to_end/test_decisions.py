"""Runs that decide: what cannot decide is not paid for, nor what is decided already."""

from __future__ import annotations

import json
import shutil

import pytest

from skillyard_testkit.fake_llm import FakeLlm
from tests.evals.end_to_end.conftest import Run
from tests.evals.end_to_end.making import Project
from tests.running import Answer, run_here
from tests.shared_data import REPOSITORY

RUBRIC = """\
skill_name: tea-brewing
test_prompts: {prompts}
criteria:
  - {{name: right, weight: 1.0, description: The temperature and the time are right.}}
"""


def write_prompts(workspace: Project, count: int) -> None:
    """Leave one skill under test, with so many prompts."""
    folder = workspace.folder / "evals/rubrics"
    for path in folder.glob("*.yaml"):
        path.unlink()
    prompts = [f"How hot and how long for cup {number} of green leaves?" for number in range(count)]
    text = RUBRIC.format(prompts=json.dumps(prompts))
    (folder / "tea-brewing.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def pay(run: Run, workspace: Project, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run without ``--anyway``."""

    def call(layer: str, *arguments: str) -> Answer:
        line = workspace.arguments(layer, *arguments)
        line.remove("--anyway")
        return run_here(capsys, line)

    return call


def test_a_run_that_can_decide_nothing_is_not_paid_for(
    pay: Run, run: Run, fake: FakeLlm, workspace: Project
) -> None:
    write_prompts(workspace, 4)
    plan = pay("effectiveness", "--dry-run")
    assert plan.code == 0
    says = "tea-brewing: 4 prompts: too few for a verdict on it alone; 5 needed"
    assert says in " ".join(plan.out.split())
    refused = pay("effectiveness")
    assert refused.code == 2
    assert "write 1 more prompt, or give --anyway" in refused.err
    assert "--anyway" in refused.err
    assert not fake.log.calls
    assert run("effectiveness").code == 0
    again = pay("effectiveness")
    assert again.code == 0, "what is paid for already may be looked at"


def test_many_skills_with_few_prompts_get_a_verdict_on_all_of_them(
    pay: Run, fake: FakeLlm, workspace: Project
) -> None:
    write_prompts(workspace, 2)
    skill = (workspace.folder / "skills/tea-brewing/SKILL.md").read_text("utf-8")
    rubric = (workspace.folder / "evals/rubrics/tea-brewing.yaml").read_text("utf-8")
    for number in range(10, 17):
        name = f"tea-{number}"
        folder = workspace.folder / "skills" / name
        folder.mkdir()
        (folder / "SKILL.md").write_text(skill.replace("tea-brewing", name), "utf-8")
        path = workspace.folder / f"evals/rubrics/{name}.yaml"
        path.write_text(rubric.replace("tea-brewing", name), "utf-8")
    done = pay("effectiveness")
    assert done.code == 0
    assert "the verdict is on all 8 skills together" in done.err
    overall = workspace.envelope()["summary"]["_overall"]
    assert overall["comparisons"]["enhanced/baseline"]["units"] == 8


@pytest.mark.slow
def test_the_shipped_sizes_end_with_a_statement_on_all_skills(
    pay: Run, fake: FakeLlm, workspace: Project
) -> None:
    """Before, it was refused: "write 84 more prompts"."""
    examples = REPOSITORY / "examples"
    places = ("--root", str(examples / "skills"), "--evals-dir", str(examples / "evals"))
    done = pay("size-impact", *places)
    assert done.code == 0, done.err
    assert "the verdict is on all 12 skills together" in done.err
    comparison = workspace.envelope()["summary"]["_overall"]["comparisons"]["full/baseline"]
    assert (comparison["units"], comparison["word"]) == (12, "better")
    assert "12 skills as a whole, full skill against no skill: " in " ".join(done.out.split())


def test_the_plan_says_what_the_prompts_can_show(
    pay: Run, fake: FakeLlm, workspace: Project
) -> None:
    write_prompts(workspace, 10)
    (verdict,) = pay("effectiveness", "--dry-run", "--json").json["verdicts"]
    assert verdict["can_decide"] is True
    assert verdict["message"] == "10 prompts: enough to find two points 4 times in 5"
    done = pay("effectiveness")
    assert done.code == 0
    assert "tea-brewing: 10 prompts: enough to find" in done.err


def test_a_run_until_decided_stops_at_the_look_that_decides(
    pay: Run, fake: FakeLlm, workspace: Project
) -> None:
    write_prompts(workspace, 200)
    fake.behaviour = "even"  # every difference is 0
    done = pay("effectiveness", "--until-decided")
    assert done.code == 0, done.err
    envelope = workspace.envelope()
    looks = envelope["meta"]["until_decided"]
    entry = envelope["summary"]["tea-brewing"]
    assert entry["word"] == "equivalent"
    after = looks["decided_after"]["tea-brewing"]
    assert after == 103, "the second of three looks"
    assert looks["cases_saved"] == 200 - after
    assert entry["comparisons"]["enhanced/baseline"]["units"] == after
    assert [case["skipped"] for case in envelope["cases"]].count("decided") == 200 - after
    assert "decided after" in done.out


def write_case_file(workspace: Project, checked: int, judged: int) -> None:
    """Leave one skill under test, with prompts that have checks alone and prompts to judge."""
    for name in ("rubrics", "datasets"):
        shutil.rmtree(workspace.folder / "evals" / name)
    prompts = [
        {"prompt": f"How hot is cup {number}?", "checks": [{"regex": "."}]}
        for number in range(checked)
    ] + [
        {"prompt": f"How long for pot {number}?", "expected": "Minutes."}
        for number in range(judged)
    ]
    text = json.dumps({"skill": "tea-brewing", "prompts": prompts})
    (workspace.folder / "evals/tea-brewing.yaml").write_text(text, encoding="utf-8")


def test_only_judged_prompts_count_for_a_verdict(
    pay: Run, fake: FakeLlm, workspace: Project
) -> None:
    write_case_file(workspace, checked=5, judged=2)
    planned = pay("effectiveness", "--dry-run", "--json").json
    (verdict,) = planned["verdicts"]
    assert (verdict["prompts"], verdict["can_decide"]) == (2, False)
    assert planned["checks_only"] == {"tea-brewing": 5}
    refused = pay("effectiveness")
    assert refused.code == 2
    assert "write 3 more prompts that are judged" in refused.err
    assert not fake.log.calls


def test_a_run_without_judged_prompts_is_not_held_back(
    pay: Run, fake: FakeLlm, workspace: Project
) -> None:
    write_case_file(workspace, checked=2, judged=0)
    says = "tea-brewing: 2 prompts with checks alone: a pass rate, and no verdict of a judge"
    assert says in " ".join(pay("effectiveness", "--dry-run").out.split())
    done = pay("effectiveness")
    assert done.code == 0, done.err
    assert says in done.err
    assert len(fake.log.calls) == 4
