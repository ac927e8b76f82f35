"""The document of one skill: terms with impacts, vector and record."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from array import array

    from skillyard.engine.skill import Skill


def document_key(skill: Skill) -> str:
    """Return the key of a skill in an index: its path, or its id when it was built in code."""
    return skill.path or skill.id


class IndexedDocument(NamedTuple):
    """One analysed document, as an index stores it."""

    key: str
    """Unique in one index. Adding a document replaces the one with the same key."""
    record: bytes
    """Opaque bytes that the caller gets back."""
    flags: int
    """0..255; see :data:`skillyard.engine.index.segment_reader.EXCLUDED`."""
    terms: tuple[str, ...]
    """Each term once, in any order."""
    impacts: tuple[float, ...] | array[float]
    """Parallel to ``terms``: saturated weights in (0, 1), exact as 32-bit floats."""
    vector: bytes
    """``dimensions`` signed bytes; empty when the text has no vector."""
