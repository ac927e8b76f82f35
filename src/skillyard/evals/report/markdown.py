"""The Markdown report, a summary for a pull request: tables, and details in folds.

Texts of models, skills and judges are code spans, in which GitHub makes no links and renders no
markup. In sentences that may quote them, every punctuation mark is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skillyard.evals.report.layer_view import Fold, Table, cell_text
from skillyard.evals.report.report import Report
from skillyard.evals.report.words import UNKNOWN, many, visible_line

LIMIT = 65_536
"""Most characters of a comment or a description on GitHub (its error message names the figure)."""
_ROWS = 100
_LETTERS = 200
# Names, issues and pull requests, which GitHub links and notifies wherever they stand in text; then
# what begins mark-up inside a line, a colon where an address or an emoji could follow it, the dot
# that makes an address of "www", and what a line may not begin with.
_ACTIVE = re.compile(
    r"(?P<linked>[@#](?=\w)|GH-(?=\d))"
    r"|[\\`*_\[\]<>&|~$]|:(?=[^\s\d])|(?<=www)\.|^[-+=#](?=\s|$)|"
    + "|".join(rf"(?<=^\d{{{digits}}})[.)]" for digits in range(1, 10)),
    re.IGNORECASE,
)
_ALERTS = {"fake": "CAUTION", "stopped": "WARNING", "degraded": "WARNING"}


def code(text: str, limit: int = _LETTERS) -> str:
    """Return a text as an inline code span; a dash for an empty text."""
    line = visible_line(text, limit)
    if not line:
        return UNKNOWN
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def prose(text: str, limit: int = 1_000) -> str:
    """Return a sentence in which nothing is mark-up, a link, a mention or a reference."""
    return _ACTIVE.sub(_escape_active, visible_line(text, limit))


def _escape_active(match: re.Match[str]) -> str:
    return f"`{match.group()}`" if match.group("linked") else f"\\{match.group()}"


def render(report: Report, *, limit: int = LIMIT) -> str:
    """Return the report as Markdown, at most ``limit`` characters of it.

    If it would be longer, whole parts are left out from the end, and a last line gives their
    number.
    """
    return _fit([part for part in _parts(report) if part], limit)


def _parts(report: Report) -> Iterator[str]:
    yield f"# {prose(report.title)}"
    for banner in report.banners:
        head = f"> [!{_ALERTS.get(banner.kind, 'NOTE')}]\n> **{prose(banner.head)}**"
        yield head + "".join(f"\n> {prose(line)}" for line in banner.lines)
    yield _table(report.skills)
    yield _bullets(report.pooled)
    yield " · ".join(
        f"{fact.name}: {prose(fact.value)}{f' ({prose(fact.note)})' if fact.note else ''}"
        for fact in report.facts
    )
    changed = _table(report.changed._replace(title=""))
    yield f"## {report.changed.title}\n\n{changed}" if changed else ""
    for section in report.sections:
        layer = section.run.layer
        yield f"## {layer.code} {prose(layer.title)}: {prose(layer.question)}"
        yield "*Made by a stand-in.*" if section.run.is_fake else ""
        yield from map(_table, section.tables)
        yield "\n".join(f"- {code(name)}: {prose(text)}" for name, text in section.findings[:_ROWS])
    for section in report.sections:
        for fold in section.folds:
            yield _fold(f"{section.run.layer.code} {fold.title}", fold)
    for fold in report.folds:
        yield _fold(fold.title, fold)


def _fit(parts: Sequence[str], limit: int) -> str:
    note = "*{} left out here: the whole report is in the HTML file.*\n"
    fitting: list[str] = []
    room = limit - len(note) - 20
    for place, part in enumerate(parts):
        if len(part) + 2 > room:
            fitting.append(note.format(many(len(parts) - place, "part")).rstrip("\n"))
            break
        fitting.append(part)
        room -= len(part) + 2
    return ("\n\n".join(fitting) + "\n")[:limit]


def _table(table: Table) -> str:
    lines = []
    if table.rows:
        lines += [f"| {' | '.join(map(prose, table.columns))} |"]
        lines += [f"|{'|'.join(['---'] * len(table.columns))}|"]
        for row in table.rows[:_ROWS]:
            name = code(row.name).replace("|", "\\|")
            lines.append(f"| {' | '.join((name, *(prose(cell_text(c)) for c in row.cells)))} |")
    parts = [f"### {prose(table.title)}" if table.title and lines else "", "\n".join(lines)]
    if len(table.rows) > _ROWS:
        parts.append(f"{many(len(table.rows) - _ROWS, 'more row')} in the HTML report.")
    parts.append(prose(table.note))
    return "\n\n".join(part for part in parts if part)


def _bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {prose(sentence)}" for sentence in sentences)


def _fold(title: str, fold: Fold) -> str:
    # The summary is HTML, in which no title of ours has a character to escape.
    inside = [_bullets(fold.sentences), *map(_table, fold.tables)]
    body = "\n\n".join(part for part in inside if part)
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>"
