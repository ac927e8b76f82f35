"""What an index holds of one skill: its terms with their impacts, its vector, its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array

__all__ = ["EXCLUDED", "IndexedDocument"]

EXCLUDED = 1
"""Flag: kept for its record, never an answer and not counted (hidden and shadowed skills)."""


class IndexedDocument(NamedTuple):
    """One document, analysed and weighed; everything an index needs to know of it."""

    key: str
    """Its identity inside one index: adding a document replaces the one of the same key."""
    record: bytes
    """What the layer above wants back; the index does not look inside."""
    flags: int
    """0..255; see EXCLUDED."""
    terms: tuple[str, ...]
    """Each term once, in no promised order."""
    impacts: tuple[float, ...] | array[float]
    """Parallel to ``terms``: the saturated weight of each, in (0, 1), exact as a 32-bit float.
    An array is one of such floats."""
    vector: bytes
    """``dimensions`` signed bytes; empty where the text gives none."""
