"""Segments that are never written: for many skills that have no index on disk."""

from __future__ import annotations

from collections.abc import Iterable

from skillyard.index.document import IndexedDocument
from skillyard.index.manifest import Manifest, Part
from skillyard.index.opening import searcher_over
from skillyard.index.reader import SegmentSearcher
from skillyard.index.segment import SegmentBuilder

__all__ = ["segments_of"]


def segments_of(documents: Iterable[IndexedDocument], dimensions: int) -> SegmentSearcher:
    """Return a searcher over the documents, whose keys must differ.

    The n-th document has the n-th ordinal of :meth:`SegmentSearcher.ordinals`.
    """
    built: list[bytes] = []
    builder = SegmentBuilder(dimensions)
    for document in documents:
        if builder.full:
            built.append(builder.build())
            builder = SegmentBuilder(dimensions)
        builder.add(document)
    if len(builder):
        built.append(builder.build())
    parts, place, blobs = [], 0, []
    for data in built:
        parts.append(Part("", place, len(data), frozenset()))
        blobs.append(data.ljust(-(-len(data) // 8) * 8, b"\0"))
        place += len(blobs[-1])
    manifest = Manifest(0, dimensions, {}, tuple(parts), {})
    return searcher_over("", manifest, memoryview(b"".join(blobs)))
