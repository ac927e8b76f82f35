"""GitHub: each warning is one command that nothing can break out of; at most ten."""

from __future__ import annotations

import re
from typing import Any

from skillyard.evals.report import render
from skillyard.evals.report.render import MAX_ANNOTATIONS
from skillyard.evals.report.report import build_report
from tests.evals.report import making
from tests.evals.report.making import CHANGES, HOSTILE, every, hostile, small
from tests.tables import for_each

COMMAND = re.compile(r"::warning title=[^:,\r\n]*::[^\r\n]*")


def workflow_warnings(envelopes: Any, **arguments: Any) -> str:
    return render.workflow_warnings(build_report(envelopes, **arguments))


def test_regressions_come_first_then_what_is_worse_then_findings() -> None:
    written = workflow_warnings(every(), changes=CHANGES).splitlines()
    assert [line.split("::")[1] for line in written] == [
        "warning title=L6 regression",
        "warning title=Too many errors to rely on the rates",
        "warning title=log-triage",
        "warning title=release-notes",
    ]
    assert "(11 %25)" in written[1]
    assert written[3].endswith("::▼ worse, −0.62 (−1.00 to −0.24), −0.50 at prompt 3, $0.64, "
                               "→ it makes answers worse: rewrite it")  # fmt: skip


def test_what_was_not_compared_and_what_cannot_be_told_are_warnings() -> None:
    changes = [
        {"eval_type": "activation", "entity": "_overall", "status": "not compared",
         "message": "there is no baseline yet"},
        {"eval_type": "size_impact", "entity": "a", "measure": "x", "status": "cannot tell"},
        {"eval_type": "size_impact", "entity": "b", "measure": "x", "status": "cannot tell"},
    ]  # fmt: skip
    written = workflow_warnings([making.activation()], changes=changes).splitlines()
    assert written[:2] == [
        "::warning title=L3 not compared::_overall: there is no baseline yet",
        "::warning title=L6 cannot tell::too few cases for 2 figures",
    ]


def test_there_is_no_warning_where_nothing_is_wrong() -> None:
    envelope = making.effectiveness()
    for entity in envelope["summary"].values():
        entity["comparisons"]["enhanced/baseline"]["word"] = "better"
    assert workflow_warnings([envelope]) == ""


def test_of_a_stand_in_only_that_it_is_one_is_told() -> None:
    envelopes = [making.effectiveness(backend="fake"), making.size_impact(backend="fake")]
    (only,) = workflow_warnings(envelopes).splitlines()
    assert "stand-in server" in only


@for_each("text", HOSTILE)
def test_no_text_breaks_out_of_its_command(text: str) -> None:
    envelopes = [hostile(text, envelope) for envelope in small()]
    changes = [{"entity": text, "message": text, "status": "regression"}]
    written = workflow_warnings(envelopes, changes=changes)
    assert written.endswith("\n")
    lines = written[:-1].split("\n")
    assert len(lines) >= 2
    assert [line for line in lines if COMMAND.fullmatch(line) is None] == []
    assert "%0A" not in written.replace("%250A", "")


def test_the_tenth_warning_says_how_many_there_are_besides() -> None:
    changes = [
        {"entity": f"skill-{n:02d}", "message": "fell", "status": "regression"} for n in range(30)
    ]
    written = workflow_warnings([making.effectiveness()], changes=changes).splitlines()
    assert len(written) == MAX_ANNOTATIONS
    assert written[-1] == "::warning title=More::22 more warnings are in the report"
