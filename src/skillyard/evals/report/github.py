"""Reports for GitHub workflows: the summary of a step, and warnings beside the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from skillyard.base.text import plural
from skillyard.evals.report import markdown
from skillyard.evals.report.layer_view import Badge, cell_text
from skillyard.evals.report.report import Report
from skillyard.evals.report.words import UNKNOWN, visible_line

STEP_LIMIT = 256_000
"""Maximum characters of a step's summary; in UTF-8 always below GitHub's limit of 1 MiB."""
MAX_ANNOTATIONS = 10
"""GitHub shows at most ten warnings of a step, so the tenth has the number of the others."""
_MESSAGE = 500


def render(report: Report) -> str:
    """Return the Markdown to append to the file that ``GITHUB_STEP_SUMMARY`` names."""
    return markdown.render(report, limit=STEP_LIMIT)


def workflow_warnings(report: Report) -> str:
    """Return at most ten ``::warning`` commands, one a line, the most important first.

    The order is: regressions, what could not be compared with its baseline or has too few cases
    for it, reasons not to rely on the run, skills that make answers worse, findings of confusion.
    Skills of a run with a stand-in give no warnings. Empty without warnings.
    """
    warnings = list(_warnings(report))
    if len(warnings) > MAX_ANNOTATIONS:
        more = len(warnings) - MAX_ANNOTATIONS + 1
        warnings = warnings[: MAX_ANNOTATIONS - 1]
        warnings.append(("More", f"{more} more warnings are in the report"))
    return "".join(
        f"::warning title={_property(title)}::{_data(message)}\n" for title, message in warnings
    )


def _warnings(report: Report) -> Iterator[tuple[str, str]]:
    for change in report.changes:
        if change.status == "regression":
            yield f"{change.code} regression", f"{change.entity}: {change.message}"
    for change in report.changes:
        if change.status == "not compared":
            yield f"{change.code} not compared", change.message
    unclear = Counter(each.code for each in report.changes if each.status == "cannot tell")
    for code, figures in unclear.items():
        yield f"{code} cannot tell", f"too few cases for {plural(figures, 'figure')}"
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


# How GitHub's own toolkit escapes the data and the properties of a workflow command.
def _data(text: str) -> str:
    return visible_line(text, _MESSAGE).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
