"""Renders the findings of ``scan`` as lines that terminals and editors can open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from skillyard.cli.blocks import Block, Line, Span, line
from skillyard.text import clean_line, plural

if TYPE_CHECKING:
    from skillyard.scanning import Finding
    from skillyard.shapes.scans import ScanFinding, ScanReader, ScanTool
    from skillyard.usecases.skill_scan import Scanned

__all__ = ["finding_lines", "scan_blocks"]

_STYLES = {"high": "error", "medium": "warning", "low": "info"}
_HANG = 4
_REMARKS = 10


def scan_blocks(result: Scanned) -> Iterator[Block]:
    """Yield the findings by file, the accepted ones, and the totals."""
    for _, of_file in groupby(result.findings, key=lambda each: each.path):
        yield from finding_lines(of_file)
        yield line()
    if result.accepted:
        accepted = plural(len(result.accepted), "finding")
        yield line(Span(f"{accepted} accepted in {clean_line(result.lock)}:", "dim"))
        for finding, entry in result.accepted:
            place = f"{finding.path}:{finding.line}: {finding.severity} {finding.rule}"
            yield line(Span(clean_line(f"{place}: {entry.reason}"), "dim"), indent=_HANG)
    yield _totals(result)
    if result.reader is not None:
        yield line()
        yield from _reader(result.reader)
    if result.also is not None:
        yield line()
        yield from _also(result.also)


def finding_lines(findings: Iterable[Finding | ScanFinding]) -> Iterator[Line]:
    """Yield the lines of findings: place, rule, text and remedy."""
    for each in findings:
        yield line(
            Span(f"{clean_line(each.path)}:{each.line}:", "head"),
            Span(f" {each.severity}", _STYLES[each.severity]),
            Span(f" {each.rule}{f' (reader: {each.reader})' if each.reader else ''}", "dim"),
            f" {clean_line(each.message)}",
            hang=_HANG,
        )
        if each.quote:
            yield line(Span("text: ", "dim"), clean_line(each.quote), indent=_HANG)
        yield line(Span("fix: ", "dim"), clean_line(each.fix), indent=_HANG)


def _totals(result: Scanned) -> Line:
    looked_at = f"{plural(result.skills, 'skill')}, {plural(result.files, 'file')}"
    numbers = _number(result.counts, whole=bool(result.files))
    return line(*numbers, Span(f"  (looked at {looked_at})", "dim"))


def _number(counts: Mapping[str, int], *, whole: bool = True) -> tuple[Span | str]:
    if not any(counts.values()):
        return (Span("no findings", "good") if whole else "no findings in what was read",)
    return (", ".join(f"{number} {severity}" for severity, number in counts.items()),)


def _reader(reader: ScanReader) -> Iterator[Line]:
    """Draw what a model says, apart from the rules."""
    stand_in = ", a stand-in" if reader.fake else ""
    yield line(
        Span(f"second reader: {reader.model}{stand_in}", "head"),
        Span("  (a model: it can be wrong, and a file can talk to it)", "dim"),
    )
    yield from finding_lines(reader.findings)
    yield from _remarks("not read", [f"{each.path}: {each.why}" for each in reader.unread])
    if reader.calls == 0 and reader.unread and not (reader.dry_run or reader.stopped):
        yield line(Span("these answers were kept: --regenerate asks again", "dim"))
    yield from _remarks("dropped", reader.dropped)
    if reader.accepted:
        yield line(Span(f"{plural(len(reader.accepted), 'finding')} accepted", "dim"))
    if reader.stopped:
        yield line(Span("stopped: ", "error"), clean_line(reader.stopped))
    scope = f"{plural(reader.skills, 'skill')}, {plural(reader.files, 'file')}"
    if reader.dry_run:
        yield line("nothing sent", Span(f"  ({scope})", "dim"))
        return
    paid = f"{plural(reader.calls, 'request')}, ${reader.cost:.4f}"
    yield line(
        *_number(reader.counts, whole=not reader.unread), Span(f"  ({scope}, {paid})", "dim")
    )


def _also(tool: ScanTool) -> Iterator[Line]:
    """Draw what another scanner says, apart from the rules."""
    yield line(Span(f"also: {tool.tool} {tool.version}", "head"))
    yield from finding_lines(tool.findings)
    yield from _remarks("not read", [f"{each.path}: {each.why}" for each in tool.unread])
    if tool.accepted:
        yield line(Span(f"{plural(len(tool.accepted), 'finding')} accepted", "dim"))
    scope = f"{plural(tool.skills, 'skill')}, {plural(tool.informational, 'other remark')}"
    yield line(*_number(tool.counts, whole=not tool.unread), Span(f"  ({scope})", "dim"))


def _remarks(what: str, texts: Sequence[str]) -> Iterator[Line]:
    for text in texts[:_REMARKS]:
        yield line(Span(f"{what}: ", "warning"), clean_line(text), hang=_HANG)
    if len(texts) > _REMARKS:
        yield line(Span(f"{what}: ", "warning"), f"{len(texts) - _REMARKS:,} more (see --json)")
