"""The JUnit XML report: one suite for each run.

A wrongly decided case of L3 or L4 is a failure, and so is a regression against a baseline. A case
of L5 or L6 is a measurement: it passes when it was scored. Errors are errors. Cases that were
skipped or have no verdict are skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skillyard.evals.report.changes import changes_of
from skillyard.evals.report.layers import layer_of, ordered
from skillyard.evals.report.markup import visible_line, xml_text
from skillyard.evals.report.outcomes import errors_of, outcome
from skillyard.evals.report.values import at, count, mapping, names, number, rows, word

__all__ = ["render"]

_PROPERTIES = ("backend", "model", "judge_model", "router", "run_id", "engine_version")
_LONGEST = 2_000


@dataclass(slots=True)
class _Suite:
    name: str
    timestamp: str = ""
    time: float = 0.0
    properties: list[tuple[str, str]] = field(default_factory=list)
    cases: list[str] = field(default_factory=list)
    failures: int = 0
    errors: int = 0
    skipped: int = 0

    def add(self, group: str, name: str, state: str, kind: str, message: str) -> None:
        """Add one test; ``state`` is ``passed``, ``failure``, ``error`` or ``skipped``."""
        head = f'    <testcase classname="{_line(group)}" name="{_line(name)}"'
        if state == "passed":
            self.cases.append(f"{head}/>")
            return
        self.failures += state == "failure"
        self.errors += state == "error"
        self.skipped += state == "skipped"
        typed = "" if state == "skipped" else f' type="{_line(kind)}"'
        inner = f'<{state}{typed} message="{_line(message)}"/>'
        self.cases.append(f"{head}>\n      {inner}\n    </testcase>")

    def xml(self) -> str:
        """Return the suite as an element."""
        time = f' timestamp="{_line(self.timestamp)}"' if self.timestamp else ""
        property_lines = [
            f'      <property name="{name}" value="{_line(value)}"/>'
            for name, value in self.properties
        ]
        properties = (
            ["    <properties>", *property_lines, "    </properties>"] if property_lines else []
        )
        head = (
            f'  <testsuite name="{_line(self.name)}" tests="{len(self.cases)}"'
            f' failures="{self.failures}" errors="{self.errors}" skipped="{self.skipped}"'
            f' time="{self.time:.3f}"{time}>'
        )
        return "\n".join([head, *properties, *self.cases, "  </testsuite>"])


def _line(text: str) -> str:
    return xml_text(visible_line(text, _LONGEST))


def render(
    envelopes: Sequence[Mapping[str, object]],
    *,
    changes: Sequence[Mapping[str, object]] = (),
) -> str:
    """Return the XML document; ``changes`` are the lines of a comparison with a baseline.

    Every envelope is a suite; the regressions are a suite of their own, ``baseline``.
    """
    suites = [_suite(mapping(envelope)) for envelope in ordered(map(mapping, envelopes))]
    change_lines = changes_of(changes)
    if change_lines:
        gate = _Suite("baseline")
        for each in change_lines:
            state = "failure" if each.regressed else "passed"
            group = f"skillyard.{each.eval_type}.baseline"
            gate.add(
                group, f"{each.entity} {each.measure}".strip(), state, "regression", each.message
            )
        suites.append(gate)
    totals = " ".join(
        f'{name}="{sum(figures)}"'
        for name, figures in (
            ("tests", [len(suite.cases) for suite in suites]),
            ("failures", [suite.failures for suite in suites]),
            ("errors", [suite.errors for suite in suites]),
            ("skipped", [suite.skipped for suite in suites]),
        )
    )
    total_time = sum(suite.time for suite in suites)
    head = f'<testsuites name="skillyard" {totals} time="{total_time:.3f}">'
    body = [suite.xml() for suite in suites]
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *body, "</testsuites>", ""])


def _suite(envelope: Mapping[str, object]) -> _Suite:
    layer = layer_of(envelope)
    meta = mapping(envelope.get("meta"))
    suite = _Suite(
        f"{layer.code} {layer.name}",
        word(meta.get("timestamp")),
        max(0.0, number(meta.get("duration_s")) or 0.0),
        [(name, word(meta.get(name))) for name in _PROPERTIES if word(meta.get(name))],
    )
    for place, case in enumerate(rows(envelope.get("cases")), 1):
        _add(suite, layer.eval_type, case, place)
    return suite


def _add(suite: _Suite, eval_type: str, case: Mapping[str, object], place: int) -> None:
    result = outcome(case)
    groups = (word(case.get(key)) for key in ("skill_name", "group", "category"))
    group = f"skillyard.{eval_type}.{next(filter(None, groups), 'case')}"
    run = count(case.get("run_index"))
    name = word(case.get("id")) or f"case {place}"
    if run is not None and "user_prompt" in case:  # the ids of pairs hold their run
        name = f"{name} run {run + 1}"
    if result.state == "failed":
        suite.add(group, name, "failure", "wrong_pick", _wrong_pick(case))
    elif result.state == "error":
        kind = errors_of(case)[0][0]
        suite.add(group, name, "error", kind, result.why)
    elif result.state in ("skipped", "unscored"):
        suite.add(group, name, "skipped", "", result.why)
    else:
        suite.add(group, name, "passed", "", "")


def _wrong_pick(case: Mapping[str, object]) -> str:
    one = word(case.get("expected_skill"))
    expected = names(case.get("expected_skills")) or ((one,) if one else ())
    if at(case, "should_activate") is False:
        expected = ()
    picked = names(case.get("picked"))
    return (
        f"expected {', '.join(expected) or 'nothing'}, picked {', '.join(picked) or 'nothing'}, "
        f"for: {word(case.get('user_prompt'))}"
    )
