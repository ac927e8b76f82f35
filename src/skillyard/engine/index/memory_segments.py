"""Segments in memory, for catalogs without an index on disk."""

from __future__ import annotations

from collections.abc import Iterable

from skillyard.engine.index.document import IndexedDocument
from skillyard.engine.index.index_reader import make_searcher
from skillyard.engine.index.manifest import Manifest, SegmentEntry
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.index.segment_writer import SegmentWriter


def build_memory_segments(documents: Iterable[IndexedDocument], dimensions: int) -> SegmentSearcher:
    """Return a searcher over the documents. Their keys must be unique.

    The n-th document has the n-th ordinal of :meth:`SegmentSearcher.ordinals`.
    """
    segments: list[bytes] = []
    builder = SegmentWriter(dimensions)
    for document in documents:
        if builder.full:
            segments.append(builder.build())
            builder = SegmentWriter(dimensions)
        builder.add(document)
    if len(builder):
        segments.append(builder.build())
    parts, place, blobs = [], 0, []
    for data in segments:
        parts.append(SegmentEntry("", place, len(data), frozenset()))
        blobs.append(data.ljust(-(-len(data) // 8) * 8, b"\0"))
        place += len(blobs[-1])
    manifest = Manifest(0, dimensions, {}, tuple(parts), {})
    return make_searcher("", manifest, memoryview(b"".join(blobs)))
