"""``eval report``: what it prints, and which results it takes; comparisons of two runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillyard.evals.storage import Entries
from tests.cli.conftest import Answer, Run
from tests.evals.end_to_end.making import Project, project
from tests.evals.report import making
from tests.evals.report.making import SKILLS

Report = Callable[..., Answer]


@pytest.fixture
def kitchen(tmp_path: Path) -> Project:
    return project(tmp_path)


@pytest.fixture
def report(kitchen: Project, run: Run) -> Report:
    """``report(…)`` with the folders of the project."""

    def call(*given: str) -> Answer:
        folders = ("--evals-dir", "evals", "--results-dir", str(kitchen.results))
        return run("eval", "report", *folders, *given)

    return call


def store(kitchen: Project, envelope: dict[str, Any], **meta: Any) -> str:
    """Write results as a run does, and return their path."""
    envelope = {**envelope, "meta": {**envelope["meta"], **meta}}
    kitchen.results.mkdir(parents=True, exist_ok=True)
    name = f"{envelope['meta']['eval_type']}_{envelope['meta']['run_id']}.json"
    (kitchen.results / name).write_text(json.dumps(envelope), "utf-8")
    return str(kitchen.results / name)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_report_prints_a_line_a_skill_and_writes_two_pages(
    kitchen: Project, report: Report
) -> None:
    store(kitchen, making.effectiveness())
    answer = report("--out", "page.html")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[-1] == "page.html  written"
    assert [line.split()[0] for line in lines[2:10]] == sorted(SKILLS)
    assert 'href="page.cases.html"' in Path("page.html").read_text("utf-8")
    assert 'href="page.html"' in Path("page.cases.html").read_text("utf-8")


def test_the_text_of_answers_stands_on_the_page_of_cases(kitchen: Project, report: Report) -> None:
    envelope = making.effectiveness(prompts=1)
    store(kitchen, envelope)
    path = envelope["cases"][0]["generations"]["enhanced"]
    entry = {
        "key": Path(path).stem, "text": "An answer of its own", "stop_reason": "end", "cost": 0.0,
        "usage": {"input_tokens": 1, "output_tokens": 1}, "sdk": "", "fake": False,
    }  # fmt: skip
    Entries(str(kitchen.results)).write(path, entry)
    assert report("--out", "page.html").code == 0
    assert "An answer of its own" not in Path("page.html").read_text("utf-8")
    assert "An answer of its own" in Path("page.cases.html").read_text("utf-8")


def test_a_stand_in_replaces_no_real_result(kitchen: Project, report: Report) -> None:
    real = store(kitchen, making.activation(), timestamp="2026-01-01T00:00:00Z")
    fake = store(
        kitchen, making.activation(), run_id="b", backend="fake", timestamp="2026-02-02T00:00:00Z"
    )
    assert "stand-in" not in report("--format", "text").out
    named = report("--format", "text", fake).out
    assert named.startswith("Made by a stand-in server: says nothing about any skill.")
    titles = [line for line in named.splitlines() if line.startswith("L3 ")]
    assert titles == [
        "L3 How often each skill fires (stand-in)", "L3 Picked in place of others (stand-in)"
    ]  # fmt: skip
    Path(real).unlink()
    assert report("--format", "text").out == named


def test_two_runs_are_compared_with_one_another(kitchen: Project, run: Run) -> None:
    envelope = making.effectiveness(prompts=10)
    first = store(kitchen, envelope)
    for case in envelope["cases"]:
        if case["skill_name"] == "csv-cleaning" and case["improvement"] is not None:
            case["improvement"] -= 2
    second = store(kitchen, envelope, run_id="b", model="another")
    answer = run("eval", "compare", "--evals-dir", "evals", first, second, "--gate")
    assert answer.code == 1
    assert "`model` differs: 'claude-sonnet-4-6' before, 'another' now" in answer.err
    assert "▼ regression  enhanced/baseline: 0.91 before, -1.09 now" in answer.out
    (compared,) = run("eval", "compare", "--evals-dir", "evals", first, second, "--json").json[
        "compared"
    ]
    assert (compared["baseline"], compared["path"]) == (first, second)
    changes = {each["entity"]: each for each in compared["changes"]}
    assert changes["csv-cleaning"]["change"] == pytest.approx(-2)
    assert changes["git-bisect"]["status"] == "unchanged"


def test_only_two_results_of_one_type_can_be_compared(kitchen: Project, run: Run) -> None:
    first = store(kitchen, making.effectiveness(prompts=1))
    other = store(kitchen, making.activation())
    for paths, says in (
        ((first,), "name two results files"),
        ((first, other), "of the same type"),
        ((first, first, first), "name two results files"),
        ((first, first, "--save"), "leave out RESULTS"),
    ):
        answer = run("eval", "compare", "--evals-dir", "evals", *paths)
        assert answer.code == 2
        assert says in answer.err


def test_json_names_the_files(kitchen: Project, report: Report) -> None:
    store(kitchen, making.activation())
    assert report("--json", "--out", "page.html").json == {
        "schema": "skillyard.eval-report/1",
        "out": "page.html",
        "cases": "page.cases.html",
    }
    assert report("--json", "--format", "md", "--out", "page.md").json["cases"] is None
