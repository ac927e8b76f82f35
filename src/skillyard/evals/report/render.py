"""Reports as HTML and Markdown, each from a template, and as JUnit XML.

All text of models, skills, judges and servers is cleaned by
:func:`skillyard.evals.report.values.visible` and escaped in one place for each format: by the
template's autoescape in HTML, by ElementTree in XML, and in Markdown by the filter ``prose``, so
that GitHub makes no link or mention of it. The pages need no script and no network:
their content security policy forbids scripts, pictures and connections, and names their one style
sheet by hash.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from inspect import isfunction
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.io.files import sha256
from skillyard.evals.report import values
from skillyard.evals.report.report import PROOF, Report
from skillyard.evals.report.values import (
    Json,
    Results,
    errors_of,
    group_of,
    is_pair,
    outcome,
    pair_title,
    visible,
    visible_line,
)

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "skillyard.evals.report"
MARKDOWN_LIMIT = 65_536
"""Most characters of a comment or a description on GitHub (its error message names the figure)."""
MAX_CASES = 1_000
"""Most cases of one run that are shown."""
LETTERS = 8_000
"""Most characters that are shown of one text: a page of 300 pairs opens on a phone then."""
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
TextOf = Callable[[Results, str], str | None]
"""Gives the stored text at a path of a run; None where it is missing."""


def html(report: Report, *, cases_link: str = "") -> str:
    """Return the report as one HTML document, the same bytes for the same input.

    ``cases_link`` is the address of the page of cases; empty where there is none. Raises
    InvalidInput if jinja2 is not installed.
    """
    return _page("report.html", report=report, cases_link=cases_link)


def html_cases(report: Report, text_of: TextOf, *, report_link: str) -> str:
    """Return the page of cases: every answer in full, both of a pair side by side."""
    return _page("cases.html", report=report, text_of=text_of, report_link=report_link)


def _page(template: str, **names: object) -> str:
    style = files(_PACKAGE).joinpath("templates", "report.css").read_text(encoding="utf-8")
    style = style.replace("\r\n", "\n")
    digest = b64encode(sha256(style.encode("utf-8"))).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return environment().get_template(template).render(style=style, policy=policy, **names)


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
        extensions=["jinja2.ext.do"],
    )
    ours = {name: each for name, each in vars(values).items() if isfunction(each)}
    environment.filters.update(ours, prose=prose)
    environment.globals.update(ours, MAX_CASES=MAX_CASES, LETTERS=LETTERS, PROOF=PROOF)
    return environment


def _finalize(value: object) -> object:
    """Return what a page may show: texts with their hidden characters written out, and markup."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def prose(text: str, limit: int = 1_000) -> str:
    """Return a sentence in which nothing is mark-up, a link, a mention or a reference."""
    return _ACTIVE.sub(
        lambda match: f"`{match[0]}`" if match["linked"] else f"\\{match[0]}",
        visible_line(text, limit),
    )


def markdown(report: Report, *, limit: int = MARKDOWN_LIMIT) -> str:
    """Return the open parts of the report as Markdown, at most ``limit`` characters of it."""
    text = environment().get_template("report.md").render(report=report)
    text = re.sub(r"\n{3,}", "\n\n", text)
    if len(text) <= limit:
        return text
    note = "\n\n*The rest is left out here: the whole report is in the HTML file.*\n"
    return text[: limit - len(note)].rpartition("\n")[0] + note


def junit(report: Report) -> str:
    """Return the report as JUnit XML: a suite for each run, and one for the baseline.

    A wrongly decided case of L3 is a failure, and so is a regression against a baseline. A case of
    L5 or L6 is a measurement: it passes when it was scored. Errors are errors. Cases that were
    skipped or have no verdict are skipped, and so is what could not be compared.
    """
    root = Element("testsuites", name="skillyard")
    for run, _ in report.parts:
        meta = run.at("meta")
        time = f"{max(0.0, meta.number('duration_s') or 0.0):.3f}"
        suite = SubElement(root, "testsuite", name=_line(run.name), time=time)
        suite.set("timestamp", _line(meta.text("timestamp")))
        properties = SubElement(suite, "properties")
        for name in ("backend", "model", "judge_model", "router", "run_id", "engine_version"):
            if text := meta.text(name):
                SubElement(properties, "property", name=name, value=_line(text))
        for place, case in enumerate(run.cases, 1):
            group = f"{run.layer.name}.{group_of(case)}"
            _add_test(suite, group, _test_name(case, place), *_test_result(case))
    if report.changes:
        suite = SubElement(root, "testsuite", name="baseline", time="0.000")
        tags = {"regression": "failure", "not compared": "skipped", "cannot tell": "skipped"}
        for change in report.changes:
            group, name = f"{change.text('eval_type')}.baseline", change.text("entity")
            status = change.text("status")
            name = f"{name} {change.text('measure')}".strip()
            _add_test(suite, group, name, tags.get(status, ""), change.text("message"), status)
    counted = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for each in (*root, root):
        for name, tag in counted.items():
            each.set(name, str(len(list(each.iter(tag)))))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _add_test(suite: Element, group: str, name: str, tag: str, message: str, kind: str) -> None:
    """Add a test; ``tag`` is ``failure``, ``error`` or ``skipped``, and empty where it passed."""
    test = SubElement(suite, "testcase", classname=_line(f"skillyard.{group}"), name=_line(name))
    if tag:
        SubElement(test, tag, message=_line(message), type=_line(kind))


def _test_name(case: Json, place: int) -> str:
    if is_pair(case) and case.count("prompt_index") is not None:
        return pair_title(case)
    name, run = case.text("id") or f"case {place}", case.count("run_index")
    return name if run is None or not case.text("user_prompt") else f"{name} run {run + 1}"


def _test_result(case: Json) -> tuple[str, str, str]:
    """Return the tag of a case, with its message and its type."""
    state, why = outcome(case)
    if state == "failed":
        expected, picked = (", ".join(case.names(key)) for key in ("expected_skills", "picked"))
        why = f"expected {expected or 'nothing'}, picked {picked or 'nothing'}"
        return "failure", f"{why}, for: {case.text('user_prompt')}", "wrong_pick"
    if state == "error":
        return "error", why, errors_of(case)[0][0]
    return ("skipped" if state in ("skipped", "unscored") else ""), why, state


def _line(text: str) -> str:
    return visible_line(text, _LONGEST)
