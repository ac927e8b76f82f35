"""Two runs side by side: both estimates, the paired change, both answers in one case."""

from __future__ import annotations

import copy
from typing import Any

from skillyard.evals.config_values import Regression
from skillyard.evals.layers.registry import LAYERS
from skillyard.evals.regression.changes import changes_of_measures
from skillyard.evals.report.cases import Texts
from skillyard.evals.report.html import CasePart, render, render_cases
from skillyard.evals.report.layer_view import cell_text
from skillyard.evals.report.report import Report
from skillyard.evals.report.side_by_side import build_side_by_side, cases_side_by_side
from tests.evals.report import making
from tests.evals.report.making_head import SKILLS
from tests.evals.report.test_html import faults, flat
from tests.serving.web.page_parser import read


def both(first: Any, second: Any) -> Report:
    layer = LAYERS[first["meta"]["eval_type"]].load()
    measures = [tuple(layer.measures(each["cases"], Regression())) for each in (first, second)]
    changes = changes_of_measures(first["meta"]["eval_type"], *measures)
    return build_side_by_side(first, second, [change.to_dict() for change in changes])


def fallen() -> tuple[dict[str, Any], dict[str, Any]]:
    """A run of ten prompts a skill, and one in which csv-cleaning helps no more."""
    first = making.effectiveness(prompts=10)
    second = copy.deepcopy(first)
    second["meta"]["run_id"] = "later"
    for case in second["cases"]:
        if case["skill_name"] == "csv-cleaning" and case["improvement"] is not None:
            case["improvement"] -= 2
    second["summary"]["csv-cleaning"]["comparisons"]["enhanced/baseline"]["mean"] -= 2
    return first, second


def test_each_skill_has_both_estimates_and_the_paired_change() -> None:
    first, second = fallen()
    table = both(first, second).skills
    assert table.columns == ("Skill", "Measure", "A", "B", "Change", "Verdict")
    texts = {row.name: [cell_text(cell) for cell in row.cells] for row in table.rows}
    assert set(texts) == set(SKILLS)
    _, before, after, change, verdict = texts["csv-cleaning"]
    estimates = [
        each["summary"]["csv-cleaning"]["comparisons"]["enhanced/baseline"]["mean"]
        for each in (first, second)
    ]
    assert before.startswith(f"+{estimates[0]:.2f} (")
    assert after.startswith(f"−{-estimates[1]:.2f} (")
    assert change.startswith("−2.00 (")
    assert verdict == "▼ regression"
    assert texts["git-bisect"][3].startswith("0.00")
    assert texts["git-bisect"][4] == "= unchanged"


def test_runs_that_differ_in_more_than_their_skills_say_so() -> None:
    first, second = fallen()
    assert [each.kind for each in both(first, second).banners] == []
    second["meta"]["model"] = "another"
    (banner,) = both(first, second).banners
    assert banner.lines == ("model: claude-sonnet-4-6 in A, another in B.",)


def test_both_answers_stand_in_one_case() -> None:
    first, second = fallen()
    texts = [
        Texts(lambda path, run=run: f"{run} {'none' if 'baseline' in path else 'skill'}", 10)  # type: ignore[misc]
        for run in ("first", "second")
    ]
    groups = cases_side_by_side(first, second, texts)
    case = groups[0].cases[0]
    assert [(side.name, side.text) for side in case.sides] == [
        ("A: with the skill", "first skill"),
        ("B: with the skill", "second skill"),
        ("A: no skill", "first none"),
        ("B: no skill", "second none"),
    ]
    report = both(first, second)
    page = read(render(report, cases_link="report.cases.html"))
    cases = read(render_cases(report, [CasePart("A and B", groups)], report_link="report.html"))
    assert faults(page) == faults(cases) == []
    ids = {e.attributes["id"] for e in cases.elements if "id" in e.attributes}
    links = {each.partition("#")[2] for each in page.addresses() if "#case-" in each}
    assert links
    assert links <= ids


def test_a_case_that_only_one_run_has_stands_alone() -> None:
    first, second = fallen()
    del first["cases"][0], second["cases"][1]
    groups = cases_side_by_side(first, second, [Texts(lambda path: "text", 1)] * 2)
    names = [[side.name[:2] for side in case.sides] for group in groups for case in group.cases]
    assert names.count(["A:", "A:"]) == names.count(["B:", "B:"]) == 1


def test_routers_are_compared_by_what_they_picked() -> None:
    first, second = making.activation(), making.activation()
    second["cases"][0].update(picked=["csv-cleaning"], passed=False)
    groups = cases_side_by_side(first, second, [Texts(lambda path: None, 1)] * 2)
    sides = [[side.name for side in case.sides] for group in groups for case in group.cases]
    assert ["A: picked pdf-form-filling", "B: picked csv-cleaning"] in sides
    rows = both(first, second).skills.rows
    assert {(row.name, row.cells[0]) for row in rows} >= {("pdf-form-filling", "tpr")}


def test_a_stand_in_is_named_on_its_side() -> None:
    first, second = fallen()
    second["meta"]["backend"] = "fake"
    report = both(first, second)
    assert report.banners[0].kind == "fake"
    for row in report.skills.rows:
        assert "(stand-in)" not in cell_text(row.cells[1])
        assert "(stand-in)" in cell_text(row.cells[2])
    assert "stand-in" in flat(read(render(report)).text())
