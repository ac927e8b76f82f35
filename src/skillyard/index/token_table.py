"""The static token table: a small vector for each of some thirty thousand terms.

No model runs: the vector of a text is a weighted sum of its terms' rows. All sums are sums of
whole numbers, so that every machine and every backend gives the same bytes.

The file: magic, counts and a checksum; four columns of numbers, one for each row; the terms in
byte order; the rows as signed bytes. How it is made stands in ``training/``.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from math import exp, log, sqrt
from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING, NamedTuple

from skillyard.errors import IndexDamaged
from skillyard.index.kernel import KERNEL, crc32
from skillyard.sums import stable_sum

if TYPE_CHECKING:
    Buffer = bytes | mmap

__all__ = ["Row", "TokenTable", "bundled_table", "shift_vector", "unit_vector", "write_table"]

MAGIC = b"SKYTAB02"
_HEADER = struct.Struct("<8sIIII")  # magic, rows, dimensions, bytes of terms, CRC-32 of the rest

MAX_TERMS = 4_096
"""Terms of one text that are summed: with weights below 4,096 no 32-bit lane overflows."""
MAX_WEIGHT = 4_095
SHIFT = 6
"""Bits dropped from a sum before it is squared, so that 64 bits hold the sum of squares."""
UNIT = 363.0
"""What one is in a stored vector: components of unit vectors stay below 0.35 but for outliers."""
FIXED_POINT = float(1 << 20)
"""Steps of one in which fields are added up."""
EMPHASIS_STEPS = 64
"""Steps of one in which a term's emphasis is stored."""
RARITY_STEPS = 16
"""Steps of one in which a term's rarity (a natural logarithm) is stored."""


class Row(NamedTuple):
    """What a table knows of one term, beside its vector."""

    weight: int
    """What the row counts in a skill's vector, 1..65,535."""
    query_weight: int
    """What it counts in a request's vector."""
    emphasis: int
    """How much the term says in a request, in 64ths: learned from requests; 64 is as its rarity."""
    rarity: int
    """Minus the logarithm of the share of public skills that hold the term, in 16ths."""


