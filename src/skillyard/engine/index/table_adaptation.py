"""Adapts the token table to a library: adds rows for terms that the bundled table does not contain.

The vector of a new term (a product name, a team's jargon) is the mean vector of the skills that
use it, minus the mean vector of all skills. No labels and no model are needed.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from math import log, sqrt

from skillyard.engine.index.bm25f import FieldCounts, count_fields
from skillyard.engine.index.document_builder import vector_fields
from skillyard.engine.index.token_table import (
    BIAS,
    EMPHASIS_STEPS,
    RARITY_STEPS,
    TokenRow,
    TokenTable,
    pack_lanes,
    write_table,
)
from skillyard.engine.skill import Skill

MIN_SKILLS = 2
"""Skills that must use a term before it gets a row; one skill is too little evidence."""
MAX_TERMS = 20_000
"""Terms added at most: those used by the most skills."""
MAX_TRACKED_TERMS = 60_000
"""Terms tracked at a time. Beyond it, terms seen in one skill are dropped."""
MAX_TERM_CHARS = 24


def adapt_table(table: TokenTable, skills: Iterable[Skill]) -> TokenTable:
    """Return the table with rows for the new terms of the skills, or ``table`` without any."""
    sums = _DirectionSums(table)
    for skill in skills:
        sums.add(count_fields(skill))
    return sums.table()


def _unknown_terms(counts: FieldCounts, table: TokenTable) -> set[str]:
    fields = (counts.name, counts.description, counts.tags, counts.headings)
    return {
        term
        for field in fields
        for term in field
        if term.isascii()
        and 1 < len(term) <= MAX_TERM_CHARS
        and any(char.isalpha() for char in term)
        and table.row(term) < 0
    }


class _DirectionSums:
    """Sums of skill vectors: one for each new term, and one for all skills."""

    def __init__(self, base: TokenTable) -> None:
        self.base = base
        self.count = 0
        self.everything = 0
        self.sums: dict[str, tuple[int, int]] = {}

    def add(self, counts: FieldCounts) -> None:
        """Add one skill, given by its term counts."""
        vector = self.base.vector(vector_fields(counts))
        if not vector:
            return
        lanes = pack_lanes(vector)
        self.count += 1
        self.everything += lanes
        for term in _unknown_terms(counts, self.base):
            number, total = self.sums.get(term, (0, 0))
            self.sums[term] = (number + 1, total + lanes)
        if len(self.sums) > MAX_TRACKED_TERMS:
            self.sums = {term: pair for term, pair in self.sums.items() if pair[0] > 1}

    def table(self) -> TokenTable:
        """Return the base table with the new rows."""
        new = sorted(
            ((number, term) for term, (number, _) in self.sums.items() if number >= MIN_SKILLS),
            key=lambda pair: (-pair[0], pair[1]),
        )[:MAX_TERMS]
        if not new:
            return self.base
        mean = _means(self.everything, self.count, self.base.dimensions)
        lengths, ratio = _lengths(self.base)
        rows = dict(self.base.items())
        for number, term in new:
            row = self._row(term, number, mean, lengths, ratio)
            if row is not None:
                rows[term] = row
        terms = sorted(rows, key=lambda term: term.encode())
        data = write_table(
            terms,
            [rows[term][0] for term in terms],
            b"".join(rows[term][1] for term in terms),
            self.base.dimensions,
        )
        return TokenTable(data, self.base.path, trusted=True)

    def _row(
        self, term: str, number: int, mean: list[float], lengths: list[float], ratio: float
    ) -> tuple[TokenRow, bytes] | None:
        term_mean = _means(self.sums[term][1], number, self.base.dimensions)
        direction = [value - middle for value, middle in zip(term_mean, mean, strict=True)]
        largest = max(map(abs, direction))
        if not largest:
            return None
        quantised = array("b", [round(127 * value / largest) for value in direction])
        rarity = min(255, max(0, round(-log((number + 0.3) / self.count) * RARITY_STEPS)))
        length = lengths[rarity] * number / (number + MIN_SKILLS)
        weight = max(1, round(length / sqrt(sum([value * value for value in quantised]))))
        query_weight = max(1, round(weight * ratio))
        return TokenRow(
            min(weight, 8_190), min(query_weight, 8_190), EMPHASIS_STEPS, rarity
        ), quantised.tobytes()


def _means(total: int, number: int, dimensions: int) -> list[float]:
    lanes = array("I", total.to_bytes(4 * dimensions, "little"))
    return [lane / number - BIAS for lane in lanes]


def _lengths(table: TokenTable) -> tuple[list[float], float]:
    """Return the mean row norm for each rarity step, and the ratio of query to document weights."""
    sums = [[0.0, 0] for _ in range(256)]
    weights = query_weights = 0
    for row, vector in dict(table.items()).values():
        length = row.weight * sqrt(sum([value * value for value in array("b", vector)]))
        sums[row.rarity][0] += length
        sums[row.rarity][1] += 1
        weights += row.weight
        query_weights += row.query_weight
    overall = sum(total for total, _ in sums) / max(1, sum(number for _, number in sums))
    near = []
    for step in range(256):
        window = sums[max(0, step - 8) : step + 9]
        number = sum(count for _, count in window)
        near.append(sum(total for total, _ in window) / number if number else overall)
    return near, query_weights / max(1, weights)
