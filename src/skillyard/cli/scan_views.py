"""Renders the findings of ``scan`` as lines that terminals and editors can open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from skillyard.base.text import clean_line, plural
from skillyard.cli.blocks import Block, Line, Span, line

if TYPE_CHECKING:
    from skillyard.base.shapes.scans import ScanFinding
    from skillyard.check.operations.skill_scan import Scanned

_STYLES = {"high": "error", "medium": "warning", "low": "info"}
_HANG = 4


def scan_blocks(result: Scanned) -> Iterator[Block]:
    """Yield the findings by file, the accepted ones, and the totals."""
    for _, of_file in groupby(result.findings, key=lambda each: each.path):
        yield from finding_lines(of_file)
        yield line()
    if result.accepted:
        accepted = plural(len(result.accepted), "finding")
        yield line(Span(f"{accepted} accepted in {clean_line(result.lock or '')}:", "dim"))
        for each in result.accepted:
            finding = each.finding
            place = f"{finding.path}:{finding.line}: {finding.severity} {finding.rule}"
            yield line(Span(clean_line(f"{place}: {each.reason}"), "dim"), indent=_HANG)
    yield _totals(result)


def finding_lines(findings: Iterable[ScanFinding]) -> Iterator[Line]:
    """Yield the lines of findings: place, rule, text and remedy."""
    for each in findings:
        yield line(
            Span(f"{clean_line(each.path)}:{each.line}:", "head"),
            Span(f" {each.severity}", _STYLES[each.severity]),
            Span(f" {each.rule}", "dim"),
            f" {clean_line(each.message)}",
            hang=_HANG,
        )
        if each.quote:
            yield line(Span("text: ", "dim"), clean_line(each.quote), indent=_HANG)
        yield line(Span("fix: ", "dim"), clean_line(each.fix), indent=_HANG)


def _totals(result: Scanned) -> Line:
    looked_at = f"{plural(result.skills, 'skill')}, {plural(result.files, 'file')}"
    counts = result.counts.items()
    numbers: Span | str = ", ".join(f"{number} {severity}" for severity, number in counts)
    if not result.findings:
        numbers = Span("no findings", "good") if result.files else "no findings in what was read"
    return line(numbers, Span(f"  (looked at {looked_at})", "dim"))
