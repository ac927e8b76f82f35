"""Reports as HTML, Markdown, JUnit XML and GitHub's warnings, each from one template.

All text of models, skills, judges and servers is escaped in one place for each format: by the
template's autoescape in HTML and XML, after :func:`skillyard.evals.report.words.visible`; in
Markdown by the filters ``code`` and ``prose``, so that GitHub makes no link or mention of it. The
pages need no script and no network: their content security policy forbids scripts, pictures and
connections, and names their one style sheet by hash.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.io.sha256 import sha256
from skillyard.base.text import plural
from skillyard.evals.report.cases import CaseGroup, pair_title
from skillyard.evals.report.layer_view import (
    Badge,
    Results,
    cell_text,
    errors_of,
    group_of,
    is_pair,
    outcome,
)
from skillyard.evals.report.report import Report, code_of
from skillyard.evals.report.values import Json
from skillyard.evals.report.words import UNKNOWN, many, visible, visible_line

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "skillyard.evals.report"
MARKDOWN_LIMIT = 65_536
"""Most characters of a comment or a description on GitHub (its error message names the figure)."""
STEP_LIMIT = 256_000
"""Maximum characters of a step's summary; in UTF-8 always below GitHub's limit of 1 MiB."""
MAX_ANNOTATIONS = 10
"""GitHub shows at most ten warnings of a step, so the tenth has the number of the others."""
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
    environment.filters.update(cell=cell_text, code=code, prose=prose, line=_line)
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
    suites = [_suite(section.run) for section in report.sections]
    if report.changes:
        suites.append(
            _JunitSuite("baseline", 0.0, "", (), tuple(map(_change_test, report.changes)))
        )
    return (
        environment()
        .get_template("junit.xml")
        .render(suites=suites, total=_JunitSuite.total(suites))
    )


class _JunitTest(NamedTuple):
    """One test: a case, or a measure against its baseline."""

    group: str
    name: str
    tag: str = ""
    """``failure``, ``error`` or ``skipped``; empty where it passed."""
    message: str = ""
    kind: str = ""


class _JunitSuite(NamedTuple):
    """The tests of one run."""

    name: str
    seconds: float
    timestamp: str
    properties: tuple[tuple[str, str], ...]
    tests: tuple[_JunitTest, ...]

    @property
    def time(self) -> str:
        """The seconds, as they are written."""
        return f"{self.seconds:.3f}"

    def count(self, tag: str) -> int:
        """Return the number of tests with a result."""
        return sum(test.tag == tag for test in self.tests)

    @classmethod
    def total(cls, suites: Sequence[_JunitSuite]) -> _JunitSuite:
        """Return all tests as one suite."""
        tests = (test for suite in suites for test in suite.tests)
        return cls("skillyard", sum(suite.seconds for suite in suites), "", (), tuple(tests))


def _suite(run: Results) -> _JunitSuite:
    meta = run.at("meta")
    names = ("backend", "model", "judge_model", "router", "run_id", "engine_version")
    return _JunitSuite(
        run.name,
        max(0.0, meta.number("duration_s") or 0.0),
        meta.text("timestamp"),
        tuple((name, meta.text(name)) for name in names if meta.text(name)),
        tuple(_case_test(run.layer.name, case, place) for place, case in enumerate(run.cases, 1)),
    )


def _case_test(eval_type: str, case: Json, place: int) -> _JunitTest:
    state, why = outcome(case)
    name = case.text("id") or f"case {place}"
    if is_pair(case) and case.count("prompt_index") is not None:
        name = pair_title(case)
    elif (run := case.count("run_index")) is not None and "user_prompt" in case:
        name = f"{name} run {run + 1}"
    test = _JunitTest(f"skillyard.{eval_type}.{group_of(case)}", name)
    if state == "failed":
        expected, picked = (", ".join(case.names(key)) for key in ("expected_skills", "picked"))
        why = f"expected {expected or 'nothing'}, picked {picked or 'nothing'}"
        return test._replace(
            tag="failure", message=f"{why}, for: {case.text('user_prompt')}", kind="wrong_pick"
        )
    if state == "error":
        return test._replace(tag="error", message=why, kind=errors_of(case)[0][0])
    return test._replace(tag="skipped", message=why) if state in ("skipped", "unscored") else test


def _change_test(change: Json) -> _JunitTest:
    entity, message = change.text("entity"), change.text("message")
    group = f"skillyard.{change.text('eval_type')}.baseline"
    test = _JunitTest(group, f"{entity} {change.text('measure')}".strip())
    if change.text("status") == "regression":
        return test._replace(tag="failure", message=message, kind="regression")
    is_open = change.text("status") in ("not compared", "cannot tell")
    return test._replace(tag="skipped", message=message) if is_open else test


def _line(text: str) -> str:
    return visible_line(text, _LONGEST)


def workflow_warnings(report: Report) -> str:
    """Return at most ten ``::warning`` commands of GitHub, one a line, the most important first.

    The order is: regressions, what could not be compared with its baseline or has too few cases
    for it, reasons not to rely on the run, skills that make answers worse, findings. Skills of a
    run with a stand-in give no warnings. Empty without warnings.
    """
    warnings = list(_warnings(report))
    if len(warnings) > MAX_ANNOTATIONS:
        more = len(warnings) - MAX_ANNOTATIONS + 1
        warnings = warnings[: MAX_ANNOTATIONS - 1]
        warnings.append(("More", f"{more} more warnings are in the report"))
    return "".join(
        f"::warning title={_escaped(title, ':,')}::{_escaped(message)}\n"
        for title, message in warnings
    )


def _warnings(report: Report) -> Iterator[tuple[str, str]]:
    for status in ("regression", "not compared"):
        for change in report.changes:
            if change.text("status") == status:
                yield (
                    f"{code_of(change)} {status}",
                    f"{change.text('entity')}: {change.text('message')}",
                )
    unclear = Counter(
        code_of(each) for each in report.changes if each.text("status") == "cannot tell"
    )
    for layer, figures in unclear.items():
        yield f"{layer} cannot tell", f"too few cases for {plural(figures, 'figure')}"
    for banner in report.banners:
        yield banner.head, " ".join(banner.lines)
    for row in report.skills.rows:
        # A verdict of a stand-in has no colour, so it gives no warning.
        if any(isinstance(cell, Badge) and cell.kind == "bad" for cell in row.cells):
            texts = map(cell_text, row.cells)
            yield row.name, ", ".join(text for text in texts if text != UNKNOWN)
    for section in report.sections:
        for name, sentence in () if section.run.is_fake else section.findings:
            yield f"{section.run.layer.code} {name}", sentence


def _escaped(text: str, more: str = "") -> str:
    """Return a text as GitHub's own toolkit escapes it in a workflow command."""
    escaped = visible_line(text, 500).replace("%", "%25")
    for character in more:
        escaped = escaped.replace(character, f"%{ord(character):02X}")
    return escaped
