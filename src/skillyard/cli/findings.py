"""Renders the findings of ``check`` and ``scan``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from skillyard.base.text import clean_line, plural
from skillyard.cli.blocks import Block, Line, Span, finding, line, place_of

if TYPE_CHECKING:
    from skillyard.base.shapes.details import ScanFinding
    from skillyard.check.operations.library_check import Checked
    from skillyard.check.operations.skill_scan import Scanned


def check_blocks(result: Checked) -> Iterator[Block]:
    """Yield the fixes, the findings, and the totals."""
    if not (result.files or result.diagnostics):
        return
    yield from _fixes(result)
    for _, of_file in groupby(result.diagnostics, key=lambda item: item.path):
        for item in of_file:
            found = clean_line(item.found)
            yield from finding(
                place_of(item.path, item.line, item.column),
                item.severity,
                item.code,
                item.message,
                found="" if found in item.message else found,
                hint=item.hint,
            )
        yield line()
    yield _counts(result)
    if result.fixable:
        yield line(
            Span(f"{result.fixable:,}", "head"),
            " fixable: run again with --fix, or with --diff to see the changes first",
        )


def _fixes(result: Checked) -> Iterator[Line]:
    for fix in result.fixes:
        place = Span(f"{place_of(fix.path, fix.line)}:", "head")
        code = Span(f" {fix.code}", "dim")
        yield line(place, Span(" fixed", "good"), code, f" {clean_line(fix.message)}", hang=4)
    for item in result.refused:
        place = Span(f"{place_of(item.path)}:", "head")
        why = f" {clean_line(item.message)}; {clean_line(item.hint)}"
        yield line(place, Span(" not fixed", "error"), why, hang=4)
    if result.fixes or result.refused:
        yield line()


def _counts(result: Checked) -> Line:
    counts = result.counts
    about = [f"profile {result.profile}", *(clean_line(path) for path in result.configs)]
    looked_at = Span(f"  ({_looked_at(result)}; {', '.join(about)})", "dim")
    if not result.diagnostics:
        return line(Span("no findings", "good"), looked_at)
    faults = ", ".join(plural(counts[each], each) for each in ("error", "warning"))
    return line(f"{faults}, {counts['info']:,} info", looked_at)


def _looked_at(result: Checked | Scanned) -> str:
    return f"looked at {plural(result.skills, 'skill')}, {plural(result.files, 'file')}"


def scan_blocks(result: Scanned) -> Iterator[Block]:
    """Yield the findings by file, the accepted ones, and the totals."""
    if not (result.files or result.findings):
        return
    for _, of_file in groupby(result.findings, key=lambda each: each.path):
        yield from finding_lines(of_file)
        yield line()
    if result.accepted:
        accepted = plural(len(result.accepted), "finding")
        yield line(Span(f"{accepted} accepted in {clean_line(result.lock or '')}:", "dim"))
        for each in result.accepted:
            of = each.finding
            text = f"{of.path}:{of.line}: {of.severity} {of.rule}: {each.reason}"
            yield line(Span(clean_line(text), "dim"), indent=4)
    counts = result.counts.items()
    numbers: Span | str = ", ".join(f"{number} {severity}" for severity, number in counts)
    if not result.findings:
        numbers = Span("no findings", "good") if result.files else "no findings in what was read"
    yield line(numbers, Span(f"  ({_looked_at(result)})", "dim"))


def finding_lines(findings: Iterable[ScanFinding]) -> Iterator[Line]:
    """Yield the lines of findings of the scan: place, rule, text and remedy."""
    for each in findings:
        place = place_of(each.path, each.line)
        details = {"text": each.quote, "fix": each.fix}
        yield from finding(place, each.severity, each.rule, each.message, **details)
