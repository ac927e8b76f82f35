"""Renders the result of ``doctor`` as blocks."""

from __future__ import annotations

from collections.abc import Iterator

from skillyard.base.shapes.doctor import Diagnosis, Finding
from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Column, Span, Table, Text, line
from skillyard.hosts.doctor.finding import STATUSES

_STYLES = {"ok": "good", "info": "info", "warning": "warning", "error": "error"}


def diagnosis_blocks(diagnosis: Diagnosis) -> Iterator[Block]:
    """Yield every finding, then the remedies, the most severe first, then the counts."""
    columns = (Column("status"), Column("check", "name"), Column("finding", wide=True))
    yield Table(columns, [_row(finding) for finding in diagnosis.findings])
    for status in reversed(STATUSES):
        for finding in diagnosis.findings:
            if finding.status == status and finding.remedy:
                yield from _remedy(finding)
    counts = diagnosis.counts
    totals = [f"{counts['ok']:,} ok", f"{counts['info']:,} info"]
    totals += [plural(counts[status], status) for status in ("warning", "error")]
    yield line()
    yield line(f"skillyard {diagnosis.version}: {', '.join(totals)}")


def _row(finding: Finding) -> list[Span | str]:
    return [Span(finding.status, _STYLES[finding.status]), finding.id, finding.message]


def _remedy(finding: Finding) -> Iterator[Block]:
    style = _STYLES[finding.status]
    yield line()
    yield line(Span(finding.status, style), "  ", Span(finding.id, "name"), f"  {finding.remedy}")
    if finding.path:
        where = finding.path + (f":{finding.line}" if finding.line is not None else "")
        yield line(Span(where, "dim"), indent=2)
    if finding.command:
        yield Text(f"  $ {finding.command}")  # one line, however wide, so that it can be copied
