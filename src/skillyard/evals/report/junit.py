"""The JUnit XML report: one suite for each run.

A wrongly decided case of L3 or L4 is a failure, and so is a regression against a baseline. A case
of L5 or L6 is a measurement: it passes when it was scored. Errors are errors. Cases that were
skipped or have no verdict are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from skillyard.evals.report.cases import is_pair, pair_title
from skillyard.evals.report.report import Report
from skillyard.evals.report.results import Results, errors_of, expected_skills, outcome
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import visible_line

_PROPERTIES = ("backend", "model", "judge_model", "router", "run_id", "engine_version")
_LONGEST = 2_000
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render(report: Report) -> str:
    """Return the XML document.

    Every layer is a suite; the changes against a baseline are a suite of their own, ``baseline``,
    in which what could not be compared or has too few cases is skipped.
    """
    root = Element("testsuites", name="skillyard")
    for section in report.sections:
        root.append(_suite(section.run))
    if report.changes:
        gate = SubElement(root, "testsuite", name="baseline", time="0.000")
        for change in report.changes:
            test = _test(
                gate,
                f"skillyard.{change.eval_type}.baseline",
                f"{change.entity} {change.measure}".strip(),
            )
            if change.status == "regression":
                _result(test, "failure", change.message, "regression")
            elif change.status in ("not compared", "cannot tell"):
                _result(test, "skipped", change.message)
    for suite in root:
        _count(suite, [suite])
    _count(root, root)
    root.set("time", f"{sum(float(suite.get('time', 0)) for suite in root):.3f}")
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _count(element: Element, suites: Iterable[Element]) -> None:
    """Write how many tests there are, and how many of each result."""
    tests = [test for suite in suites for test in suite.iter("testcase")]
    element.set("tests", str(len(tests)))
    for name, tag in _COUNTED.items():
        element.set(name, str(sum(test.find(tag) is not None for test in tests)))


def _suite(run: Results) -> Element:
    meta = run.at("meta")
    suite = Element("testsuite", name=_line(run.name))
    suite.set("time", f"{max(0.0, meta.number('duration_s') or 0.0):.3f}")
    if timestamp := meta.text("timestamp"):
        suite.set("timestamp", _line(timestamp))
    known = {name: _line(meta.text(name)) for name in _PROPERTIES if meta.text(name)}
    properties = SubElement(suite, "properties") if known else suite
    for name, value in known.items():
        SubElement(properties, "property", name=name, value=value)
    for place, case in enumerate(run.cases, 1):
        _add_case(suite, run.layer.name, case, place)
    return suite


def _test(suite: Element, group: str, name: str) -> Element:
    return SubElement(suite, "testcase", classname=_line(group), name=_line(name))


def _result(test: Element, tag: str, message: str, kind: str = "") -> None:
    result = SubElement(test, tag, message=_line(message))
    if kind:
        result.set("type", _line(kind))


def _line(text: str) -> str:
    return visible_line(text, _LONGEST)


def _add_case(suite: Element, eval_type: str, case: Json, place: int) -> None:
    state, why = outcome(case)
    name = case.text("id") or f"case {place}"
    if is_pair(case) and case.count("prompt_index") is not None:
        name = pair_title(case)
    elif (run := case.count("run_index")) is not None and "user_prompt" in case:
        name = f"{name} run {run + 1}"
    groups = map(case.text, ("skill_name", "group", "category"))
    test = _test(suite, f"skillyard.{eval_type}.{next(filter(None, groups), 'case')}", name)
    if state == "failed":
        _result(test, "failure", _wrong_pick(case), "wrong_pick")
    elif state == "error":
        _result(test, "error", why, errors_of(case)[0][0])
    elif state in ("skipped", "unscored"):
        _result(test, "skipped", why)


def _wrong_pick(case: Json) -> str:
    expected, picked = expected_skills(case), case.names("picked")
    return (
        f"expected {', '.join(expected) or 'nothing'}, picked {', '.join(picked) or 'nothing'}, "
        f"for: {case.text('user_prompt')}"
    )
