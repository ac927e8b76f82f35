"""Renders reports of evaluations as blocks for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skillyard.cli.blocks import Block, Column, Span, Table, line
from skillyard.cli.plain import width_of
from skillyard.evals.report.layer_view import Badge, Estimate, cell_text

if TYPE_CHECKING:
    from skillyard.evals.report.layer_view import Cell, ReportTable
    from skillyard.evals.report.report import Report

_NUMBER_STARTS = ("", *"0123456789+−–$")
_BADGE_STYLES = {"good": "high", "bad": "error", "open": "medium"}
_NAME = 20
"""Minimum width of names in terminal columns, while other columns can wrap."""


def report_blocks(report: Report) -> Iterator[Block]:
    """Yield a report without the parts that other formats fold."""
    if "Verdict" in report.skills.columns:
        blocks = [*answer_blocks(report), *_section_blocks(report)]
    else:  # the tables of the layers have a line a skill
        sections = _section_blocks(report)
        blocks = [*_banners(report), *sections, *_actions(report), *_pooled_sentences(report)]
    yield from blocks[1:] if blocks[:1] == [line()] else blocks


def answer_blocks(report: Report) -> Iterator[Block]:
    """Yield a summary: a line for each skill, the next steps, and the pooled result."""
    yield from _banners(report)
    skills = report.skills
    if skills.columns[-1] == "Next":  # too long for a row: it is drawn below the table
        rows = tuple(row._replace(cells=row.cells[:-1]) for row in skills.rows)
        skills = skills._replace(columns=skills.columns[:-1], rows=rows)
    yield from _table(skills)
    yield from _actions(report)
    yield from _pooled_sentences(report)


def _banners(report: Report) -> Iterator[Block]:
    for banner in report.banners:
        text = " ".join((f"{banner.head}.", *banner.lines))
        yield line(Span(_with_blanks(text), "error"))


def _actions(report: Report) -> Iterator[Block]:
    """Yield a line for each next step, with the skills that need it."""
    names: dict[str, list[str]] = {}
    for row in report.skills.rows:
        if isinstance(row.cells[-1], Badge) and row.cells[-1].kind == "act":
            names.setdefault(row.cells[-1].text, []).append(row.name)
    for action, of_action in names.items():
        yield line("→ ", Span(", ".join(of_action), "name"), f": {_with_blanks(action)}", hang=2)


def _pooled_sentences(report: Report) -> Iterator[Block]:
    for sentence in report.pooled:
        yield line(_with_blanks(sentence), hang=2)


def _section_blocks(report: Report) -> Iterator[Block]:
    if report.changed.rows or report.changed.note:
        yield from _table(report.changed)
    for section in report.sections:
        for table in section.tables:
            yield from _table(table._replace(title=f"{section.run.layer.code} {table.title}"))
        for name, sentence in section.findings:
            yield line(Span(name, "name"), f": {_with_blanks(sentence)}", hang=2)


def _table(table: ReportTable) -> Iterator[Block]:
    """Yield a table with its title and note. Nothing is cut."""
    if table.title:
        yield line()
        yield line(Span(table.title, "head"))
    if table.rows:
        texts = [[_with_blanks(cell_text(cell)) for cell in row.cells] for row in table.rows]
        names = [row.name for row in table.rows]
        columns = [Column(table.columns[0], "name", least=min(_NAME, max(map(width_of, names))))]
        for place, title in enumerate(table.columns[1:]):
            cells = [row[place] for row in texts]
            numbers = all(cell[:1] in _NUMBER_STARTS for cell in cells)
            right = numbers and not _has_interval(table, place)
            columns.append(Column(title, right=right, least=_longest_word([title, *cells])))
        rows = [
            [row.name, *map(_cell_span, row.cells, cells)]
            for row, cells in zip(table.rows, texts, strict=True)
        ]
        yield Table(tuple(columns), rows, wrap=True)
    if table.notes:
        yield line(Span(_with_blanks(table.notes), "dim"))


def _longest_word(texts: Sequence[str]) -> int:
    return min(_NAME, max(width_of(word) for text in texts for word in text.split(" ")))


def _has_interval(table: ReportTable, place: int) -> bool:
    return any(isinstance(row.cells[place], Estimate) for row in table.rows)


def _cell_span(cell: Cell, text: str) -> Span | str:
    return Span(text, _BADGE_STYLES.get(cell.kind, "")) if isinstance(cell, Badge) else text


def _with_blanks(text: str) -> str:
    """Return a text of a report with ordinary blanks instead of non-breaking ones."""
    return text.replace("\u00a0", " ")
