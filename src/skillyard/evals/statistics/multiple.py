"""Correction for many tests: limits the expected share of false findings."""

from __future__ import annotations

from collections.abc import Sequence

from skillyard.errors import InvalidInput

__all__ = ["benjamini_hochberg"]


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Return the adjusted p-values, in the order given, each at least its own p and at most 1.

    Calling everything at or below q a finding keeps the expected share of false ones at q or
    less, for independent or positively dependent tests: Benjamini & Hochberg, JRSS B 57 (1995)
    289-300, as ``min over k >= rank of p(k) * m / k``. Raises InvalidInput for p outside 0..1.
    """
    if not all(0 <= p <= 1 for p in ps):
        raise InvalidInput("p-values lie between 0 and 1")
    adjusted = [1.0] * len(ps)
    least = 1.0
    falling = sorted(range(len(ps)), key=lambda place: ps[place], reverse=True)
    for passed, place in enumerate(falling):
        rank = len(ps) - passed
        # p * (m / rank) could round below p where rank is m; this form cannot.
        least = min(least, ps[place] * len(ps) / rank)
        adjusted[place] = max(least, ps[place])
    return adjusted
