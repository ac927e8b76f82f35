"""``doctor``: what works here, what does not, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from skillyard.cli.blocks import Block, Column, Span, Table, Text, line
from skillyard.cli.console import Console
from skillyard.cli.quick import Values, read
from skillyard.text import plural
from skillyard.usecases.doctor import Diagnosis, Finding, diagnose
from skillyard.usecases.doctor.finding import STATUSES

__all__ = ["doctor"]

NEGATIVE = 1

_STYLES = {"ok": "good", "info": "info", "warning": "warning", "error": "error"}


def doctor(values: Values, console: Console) -> int:
    """Print the findings; 1 when one of them is an error."""
    from skillyard import __version__
    from skillyard.cli.progress import progress

    named = [values.place] if values.place is not None else []
    with progress("reading", console) as step:
        found = diagnose(
            [*named, *values.root],
            values.scope,
            version=__version__,
            read_command=read,
            progress=step,
        )
    if console.json:
        console.document(found.to_dict())
    else:
        console.print(*_report(found))
    return 0 if found.healthy else NEGATIVE


def _report(found: Diagnosis) -> Iterator[Block]:
    """Draw every finding, then the remedies, the most severe first, then the counts."""
    columns = (Column("status"), Column("check", "name"), Column("finding", wide=True))
    yield Table(columns, [_row(finding) for finding in found.findings])
    for status in reversed(STATUSES):
        for finding in found.findings:
            if finding.status == status and finding.remedy:
                yield from _remedy(finding)
    counts = found.counts
    listed = [f"{counts['ok']:,} ok", f"{counts['info']:,} info"]
    listed += [plural(counts[status], status) for status in ("warning", "error")]
    yield line()
    yield line(f"skillyard {found.version}: {', '.join(listed)}")


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
