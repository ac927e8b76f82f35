"""Run the new layer with the stand-in: its command, plan, results, reports and comparison."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

from skillyard_testkit.fake_llm import FakeLlm

RUBRIC = """\
skill_name: git-bisect
test_prompts:
  - The build was green on Monday and is red today. Which of the 200 commits broke it?
  - Find the commit that made the start slow.
  - A test fails since last week. When did that begin?
  - Which change broke the export?
  - The page is blank after the last release. Find out why.
criteria:
  - name: right
    weight: 1.0
    description: The commit is found.
"""
RUN = (
    "eval",
    "run",
    "brevity",
    "--root",
    os.environ["SKILLYARD_LIBRARY"],
    "--model",
    "claude-haiku-5-5",
)


def skillyard(*arguments: str) -> str:
    command = [sys.executable, "-m", "skillyard", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def run_with_the_stand_in() -> dict[str, object]:
    rubric = Path("evals/rubrics/git-bisect.yaml")
    rubric.parent.mkdir(parents=True)
    rubric.write_text(RUBRIC, encoding="utf-8")
    help_page = " ".join(skillyard("eval", "run", "--help").split())
    assert "are answers with a skill shorter than without?" in help_page
    print("help")
    plan = json.loads(skillyard(*RUN, "--dry-run", "--json"))
    assert (plan["cases"], plan["generations"]["to_make"]) == (5, 10)
    print("plan")
    document = json.loads(skillyard(*RUN, "--json"))
    assert list(document["summary"]) == ["git-bisect"]
    print("run")
    shown = skillyard(*RUN)
    assert "git-bisect" in shown
    assert "0 requests, 10 kept" in shown
    print("terminal")
    return dict(document)


if __name__ == "__main__":
    with FakeLlm() as fake:
        os.environ.update(ANTHROPIC_BASE_URL=fake.url, ANTHROPIC_API_KEY="any")
        done = run_with_the_stand_in()
    envelope = json.loads(Path(str(done["path"])).read_text(encoding="utf-8"))
    assert envelope["meta"]["eval_type"] == "brevity"
    assert {*envelope["cases"][0]["scores"]} == {"enhanced", "baseline"}
    print("results")
    for format, sign in (
        ("html", "Are answers with a skill shorter than without?"),
        ("md", "L7 Characters"),
        ("junit", "L7 brevity"),
    ):
        assert sign in skillyard("eval", "report", "--format", format, "--out", "-")
        print(format)
    later = copy.deepcopy(envelope)
    for case in later["cases"]:
        case["improvement"] += 1_000
    Path("later.json").write_text(json.dumps(later), encoding="utf-8")
    compared = json.loads(skillyard("eval", "compare", str(done["path"]), "later.json", "--json"))
    (change,) = compared["compared"][0]["changes"]
    assert change["status"] == "regression"
    print("compare")
