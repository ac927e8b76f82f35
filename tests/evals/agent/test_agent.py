"""Agents answer with and without a skill, in a sandbox in which the skill's script really runs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from skillyard_testkit.fake_llm import FakeLlm
from tests.cli.making import write
from tests.running import Answer, run_here

SKILL = """\
---
name: csv-tidy
description: Tidies tables. Use when a CSV file is a mess.
---
Run `sh scripts/tidy.sh` in the working folder and report what it prints.
"""
SCRIPT = 'echo "{version} saw $(cat orders.csv)" | tee report.txt\n'
CASES = """\
skill: csv-tidy
prompts:
  - prompt: The columns of the file of orders are a mess. Please put them right.
    expected: The answer says what was put right.
    files: [orders.csv]
    checks:
      - contains: saw a;b
      - contains: "FILE report.txt"
"""
needs_inspect = pytest.mark.skipif(
    find_spec("inspect_ai") is None and os.environ.get("SKILLYARD_ADAPTERS") != "1",
    reason="inspect_ai is not installed (make adapters has it)",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    skill = {"SKILL.md": SKILL, "scripts/tidy.sh": SCRIPT.format(version="new")}
    write(tmp_path / "skills/csv-tidy", skill)
    write(tmp_path, {"evals/csv-tidy.yaml": CASES, "evals/orders.csv": "a;b\n"})
    shutil.copytree(tmp_path / "skills", tmp_path / "old")
    write(tmp_path / "old/csv-tidy", {"scripts/tidy.sh": SCRIPT.format(version="old")})
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    return tmp_path


def line(folder: Path, url: str, *more: str) -> list[str]:
    return [
        *("eval", "run", "effectiveness", "--root", str(folder / "skills")),
        *("--evals-dir", str(folder / "evals"), "--provider", "openai", "--base-url", url),
        *("--model", "fake-model", "--sandbox", "local", "--max-calls", "40", "--anyway", *more),
    ]


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    return lambda url, *more: run_here(capsys, line(folder, url, *more))


@needs_inspect
def test_an_agent_runs_the_script_of_the_skill_and_of_its_old_version(
    folder: Path, run: Callable[..., Answer]
) -> None:
    with FakeLlm() as server:
        old = ("--old-version", str(folder / "old"))
        done = run(server.openai_url, *old)
        assert done.code == 0, done.err
        kinds = [call.kind for call in server.log.calls]
        assert kinds.count("agent") == 1 + 3 + 3, "no skill; and skill, shell, answer twice"
        again = run(server.openai_url, *old)
        assert again.code == 0, again.err
        assert len(server.log.calls) == len(kinds), "every answer was stored"
    texts = [
        json.loads(path.read_text("utf-8"))["text"]
        for path in (folder / "evals/results/generations").glob("*/*.json")
    ]
    assert sum("new saw a;b" in text for text in texts) == 1
    assert sum("old saw a;b" in text for text in texts) == 1
    assert len(texts) == 3
    assert len(list((folder / "evals/results/agent").glob("*.json"))) == 3, "a log for each"
    for report in (done.out, again.out):
        assert "against no skill" in report
        assert "against old version" in report


@needs_inspect
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("name: CSV Tidy\ndescription: Tidies.", "a name has at most 64 characters"),
        (f"name: csv-tidy\ndescription: {'tidy ' * 300}", "1 to 1,024 characters"),
    ],
)
def test_a_skill_that_agents_cannot_be_offered_is_refused_before_anything_is_paid(
    folder: Path, run: Callable[..., Answer], fields: str, words: str
) -> None:
    name = fields.split("\n")[0].removeprefix("name: ")
    write(folder, {"skills/csv-tidy/SKILL.md": f"---\n{fields}\n---\nTidy.\n"})
    write(folder, {"evals/csv-tidy.yaml": CASES.replace("csv-tidy", name, 1)})
    with FakeLlm() as server:
        done = run(server.openai_url)
        assert not server.log.calls
    assert done.code == 2
    assert words in done.err


@pytest.mark.skipif(find_spec("inspect_ai") is not None, reason="inspect_ai is installed")
def test_a_sandbox_without_the_extra_names_it(run: Callable[..., Answer]) -> None:
    with FakeLlm() as server:
        done = run(server.openai_url)
    assert done.code == 2
    assert "eval-agent" in done.err
