"""The static token table: a vector for each of about thirty thousand terms.

The vector of a text is a weighted sum of the rows of its terms; no model runs. All sums are
integer sums, so every machine and implementation computes the same bytes.

File format: magic, counts and checksum; four numeric columns, one value per row; the terms in
byte order; the rows as signed bytes. ``training/`` describes how the table is made.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import exp, log, sqrt
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING
from zlib import crc32

from skillyard.base.errors import IndexDamaged
from skillyard.base.sums import stable_sum
from skillyard.engine.index.kernel import KERNEL

if TYPE_CHECKING:
    Buffer = bytes | mmap

MAGIC = b"SKYTAB02"
HEADER = struct.Struct("<8sIIII")  # magic, rows, dimensions, bytes of terms, CRC-32 of the rest

MAX_TERMS = 4_096
"""Terms summed per text: with weights below 4,096 no 32-bit lane overflows."""
MAX_WEIGHT = 4_095
SHIFT = 6
"""Bits dropped from a sum before squaring, so that the sum of squares fits 64 bits."""
UNIT = 363.0
"""The length of a stored vector. Components of unit vectors are below 0.35, except outliers."""
FIXED_POINT = float(1 << 20)
"""Fixed-point scale in which fields are added."""
EMPHASIS_STEPS = 64
"""Scale in which emphasis is stored."""
RARITY_STEPS = 16
"""Scale in which rarity (a natural logarithm) is stored."""


class TokenTable:
    """Rows by term. Immutable and thread-safe."""

    __slots__ = (
        *("_emphasis", "_known", "_offsets", "_query_weights", "_rarity", "_rows"),
        *("_terms", "_weights", "dimensions", "id", "path", "sections"),
    )

    def __init__(self, data: Buffer, path: str = "", *, trusted: bool = False) -> None:
        """Take the bytes of a table file. Raises IndexDamaged for other data.

        ``trusted`` skips the checksum, for the file that is installed with the package.
        """
        try:
            magic, rows, self.dimensions, size, check = HEADER.unpack_from(data)
        except struct.error:
            raise _damage(path, "it is too short") from None
        if magic != MAGIC:
            raise _damage(path, "it is no token table, or one of another version")
        if len(data) != HEADER.size + 6 * rows + 4 * (rows + 1) + size + rows * self.dimensions:
            raise _damage(path, "its size does not match its header")
        if not trusted and crc32(memoryview(data)[HEADER.size :]) != check:
            raise _damage(path, "its checksum does not match")
        self.path = path
        self.id = f"{check:08x}-{rows}x{self.dimensions}"
        offset = HEADER.size
        whole = memoryview(data)  # no copy: a query reads a few rows
        self._weights = whole[offset : offset + 2 * rows].cast("H")
        self._query_weights = whole[offset + 2 * rows : offset + 4 * rows].cast("H")
        self._emphasis = whole[offset + 4 * rows : offset + 5 * rows]
        self._rarity = whole[offset + 5 * rows : offset + 6 * rows]
        offset += 6 * rows
        self._offsets = whole[offset : offset + 4 * (rows + 1)].cast("I")
        offset += 4 * (rows + 1)
        self._terms = whole[offset : offset + size]
        self._rows = whole[offset + size :]
        self._known: dict[str, int] = {}
        # The kernel caches rows by the identity of this tuple.
        self.sections = (
            *(self._rows, self._weights, self._offsets, self._terms),
            *(self.dimensions, SHIFT, FIXED_POINT, UNIT),
        )

    def row(self, term: str) -> int:
        """Return the number of the term's row, or -1."""
        number = self._known.get(term)
        if number is None:
            name = term.encode("utf-8", "surrogatepass")
            offsets, terms = self._offsets, self._terms
            rows = range(len(self._weights))
            place = bisect_left(
                rows, name, key=lambda at: bytes(terms[offsets[at] : offsets[at + 1]])
            )
            is_known = place < len(rows) and terms[offsets[place] : offsets[place + 1]] == name
            number = place if is_known else -1
            self._known[term] = number
        return number

    def term_statistics(self, term: str) -> tuple[float, float]:
        """Return (share of public skills with the term, emphasis in requests).

        The share is 0..1, and 0.0 for unknown terms. An emphasis of 1.0 is neutral.
        """
        row = self.row(term)
        if row < 0:
            return 0.0, 1.0
        return exp(-self._rarity[row] / RARITY_STEPS), self._emphasis[row] / EMPHASIS_STEPS

    def sums(self, counts: Iterable[tuple[str, float]], *, query: bool = False) -> list[int] | None:
        """Return Σ weight · row over the terms, an integer per dimension; None without any row.

        ``counts`` are terms with their frequencies.
        """
        rows, weights = self._row_weights(counts, query)
        if not rows:
            return None
        sums = [0] * self.dimensions
        for row, weight in zip(rows, weights, strict=True):
            vector = self._rows[row * self.dimensions : (row + 1) * self.dimensions].cast("b")
            sums = [old + weight * value for old, value in zip(sums, vector, strict=True)]
        return [value >> SHIFT for value in sums]

    def _row_weights(
        self, counts: Iterable[tuple[str, float]], query: bool
    ) -> tuple[list[int], list[int]]:
        """Return (row numbers, integer weights) of the terms that are in the table."""
        rows: list[int] = []
        weights: list[int] = []
        row_weights = self._query_weights if query else self._weights
        known = self._known.get
        for term, number in counts:
            row = known(term)
            if row is None:
                row = self.row(term)
            if row >= 0 and len(rows) < MAX_TERMS:
                times = 1.0 if number == 1 else 1.0 + log(number)
                weight = round(row_weights[row] * times / 16.0)
                rows.append(row)
                weights.append(min(max(weight, 1), MAX_WEIGHT))
        return rows, weights

    def vector(
        self,
        fields: Sequence[tuple[float, Iterable[tuple[str, float]]]],
        *,
        query: bool = False,
    ) -> bytes:
        """Return the unit vector of a text as signed bytes; empty when no term has a row.

        ``fields`` are (weight, term counts). Each field contributes a unit vector times its weight.
        """
        if KERNEL is not None:
            rows = [(weight, *self._row_weights(counts, query)) for weight, counts in fields]
            return KERNEL.text_vector(  # type: ignore[no-any-return]
                self._rows, self.dimensions, rows, SHIFT, FIXED_POINT, UNIT
            )
        mixed = [0.0] * self.dimensions
        for weight, counts in fields:
            sums = self.sums(counts, query=query)
            if sums is None:
                continue
            length = sum([value * value for value in sums])
            if length:
                scale = weight / sqrt(length)
                mixed = [old + scale * value for old, value in zip(mixed, sums, strict=True)]
        return unit_vector(mixed)


