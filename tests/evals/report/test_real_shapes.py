"""Reports of what the rooms that make figures really write, not only of what is made here."""

from __future__ import annotations

from typing import Any

import pytest

from skillyard.evals.layers.activation import activation_summary, confusion_of
from skillyard.evals.regression.changes import MeasureChange
from skillyard.evals.report import render
from skillyard.evals.report.report import build_report
from tests.evals.report import making
from tests.evals.report.test_html import faults, flat, page_of


def analysed(envelope: dict[str, Any]) -> dict[str, Any]:
    """The envelope with the summary and artifacts that the statistics make of its cases."""
    pytest.importorskip("numpy")
    from skillyard.evals.statistics.analysis import analyse_pairs

    summary, artifacts = analyse_pairs(envelope["cases"])
    return {**envelope, "summary": summary, "artifacts": artifacts}


def test_the_statistics_of_pairs_are_shown_whole() -> None:
    page = page_of([analysed(making.size_impact())])
    assert faults(page) == []
    text = flat(page.text())
    for wanted in (
        "pairs won by their place",
        "pairs won by one side in both orders",
        "The full skill scores",
        "8 skills as a whole, full skill against no skill: +0.44 points",
    ):
        assert wanted in text


def test_the_f1_of_the_terminal_is_the_one_of_the_reports() -> None:
    fired = making.activation()
    fired["summary"] = activation_summary(fired["cases"])
    overall = fired["summary"]["_overall"]
    assert overall["f1"] != overall["mean"], "or the two could not be confused"
    report = build_report([fired])
    assert [each for each in report.pooled if f"F1 {overall['f1']:.2f}," in each]
    assert f"F1 {overall['f1']:.2f}," in render.markdown(report)


def test_rates_and_confusion_are_shown_as_they_are_counted() -> None:
    fired = making.activation()
    fired["summary"] = activation_summary(fired["cases"])
    index = {"skills": 24, "characters": 2_914, "input_tokens": None}
    fired["artifacts"] = {"index": index, "confusion": confusion_of(fired["cases"])}
    page = page_of([fired])
    assert faults(page) == []
    text = flat(page.text())
    assert "Fired for 80 % of the 5 requests that need it" in text
    assert "The router saw an index of 24 skills, 2,914 characters." in text
    assert "git-bisect unit-test-repair 1 of 1" in text


def test_changes_are_told_as_the_comparison_makes_them() -> None:
    figures = (0.9, 0.1, -0.8, 0.5, -1.2, -0.4, 0.01)
    changes = [
        MeasureChange("size_impact", "pdf", "full/baseline", "regression", *figures),
        MeasureChange("size_impact", "pdf", "full/summary", "unchanged", 0.1, 0.1, 0.0, 0.5),
        MeasureChange("size_impact", "csv", "", "gone"),
        MeasureChange("size_impact", "csv", "full/summary", "cannot tell", note="1 value before"),
    ]
    lines = [change.to_dict() for change in changes]
    report = build_report([making.size_impact(prompts=1)], changes=lines)
    assert [row.name for row in report.changed.rows] == ["pdf", "csv"]
    text = flat(page_of([making.size_impact(prompts=1)], changes=lines).text())
    assert "▼ regression full/baseline: 0.9 before, 0.1 now (-0.8" in text
    assert "in the baseline, and not in the results any more" in text
    assert "1 measure unchanged. Cannot tell for 1 measure: too few cases." in text
    bare = build_report([], changes=lines)
    assert "1 measure unchanged. Cannot tell for 1 measure: too few cases." in render.markdown(bare)
    assert 'name="pdf full/baseline"' in render.junit(bare)
