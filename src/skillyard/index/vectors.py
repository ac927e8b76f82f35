"""Dot products of many stored vectors with one, without a loop over their components.

The components of one dimension of all documents are laid side by side in one long whole number,
32 bits each, so that multiplying it by the query's component and adding it to a running sum does
all documents at once. Components are stored plus 128, and what that adds is taken off at the end.
"""

from __future__ import annotations

from array import array
from operator import mul

__all__ = ["dot_products"]

MAX_SEQUENTIAL = 64
"""Documents up to which looking at one after the other is no slower."""
BLOCK_DOCUMENTS = 8_192
"""Documents of one long number: it stays in the processor's cache."""

_BIASED = bytes((code + 128) & 255 for code in range(256))


def dot_products(vectors: memoryview, dimensions: int, query: bytes) -> list[int]:
    """Return the dot product of each stored vector (signed bytes, row by row) with ``query``."""
    if not dimensions:
        return []
    components = array("b", query)
    count = len(vectors) // dimensions
    if count <= MAX_SEQUENTIAL:
        rows = (vectors[n * dimensions : (n + 1) * dimensions] for n in range(count))
        return [sum(map(mul, components, row)) for row in rows]
    products: list[int] = []
    for start in range(0, count, BLOCK_DOCUMENTS):
        end = min(start + BLOCK_DOCUMENTS, count)
        rows_at_once = bytes(vectors[start * dimensions : end * dimensions]).translate(_BIASED)
        products += _columns(rows_at_once, end - start, dimensions, components)
    return products


def _columns(rows: bytes, count: int, dimensions: int, components: array[int]) -> list[int]:
    above = below = 0
    spread = bytearray(4 * count)
    for dimension, weight in enumerate(components):
        if weight:
            spread[::4] = rows[dimension::dimensions]
            lanes = int.from_bytes(spread, "little")
            if weight > 0:
                above += weight * lanes
            else:
                below -= weight * lanes
    bias = 128 * sum(components)
    highs = array("I", above.to_bytes(4 * count, "little"))
    lows = array("I", below.to_bytes(4 * count, "little"))
    return [high - low - bias for high, low in zip(highs, lows, strict=True)]
