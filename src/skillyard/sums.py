"""Sums of floats that are the same on every Python.

From CPython 3.12 on ``sum`` compensates for rounding, so the last digits differ from 3.11's.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["stable_sum"]


def stable_sum(values: Iterable[float]) -> float:
    """Return the values added one by one, in their order; 0.0 for none."""
    total = 0.0
    for value in values:
        total += value
    return total
