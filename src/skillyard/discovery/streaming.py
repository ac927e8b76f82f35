"""The walk as a stream: what is found is given away folder by folder, and not kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skillyard.discovery.candidate import Candidate
from skillyard.discovery.layout import Root
from skillyard.discovery.walk import Walk
from skillyard.errors import Diagnostic
from skillyard.limits import DEFAULT_LIMITS, Limits

__all__ = ["stream"]


def stream(
    roots: Iterable[Root], limits: Limits = DEFAULT_LIMITS
) -> Iterator[Candidate | Diagnostic]:
    """Yield what :func:`~skillyard.discovery.walk.scan` finds, as soon as it is found.

    Roots in the order given, folders before what lies in them, names in code point order. Of a
    folder only its number is kept, so that links find no folder twice. Raises InvalidSkillsRoot.
    """
    walk = Walk(limits)
    for _ in walk.steps(list(roots)):
        yield from sorted(walk.candidates, key=lambda candidate: candidate.parts)
        yield from walk.diagnostics
        walk.candidates.clear()
        walk.diagnostics.clear()
        walk.visited.clear()