class TokenTable:
    """Rows by term. Immutable; safe to share between threads."""

    __slots__ = (
        *("_emphasis", "_known", "_lanes", "_offsets", "_query_weights", "_rarity", "_rows"),
        *("_terms", "_weights", "data", "dimensions", "id", "path", "sections"),
    )

    def __init__(self, data: Buffer, path: str = "", *, trusted: bool = False) -> None:
        """Take the bytes of a table file. Raises IndexDamaged for anything else.

        ``trusted`` leaves out the checksum: for the file that was installed with the code.
        """
        try:
            magic, rows, self.dimensions, size, check = _HEADER.unpack_from(data)
        except struct.error:
            raise _damaged(path, "it is too short") from None
        if magic != MAGIC:
            raise _damaged(path, "it is no token table, or one of another version")
        if len(data) != _HEADER.size + 6 * rows + 4 * (rows + 1) + size + rows * self.dimensions:
            raise _damaged(path, "its size does not match its header")
        if not trusted and crc32(memoryview(data)[_HEADER.size :]) != check:
            raise _damaged(path, "its checksum does not match")
        self.path = path
        self.data = data
        self.id = f"{check:08x}-{rows}x{self.dimensions}"
        offset = _HEADER.size
        whole = memoryview(data)  # nothing is copied: a question looks at a few rows
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
        self._lanes: dict[int, int] = {}
        # What the kernel reads, one value for as long as the table lives: it remembers rows by it.
        self.sections = (
            *(self._rows, self._weights, self._offsets, self._terms),
            *(self.dimensions, SHIFT, FIXED_POINT, UNIT),
        )

    def __len__(self) -> int:
        return len(self._weights)

    def row(self, term: str) -> int:
        """Return the number of the term's row, or -1."""
        number = self._known.get(term)
        if number is None:
            number = self._known[term] = self._find(term.encode("utf-8", "surrogatepass"))
        return number

    def _find(self, term: bytes) -> int:
        place = bisect_left(self, term)
        return place if place < len(self) and self[place] == term else -1

    def __getitem__(self, place: int) -> bytes:
        return self._terms[self._offsets[place] : self._offsets[place + 1]].tobytes()

    def items(self) -> Iterator[tuple[str, tuple[Row, bytes]]]:
        """Yield every term with its row and its vector, in byte order."""
        for place in range(len(self)):
            row = Row(
                self._weights[place],
                self._query_weights[place],
                self._emphasis[place],
                self._rarity[place],
            )
            first = place * self.dimensions
            vector = bytes(self._rows[first : first + self.dimensions])
            yield self[place].decode(), (row, vector)

    def term_statistics(self, term: str) -> tuple[float, float]:
        """Return (share of public skills that hold a term, what it says in a request).

        The share is 0..1, and 0.0 for unknown terms; 1.0 says as much as the term's rarity does.
        """
        row = self._known.get(term)
        if row is None:
            row = self.row(term)
        if row < 0:
            return 0.0, 1.0
        return exp(-self._rarity[row] / RARITY_STEPS), self._emphasis[row] / EMPHASIS_STEPS

    def sums(self, counts: Iterable[tuple[str, float]], *, query: bool = False) -> list[int] | None:
        """Return Σ weight · row over the terms, a whole number for each dimension; None for none.

        ``counts`` are terms with how often they stand.
        """
        rows, weights = self._row_weights(counts, query)
        if not rows:
            return None
        total = 0
        for row, weight in zip(rows, weights, strict=True):
            total += weight * self._lane(row)
        lanes = memoryview(total.to_bytes(4 * self.dimensions, "little")).cast("I")
        bias = 128 * sum(weights)
        return [(lane - bias) >> SHIFT for lane in lanes]

    def _row_weights(
        self, counts: Iterable[tuple[str, float]], query: bool
    ) -> tuple[list[int], list[int]]:
        """Return (rows, their whole weights) of the terms that the table knows."""
        rows: list[int] = []
        weights: list[int] = []
        listed = self._query_weights if query else self._weights
        known = self._known.get
        for term, number in counts:
            row = known(term)
            if row is None:
                row = self.row(term)
            if row >= 0 and len(rows) < MAX_TERMS:
                times = 1.0 if number == 1 else 1.0 + log(number)
                weight = round(listed[row] * times / 16.0)
                rows.append(row)
                weights.append(weight if 1 <= weight <= MAX_WEIGHT else _clamp_weight(weight))
        return rows, weights

    def _lane(self, row: int) -> int:
        """Return the row as one whole number: each component plus 128 in 32 bits of its own."""
        lane = self._lanes.get(row)
        if lane is None:
            start = row * self.dimensions
            signed = bytes(self._rows[start : start + self.dimensions])
            spread = bytearray(4 * self.dimensions)
            spread[::4] = signed.translate(_BIASED)
            lane = int.from_bytes(spread, "little")
            if len(self._lanes) < 8_192:  # about 10 MB
                self._lanes[row] = lane
        return lane

    def vector(
        self,
        fields: Sequence[tuple[float, Iterable[tuple[str, float]]]],
        *,
        query: bool = False,
    ) -> bytes:
        """Return the unit vector of a text in signed bytes; empty when no term is known.

        ``fields`` are (weight, terms): each field's sum counts by its direction, not its length.
        """
        if KERNEL is not None:
            listed = [(weight, *self._row_weights(counts, query)) for weight, counts in fields]
            return KERNEL.direction(  # type: ignore[no-any-return]
                self._rows, self.dimensions, listed, SHIFT, FIXED_POINT, UNIT
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


# A signed byte to the same value plus 128.
_BIASED = bytes((code + 128) & 255 for code in range(256))


def _clamp_weight(weight: int) -> int:
    return min(max(weight, 1), MAX_WEIGHT)


def unit_vector(mixed: Iterable[float]) -> bytes:
    """Return the direction as a stored vector: components of about -1..1; nothing for zeros."""
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
    """Return a direction moved towards a weighed sum of others, as a stored vector.

    That is ``own · asked + theirs · S / |S|``, S being Σ weight · vector over ``neighbours``, each a
    stored vector. With it come ``|S|`` and the length of the whole; None where either is 0.
    """
    if KERNEL is not None:
        vectors = [neighbour for neighbour, _ in neighbours]
        weights = [weight for _, weight in neighbours]
        shifted: tuple[bytes, float, float] | None = KERNEL.moved(
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


def write_table(
    terms: Sequence[str], rows: Sequence[Row], vectors: bytes, dimensions: int
) -> bytes:
    """Return the bytes of a table file; ``terms`` must stand in byte order, each once."""
    from array import array

    encoded = [term.encode("utf-8") for term in terms]
    if encoded != sorted(set(encoded)) or not len(rows) == len(terms) == len(vectors) / dimensions:
        raise ValueError("terms must be sorted and unique, with one row each")
    offsets = array("I", [0])
    for term in encoded:
        offsets.append(offsets[-1] + len(term))
    columns = zip(*rows, strict=True)
    packed = [array(kind, column).tobytes() for kind, column in zip("HHBB", columns, strict=True)]
    rest = b"".join([*packed, offsets.tobytes(), *encoded, vectors])
    return _HEADER.pack(MAGIC, len(terms), dimensions, offsets[-1], crc32(rest)) + rest


def _damaged(path: str, what: str) -> IndexDamaged:
    return IndexDamaged(f"the token table cannot be used: {what}", path=path)


_bundled: TokenTable | None = None


def bundled_table() -> TokenTable:
    """Return the table that comes with the package, read once."""
    global _bundled  # noqa: PLW0603 - eight megabytes that every caller shares
    if _bundled is None:
        path = os.path.join(os.path.dirname(__file__), "data", "table.bin")
        with open(path, "rb") as file:
            _bundled = TokenTable(mmap(file.fileno(), 0, access=ACCESS_READ), path, trusted=True)
    return _bundled
