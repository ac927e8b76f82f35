"""Renders the findings of ``check`` as lines that terminals and editors can open."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from skillyard.base.errors import Diagnostic
from skillyard.base.text import clean_line, plural
from skillyard.check.operations.library_check import Checked
from skillyard.cli.blocks import Block, Column, Line, Span, Table, line

_HANG = 4


def findings(result: Checked) -> Iterator[Block]:
    """Yield the fixes, the findings, the counts by rule, and the totals."""
    yield from _fixes(result)
    for _, of_file in groupby(result.diagnostics, key=lambda item: item.path):
        for item in of_file:
            yield from _finding(item)
        yield line()
    if len(result.diagnostics) > 1:
        yield _rules(result)
        yield line()
    yield _counts(result)
    if result.fixable:
        yield line(
            Span(f"{result.fixable:,}", "head"),
            " fixable: run again with --fix, or with --diff to see the changes first",
        )


def _fixes(result: Checked) -> Iterator[Line]:
    for fix in result.fixes:
        yield line(
            Span(f"{clean_line(fix.path)}:{fix.line}:", "head"),
            Span(" fixed", "good"),
            Span(f" {fix.code}", "dim"),
            f" {clean_line(fix.message)}",
            hang=_HANG,
        )
    for item in result.refused:
        yield line(
            Span(f"{clean_line(item.path)}:", "head"),
            Span(" not fixed", "error"),
            f" {clean_line(item.message)}; {clean_line(item.hint)}",
            hang=_HANG,
        )
    if result.fixes or result.refused:
        yield line()


def _finding(item: Diagnostic) -> Iterator[Line]:
    yield line(
        Span(f"{_place(item)}:", "head"),
        Span(f" {item.severity}", item.severity),
        Span(f" {item.code}", "dim"),
        f" {clean_line(item.message)}",
        hang=_HANG,
    )
    text = clean_line(item.found)
    if text and text not in item.message:
        yield line(Span("found: ", "dim"), text, indent=_HANG)
    if item.hint:
        yield line(Span("hint: ", "dim"), clean_line(item.hint), indent=_HANG)


def _place(item: Diagnostic) -> str:
    """Return ``path:line:column``, as far as they are known."""
    numbers = [] if item.line is None else [item.line]
    if item.line is not None and item.column is not None:
        numbers.append(item.column)
    return ":".join([clean_line(item.path) or ".", *map(str, numbers)])


def _rules(result: Checked) -> Table:
    from skillyard.check.validation import RULES

    columns = (
        Column("findings", right=True),
        Column("files", right=True, drop=2),
        Column("severity"),
        Column("rule"),
        Column("meaning", "dim", cut="end", wide=True, drop=1, least=48),
    )
    rows: list[list[Span | str]] = []
    for each in result.rules:
        title = RULES[each.code].title if each.code in RULES else ""
        severity = Span(each.severity, each.severity)
        rows.append([f"{each.findings:,}", f"{each.files:,}", severity, each.code, title])
    return Table(columns, rows)


def _counts(result: Checked) -> Line:
    counts = result.counts
    about = [f"profile {result.profile}", *(clean_line(path) for path in result.configs)]
    looked_at = f"{plural(result.skills, 'skill')}, {plural(result.files, 'file')}"
    profile = Span(f"  (looked at {looked_at}; {', '.join(about)})", "dim")
    if not result.diagnostics:
        return line(Span("no findings", "good"), profile)
    parts = [
        plural(counts["error"], "error"),
        plural(counts["warning"], "warning"),
        plural(counts["info"], "remark"),
    ]
    return line(", ".join(parts), profile)
