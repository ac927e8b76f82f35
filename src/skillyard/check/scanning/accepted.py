"""Findings that the user accepted, and what is left of a scan without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from skillyard.base.shapes.scans import ScanFinding


class Accepted(NamedTuple):
    """One rule that does not apply to files of one content."""

    rule: str
    digest: str
    """``sha256:…`` of the file."""
    reason: str


def without_accepted(
    findings: Iterable[ScanFinding],
    accepted: Iterable[Accepted],
    reasons: Mapping[str, str] | None = None,
) -> tuple[list[ScanFinding], list[tuple[ScanFinding, Accepted]]]:
    """Return the findings that are not accepted, and those that are with their entries.

    ``reasons`` accept all findings of a rule from now on.
    """
    entries = {(each.rule, each.digest): each for each in accepted}
    left: list[ScanFinding] = []
    taken: list[tuple[ScanFinding, Accepted]] = []
    for finding in findings:
        rule, digest = finding.rule, finding.digest
        entry = entries.get((rule, digest))
        if entry is None and reasons and rule in reasons:
            entry = Accepted(rule, digest, reasons[rule])
        if entry is None:
            left.append(finding)
        else:
            taken.append((finding, entry))
    return left, taken
