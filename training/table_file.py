"""Writes the file of a token table, which :mod:`skillyard.engine.index.token_table` reads."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from skillyard.engine.index.token_table import HEADER, MAGIC


class TokenRow(NamedTuple):
    """The weights and statistics of one term."""

    weight: int
    """Weight in the vector of a skill, 1..65,535."""
    query_weight: int
    """Weight in the vector of a request, 1..65,535."""
    emphasis: int
    """Learned importance in requests relative to the rarity, in 64ths; 64 is neutral."""
    rarity: int
    """Negative logarithm of the share of public skills with the term, in 16ths."""


def write_table(
    terms: Sequence[str], rows: Sequence[TokenRow], vectors: bytes, dimensions: int
) -> bytes:
    """Return the bytes of a table file. ``terms`` must be unique and in byte order."""
    encoded = [term.encode("utf-8") for term in terms]
    if encoded != sorted(set(encoded)) or not len(rows) == len(terms) == len(vectors) / dimensions:
        raise ValueError("terms must be sorted and unique, with one row each")
    offsets = array("I", [0])
    for term in encoded:
        offsets.append(offsets[-1] + len(term))
    columns = zip(*rows, strict=True)
    packed = [array(kind, column).tobytes() for kind, column in zip("HHBB", columns, strict=True)]
    rest = b"".join([*packed, offsets.tobytes(), *encoded, vectors])
    return HEADER.pack(MAGIC, len(terms), dimensions, offsets[-1], crc32(rest)) + rest
