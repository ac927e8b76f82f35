"""The findings of one who is not our rules, as documents: apart, counted, and accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from skillyard.remote.install.accepted import Accepted, without_accepted
from skillyard.scanning import SEVERITIES, Finding
from skillyard.shapes.encoder import from_attributes
from skillyard.shapes.scans import AcceptedFinding, ScanFinding

__all__ = ["Opinion", "opinion_of"]


class Opinion(NamedTuple):
    """What one says about skills, without what the lock file accepts."""

    findings: tuple[ScanFinding, ...]
    """Sorted by path, line and rule."""
    counts: dict[str, int]
    accepted: tuple[AcceptedFinding, ...]


def opinion_of(findings: Iterable[Finding], accepted: Iterable[Accepted]) -> Opinion:
    """Return findings, each once, divided by what is accepted."""
    ordered = sorted(set(findings), key=lambda each: (each.path, each.line, each.rule, each))
    left, taken = without_accepted(ordered, accepted)
    number = Counter(each.severity for each in left)
    return Opinion(
        tuple(from_attributes(ScanFinding, each) for each in left),
        {severity: number[severity] for severity in SEVERITIES},
        tuple(
            AcceptedFinding(finding=from_attributes(ScanFinding, each), reason=entry.reason)
            for each, entry in taken
        ),
    )
