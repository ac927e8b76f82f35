"""Checks in a run: no judge where none is needed, results by condition, scripts only if allowed."""

from __future__ import annotations

import re
import shutil
from typing import Any

import pytest

from skillyard_testkit.fake_llm import FakeLlm
from tests.cli.making import write
from tests.evals.end_to_end.conftest import Run
from tests.evals.end_to_end.making import Project

CASES = """\
skill: tea-brewing
prompts:
  - prompt: My green leaves taste bitter. Which temperature and how long?
    files: [evals/files/pot.png]
    checks:
      - regex: "[a-z]"
      - contains: "no answer has these words"
      - script: "python check.py"
  - prompt: How many leaves for a litre of the black one?
    should_fire: true
    checks: [{not_contains: "no answer has these words"}]
  - prompt: What is the capital of Peru?
    should_fire: false
"""


@pytest.fixture
def checked(workspace: Project) -> Project:
    """The project with one case file alone."""
    for name in ("rubrics", "datasets"):
        shutil.rmtree(workspace.folder / "evals" / name)
    write(
        workspace.folder,
        {
            "evals/tea-brewing.yaml": CASES,
            "evals/check.py": "import os; assert os.path.exists('evals/files/pot.png')\n",
        },
    )
    (workspace.folder / "evals/files").mkdir()
    (workspace.folder / "evals/files/pot.png").write_bytes(b"\x89PNG picture")
    return workspace


def checks_of(case: dict[str, Any], condition: str) -> list[tuple[str, bool | None]]:
    return [(each["kind"], each["passed"]) for each in case["checks"][condition]]


def test_prompts_with_checks_alone_call_no_judge(checked: Project, fake: FakeLlm, run: Run) -> None:
    planned = run("effectiveness", "--dry-run", "--json").json
    assert (planned["generations"]["to_make"], planned["judgements"]["planned"]) == (4, 0)
    done = run("effectiveness", "--allow-scripts", "--format", "md", "--format", "html")
    assert done.code == 0, done.err
    assert len(fake.log.calls) == 4
    envelope = checked.envelope()
    first, second = envelope["cases"]
    assert (first["judged"], first["scores"], first["errors"]) == (False, None, [])
    for condition in ("enhanced", "baseline"):
        assert checks_of(first, condition) == [
            ("regex", True),
            ("contains", False),
            ("script", True),
        ]
        assert checks_of(second, condition) == [("not_contains", True)]
    entry = envelope["summary"]["tea-brewing"]
    assert (entry["errors"], entry["n"]) == (0, 0)
    rate = entry["pass_rate"]["enhanced"]
    assert (rate["passed"], rate["total"], rate["prompts"]) == (3, 4, 2)
    assert 0 <= rate["low"] < rate["pass_rate"] < rate["high"] <= 1
    assert "CHECKS PASSED" in done.out.upper()
    assert "3 of 4" in done.out
    assert re.search(r"tea-brewing +• checks only +0\.00 pass rate", done.out)
    paths = [*(checked.folder / "evals/reports").iterdir()]
    texts = {path.name.partition(".")[2]: path.read_text("utf-8") for path in paths}
    assert sorted(texts) == ["cases.html", "html", "md"]
    for text in (texts["html"], texts["md"]):
        assert "3 of 4" in text
        assert "0.00 pass rate" in text.replace("\\", "")
    assert "not in the answer" in texts["cases.html"]


def test_scripts_that_are_not_allowed_are_named_and_do_not_count(
    checked: Project, fake: FakeLlm, run: Run
) -> None:
    done = run("effectiveness")
    assert "1 script of checks will not run; --allow-scripts runs them" in done.err
    first, _ = checked.envelope()["cases"]
    assert checks_of(first, "enhanced")[2] == ("script", None)
    assert checked.envelope()["summary"]["_overall"]["pass_rate"]["enhanced"]["total"] == 3


def test_a_plan_names_what_is_left_out(checked: Project, run: Run) -> None:
    before = run("effectiveness", "--dry-run", "--json").json
    (checked.folder / "evals/files/pot.png").unlink()
    done = run("effectiveness", "--dry-run", "--json")
    assert "the prompt 1 is left out: there is no file 'evals/files/pot.png'" in done.err
    assert done.json["cases"] == before["cases"] - 1


def test_one_file_serves_every_layer(checked: Project, fake: FakeLlm, run: Run) -> None:
    assert run("activation").code == 0
    assert run("size-impact").code == 0
    activation, size_impact = sorted(
        checked.envelopes(), key=lambda each: str(each["meta"]["eval_type"])
    )
    assert [case["should_activate"] for case in activation["cases"]] == [True, True, False]
    assert {case["prompt_index"] for case in size_impact["cases"]} == {0, 1}
