"""Dot products of many stored vectors with one query vector, by big-integer arithmetic.

One long integer holds the components of one dimension of all documents, in 32-bit lanes. One
multiplication by the query component then covers all documents. Components are stored plus 128;
that bias is subtracted at the end.
"""

from __future__ import annotations

from array import array
from operator import mul

from skillyard.engine.index.token_table import BIAS, pack_lanes

MAX_SEQUENTIAL = 64
"""Up to this number of documents a plain loop is as fast."""
BLOCK_DOCUMENTS = 8_192
"""Documents per long integer, so that it fits the processor cache."""


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
        rows_at_once = bytes(vectors[start * dimensions : end * dimensions])
        products += _columns(rows_at_once, end - start, dimensions, components)
    return products


def _columns(rows: bytes, count: int, dimensions: int, components: array[int]) -> list[int]:
    above = below = 0
    for dimension, weight in enumerate(components):
        if weight:
            lanes = pack_lanes(rows[dimension::dimensions])
            if weight > 0:
                above += weight * lanes
            else:
                below -= weight * lanes
    bias = BIAS * sum(components)
    highs = array("I", above.to_bytes(4 * count, "little"))
    lows = array("I", below.to_bytes(4 * count, "little"))
    return [high - low - bias for high, low in zip(highs, lows, strict=True)]
