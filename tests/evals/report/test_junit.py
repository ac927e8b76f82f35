"""JUnit: XML whatever the texts, and states counted right."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from skillyard.evals.report.render import junit
from skillyard.evals.report.report import build_report
from skillyard.evals.report.values import visible_line
from tests.evals.report import making
from tests.evals.report.making import CHANGES, HOSTILE, every, hostile
from tests.tables import for_each

COUNTED = ("tests", "failures", "errors", "skipped")


def render(envelopes: Any, **arguments: Any) -> str:
    return junit(build_report(envelopes, **arguments))


def test_every_suite_counts_its_own_and_the_whole_counts_all() -> None:
    root = ElementTree.fromstring(render(every(), changes=CHANGES))
    counted = [[suite.attrib[key] for key in ("name", *COUNTED)] for suite in [*root, root]]
    assert counted == [
        ["L5 effectiveness", "16", "0", "1", "1"],
        ["L6 size-impact", "48", "0", "1", "1"],
        ["L3 activation", "9", "2", "1", "0"],
        ["baseline", "3", "1", "0", "0"],
        ["skillyard", "76", "3", "3", "2"],
    ]
    pairs, routed = next(root[0].iter("testcase")), next(root[2].iter("testcase"))
    assert pairs.attrib["name"] == "prompt 1, run 1: with the skill against no skill"
    assert (routed.attrib["classname"], routed.attrib["name"]) == (
        "skillyard.activation.plain", "act-000 run 1",
    )  # fmt: skip
    for suite in root:
        called = [(c.attrib["classname"], c.attrib["name"]) for c in suite.iter("testcase")]
        assert len(called) == len(set(called))


def test_only_wrong_picks_and_regressions_are_failures() -> None:
    root = ElementTree.fromstring(render(every(), changes=CHANGES))
    by_suite = {s.attrib["name"]: [f.attrib["type"] for f in s.iter("failure")] for s in root}
    assert by_suite == {
        "L3 activation": ["wrong_pick"] * 2,
        "L5 effectiveness": [],
        "L6 size-impact": [],
        "baseline": ["regression"],
    }


def test_what_was_not_compared_and_what_cannot_be_told_are_skipped() -> None:
    changes = [
        {"eval_type": "activation", "entity": "_overall", "status": "not compared",
         "message": "there is no baseline yet"},
        {"eval_type": "size_impact", "entity": "a", "measure": "x", "status": "cannot tell",
         "message": "x: cannot tell"},
    ]  # fmt: skip
    root = ElementTree.fromstring(render([making.activation()], changes=changes))
    (suite,) = (suite for suite in root if suite.attrib["name"] == "baseline")
    assert suite.attrib["skipped"] == "2"
    messages = [skipped.attrib["message"] for skipped in suite.iter("skipped")]
    assert messages == ["there is no baseline yet", "x: cannot tell"]


def test_a_stand_in_is_named_in_the_properties() -> None:
    root = ElementTree.fromstring(render(every(backend="fake")))
    for suite in root:
        properties = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
        assert properties["backend"] == "fake"


@for_each("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    envelopes = [hostile(text, envelope) for envelope in every(prompts=1)]
    changes = [{"entity": text, "message": text, "status": "regression", "eval_type": text}]
    root = ElementTree.fromstring(render(envelopes, changes=changes))
    assert {e.tag for e in root.iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "error",
        "skipped",
    }  # fmt: skip
    names = {case.attrib["name"] for case in root.iter("testcase")}
    assert any(name.startswith(visible_line(text)[:100]) for name in names)


def test_partial_envelopes_are_suites_all_the_same() -> None:
    partial: list[dict[str, Any]] = [
        {},
        {"meta": {"eval_type": "activation"}},
        {"cases": [{}, 3, None], "meta": {"eval_type": "effectiveness"}},
    ]
    root = ElementTree.fromstring(render(partial))
    assert [suite.attrib["tests"] for suite in root] == ["1", "0"]
    assert root.attrib["skipped"] == "1"
    assert ElementTree.fromstring(render([])).attrib["tests"] == "0"