def unit_vector(mixed: Iterable[float]) -> bytes:
    """Return the normalised vector in the stored form; empty for a zero vector."""
    from array import array

    fine = [round(value * FIXED_POINT) for value in mixed]
    length = sum([value * value for value in fine])
    if not length:
        return b""
    scale = UNIT / sqrt(length)
    return array("b", [min(max(round(value * scale), -127), 127) for value in fine]).tobytes()


def shift_vector(
    vector: bytes,
    own_weight: float,
    neighbours: Sequence[tuple[bytes, float]],
    neighbour_weight: float,
) -> tuple[bytes, float, float] | None:
    """Return a query vector moved towards its neighbours (Rocchio feedback), in the stored form.

    The result is ``own_weight · vector + neighbour_weight · S / |S|`` with S = Σ weight · vector
    over ``neighbours``. Also returns ``|S|`` and the norm of the result before normalisation.
    Returns None when either is 0.
    """
    if KERNEL is not None:
        vectors = [neighbour for neighbour, _ in neighbours]
        weights = [weight for _, weight in neighbours]
        shifted: tuple[bytes, float, float] | None = KERNEL.shift_vector(
            vector, own_weight, vectors, weights, neighbour_weight, FIXED_POINT, UNIT
        )
        return shifted
    together = [0.0] * len(vector)
    for neighbour, weight in neighbours:
        values = memoryview(neighbour).cast("b")
        together = [old + weight * value for old, value in zip(together, values, strict=True)]
    length = _norm(together)
    if not length:
        return None
    share = neighbour_weight / length
    components = memoryview(vector).cast("b")
    mixed = [
        own_weight * component + share * value
        for component, value in zip(components, together, strict=True)
    ]
    whole = _norm(mixed)
    return (unit_vector(mixed), length, whole) if whole else None


def _norm(values: list[float]) -> float:
    return sqrt(stable_sum([value * value for value in values]))


def _damage(path: str, what: str) -> IndexDamaged:
    return IndexDamaged(f"the token table cannot be used: {what}", path=path)


_bundled: TokenTable | None = None


def bundled_table() -> TokenTable:
    """Return the table that is installed with the package, mapped once."""
    global _bundled  # noqa: PLW0603 - eight megabytes that every caller shares
    if _bundled is None:
        path = os.path.join(os.path.dirname(__file__), "data", "table.bin")
        with open(path, "rb") as file:
            _bundled = TokenTable(mmap(file.fileno(), 0, access=ACCESS_READ), path, trusted=True)
    return _bundled
