"""Reports of what the rooms that make figures really write, not only of what is made here."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard.evals.layers.activation import activation_artifacts, activation_summary
from skillyard.evals.layers.confusion import confusion_artifacts, confusion_summary
from skillyard.evals.layers.judge_agreement import agreement_of
from skillyard.evals.regression.changes import Change
from skillyard.evals.report import github, junit, markdown
from tests.evals.report import making
from tests.evals.report.test_html import faults, flat, page_of


def analysed(envelope: dict[str, Any]) -> dict[str, Any]:
    """The envelope with the summary and artifacts that the statistics make of its cases."""
    pytest.importorskip("scipy")
    from skillyard.evals.statistics.analysis import analyse_pairs

    cases = [{"more_judges": {}, **case} for case in envelope["cases"]]
    summary, artifacts = analyse_pairs(cases, seed=42)
    artifacts["agreement"] |= agreement_of(cases)
    return {**envelope, "cases": cases, "summary": summary, "artifacts": artifacts}


def test_the_statistics_of_pairs_are_shown_whole() -> None:
    page = page_of([analysed(making.size_impact())])
    assert faults(page) == []
    text = flat(page.text())
    titles = [flat("".join(e.text)) for e in page.all("title")]
    assert "Mean score against tokens injected" in titles
    assert "Effect over no skill against tokens injected" in titles
    assert sum(title.endswith("mean score against tokens") for title in titles) == 8
    for wanted in (
        "Length of the answers, full skill against no skill",
        "decided judgements (",
        "Judged again with the answers swapped",
        "One judge, and no labels by people",
        "Strength of the arms (Bradley–Terry)",
        "The full skill scores",
        "Full skill against none.",
    ):
        assert wanted in text


def test_two_arms_have_no_strengths_and_no_small_frontier() -> None:
    page = page_of([analysed(making.effectiveness())])
    assert "Bradley–Terry" not in page.text()
    assert len(page.all("article", class_="card")) == 8


def test_rates_matrices_and_findings_are_shown_as_they_are_counted() -> None:
    fired, taken = making.activation(), making.confusion()
    fired["summary"] = activation_summary(fired["cases"])
    index = {"skills": 24, "characters": 2_914, "input_tokens": None}
    fired["artifacts"] = activation_artifacts(fired["cases"], index)
    groups = {"data": ("csv-cleaning", "sql-migrations"),
              "work on code": ("git-bisect", "unit-test-repair", "incident-review",
                               "release-notes")}  # fmt: skip
    taken["summary"] = confusion_summary(taken["cases"], groups)
    taken["artifacts"] = confusion_artifacts(taken["cases"], groups)
    page = page_of([fired, taken])
    assert faults(page) == []
    text = flat(page.text())
    assert "Fired for 80 % of the 5 requests that need it" in text
    assert "The router saw an index of 24 skills, 2,914 characters." in text
    assert "The right skill for 0 % of 2 requests" in text
    assert "requests for git-bisect go to unit-test-repair" in text
    assert "work on code: expected skill by picked skill" in [
        flat("".join(e.text)) for e in page.all("title")
    ]


def test_changes_are_told_as_the_comparison_makes_them() -> None:
    figures = (0.9, 0.1, -0.8, 0.5, -1.2, -0.4, 0.01)
    changes = [
        Change("size_impact", "pdf", "full/baseline", "regression", *figures),
        Change("size_impact", "pdf", "full/summary", "unchanged", 0.1, 0.1, 0.0, 0.5),
        Change("size_impact", "csv", "", "gone"),
    ]
    lines = [change.to_dict() for change in changes]
    page = page_of([making.size_impact(prompts=1)], changes=lines)
    told, same = (row for row in page.all("table", class_="stack") if "Change" in "".join(row.text))
    assert "full/baseline: 0.9 before, 0.1 now (-0.8" in "".join(told.text)
    assert "in the baseline, and not in the results any more" in "".join(told.text)
    assert "unchanged" in "".join(same.text)
    assert "1\u00a0measure unchanged or not compared." in markdown.render([], changes=lines)
    assert 'name="pdf full/baseline"' in junit.render([], changes=lines)
    assert "::warning title=L6 regression::pdf:" in github.workflow_warnings([], changes=lines)
