"""Reports as HTML and Markdown, each from a template, and as JUnit XML.

All text of models, skills, judges and servers is cleaned by
:func:`skillyard.evals.report.words.visible` and escaped in one place for each format: by the
template's autoescape in HTML, by ElementTree in XML, and in Markdown by the filters ``code`` and
``prose``, so that GitHub makes no link or mention of it. The pages need no script and no network:
their content security policy forbids scripts, pictures and connections, and names their one style
sheet by hash.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.io.sha256 import sha256
from skillyard.evals.report.cases import CaseGroup, pair_title
from skillyard.evals.report.layer_view import (
    cell_text,
    errors_of,
    group_of,
    is_pair,
    outcome,
)
from skillyard.evals.report.report import Report
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import UNKNOWN, many, visible, visible_line

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "skillyard.evals.report"
MARKDOWN_LIMIT = 65_536
"""Most characters of a comment or a description on GitHub (its error message names the figure)."""
_LETTERS = 200
_LONGEST = 2_000
# Names, issues and pull requests, which GitHub links and notifies wherever they stand in text; then
# what begins mark-up inside a line, a colon where an address or an emoji could follow it, the dot
# that makes an address of "www", and what a line may not begin with.
_ACTIVE = re.compile(
    r"(?P<linked>[@#](?=\w)|GH-(?=\d))"
    r"|[\\`*_\[\]<>&|~$]|:(?=[^\s\d])|(?<=www)\.|^[-+=#](?=\s|$)|"
    + "|".join(rf"(?<=^\d{{{digits}}})[.)]" for digits in range(1, 10)),
    re.IGNORECASE,
)
_PART = "\x00"
"""Stands between the parts of the Markdown template; no cleaned text has it."""


class CasePart(NamedTuple):
    """The cases of one layer."""

    title: str
    groups: Sequence[CaseGroup]


def html(report: Report, *, cases_link: str = "") -> str:
    """Return the report as one HTML document, the same bytes for the same input.

    ``cases_link`` is the address of the page of cases; empty where there is none. Raises
    InvalidInput if jinja2 is not installed.
    """
    return _page("report.html", report=report, cases_link=cases_link)


def html_cases(report: Report, parts: Sequence[CasePart], *, report_link: str) -> str:
    """Return the page of cases: every answer in full, both of a pair side by side."""
    return _page("cases.html", report=report, parts_of_cases=tuple(parts), report_link=report_link)


def _page(template: str, **values: object) -> str:
    style = files(_PACKAGE).joinpath("templates", "report.css").read_text(encoding="utf-8")
    style = style.replace("\r\n", "\n")
    digest = b64encode(sha256(style.encode("utf-8"))).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return environment().get_template(template).render(style=style, policy=policy, **values)


@cache
def environment() -> Environment:
    """Return what the templates are rendered with; raises InvalidInput without jinja2."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        command = install_command("eval")
        raise InvalidInput(f"the reports need jinja2: {command}") from None
    environment = Environment(
        loader=PackageLoader(_PACKAGE, "templates"),
        autoescape=lambda name: not (name or "").endswith(".md"),
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["cell_text"] = cell_text
    environment.filters.update(cell=cell_text, code=code, prose=prose)
    return environment


def _finalize(value: object) -> object:
    """Pass the values that a page may show: markup, cleaned texts and whole numbers.

    The views format figures as text, so a float or None here is a programming error.
    """
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return visible(value)
    if hasattr(value, "__html__") or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise TypeError(f"the page shows texts and whole numbers, not {type(value).__name__}")


def code(text: str, limit: int = _LETTERS) -> str:
    """Return a text as an inline code span of Markdown; a dash for an empty text."""
    line = visible_line(text, limit)
    if not line:
        return UNKNOWN
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def prose(text: str, limit: int = 1_000) -> str:
    """Return a sentence in which nothing is mark-up, a link, a mention or a reference."""
    return _ACTIVE.sub(
        lambda match: f"`{match[0]}`" if match["linked"] else f"\\{match[0]}",
        visible_line(text, limit),
    )


def markdown(report: Report, *, limit: int = MARKDOWN_LIMIT) -> str:
    """Return the report as Markdown, at most ``limit`` characters of it.

    If it would be longer, whole parts are left out from the end, and a last line gives their
    number.
    """
    from markupsafe import Markup

    text = environment().get_template("report.md").render(report=report, part=Markup(_PART))
    parts = [stripped for part in text.split(_PART) if (stripped := part.strip())]
    note = "*{} left out here: the whole report is in the HTML file.*"
    fitting: list[str] = []
    room = limit - len(note) - 20
    for place, part in enumerate(parts):
        if len(part) + 2 > room:
            fitting.append(note.format(many(len(parts) - place, "part")))
            break
        fitting.append(part)
        room -= len(part) + 2
    return ("\n\n".join(fitting) + "\n")[:limit]


def junit(report: Report) -> str:
    """Return the report as JUnit XML: a suite for each run, and one for the baseline.

    A wrongly decided case of L3 is a failure, and so is a regression against a baseline. A case of
    L5 or L6 is a measurement: it passes when it was scored. Errors are errors. Cases that were
    skipped or have no verdict are skipped, and so is what could not be compared.
    """
    root = Element("testsuites", name="skillyard")
    for run in (section.run for section in report.sections):
        meta = run.at("meta")
        time = f"{max(0.0, meta.number('duration_s') or 0.0):.3f}"
        suite = SubElement(root, "testsuite", name=_line(run.name), time=time)
        if timestamp := meta.text("timestamp"):
            suite.set("timestamp", _line(timestamp))
        known = [(name, meta.text(name)) for name in _PROPERTIES if meta.text(name)]
        properties = SubElement(suite, "properties") if known else suite
        for name, text in known:
            SubElement(properties, "property", name=name, value=_line(text))
        for place, case in enumerate(run.cases, 1):
            _add_case(suite, run.layer.name, case, place)
    if report.changes:
        suite = SubElement(root, "testsuite", name="baseline", time="0.000")
        for change in report.changes:
            _add_change(suite, change)
    for each in (*root, root):
        for name, tag in _COUNTED.items():
            each.set(name, str(len(list(each.iter(tag)))))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


_COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
_PROPERTIES = ("backend", "model", "judge_model", "router", "run_id", "engine_version")


def _add_test(
    suite: Element, group: str, name: str, tag: str = "", message: str = "", kind: str = ""
) -> None:
    """Add a test; ``tag`` is ``failure``, ``error`` or ``skipped``, and empty where it passed."""
    test = SubElement(suite, "testcase", classname=_line(f"skillyard.{group}"), name=_line(name))
    if tag:
        result = SubElement(test, tag, message=_line(message))
        if kind:
            result.set("type", _line(kind))


def _add_case(suite: Element, eval_type: str, case: Json, place: int) -> None:
    state, why = outcome(case)
    name = case.text("id") or f"case {place}"
    if is_pair(case) and case.count("prompt_index") is not None:
        name = pair_title(case)
    elif (run := case.count("run_index")) is not None and "user_prompt" in case:
        name = f"{name} run {run + 1}"
    tag, kind = "", ""
    if state == "failed":
        expected, picked = (", ".join(case.names(key)) for key in ("expected_skills", "picked"))
        why = f"expected {expected or 'nothing'}, picked {picked or 'nothing'}"
        why, tag, kind = f"{why}, for: {case.text('user_prompt')}", "failure", "wrong_pick"
    elif state == "error":
        tag, kind = "error", errors_of(case)[0][0]
    elif state in ("skipped", "unscored"):
        tag = "skipped"
    _add_test(suite, f"{eval_type}.{group_of(case)}", name, tag, why, kind)


def _add_change(suite: Element, change: Json) -> None:
    status, message = change.text("status"), change.text("message")
    group = f"{change.text('eval_type')}.baseline"
    name = f"{change.text('entity')} {change.text('measure')}".strip()
    if status == "regression":
        _add_test(suite, group, name, "failure", message, "regression")
    else:
        tag = "skipped" if status in ("not compared", "cannot tell") else ""
        _add_test(suite, group, name, tag, message)


def _line(text: str) -> str:
    return visible_line(text, _LONGEST)
