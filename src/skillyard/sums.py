"""Sums of floats that are equal on every version of Python.

``sum`` of CPython 3.12 and later compensates for rounding, so its last digits differ from 3.11.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["stable_sum"]


def stable_sum(values: Iterable[float]) -> float:
    """Return the sum of the values, added in order without compensation; 0.0 for none."""
    total = 0.0
    for value in values:
        total += value
    return total
