"""Opening an index on disk."""

from __future__ import annotations

import os

from skillyard.errors import IndexDamaged
from skillyard.index.kernel import KERNEL
from skillyard.index.manifest import NAME, REBUILD, Manifest, map_file, parse_manifest
from skillyard.index.segment_searcher import SegmentSearcher

__all__ = ["make_searcher", "open_index"]

MAX_ATTEMPTS = 8
"""How often a manifest is read again when a writer took its files away meanwhile."""


def open_index(folder: str, before: SegmentSearcher | None = None) -> SegmentSearcher | None:
    """Open the current generation of the index in ``folder``; None when there is none.

    Of an earlier generation, ``before``, what was checked is not checked again. Raises
    IndexDamaged, and SkillIoError when it cannot be read. A later change is not seen: see
    :meth:`SegmentSearcher.stale`.
    """
    missing = ""
    for _ in range(MAX_ATTEMPTS):
        data = map_file(os.path.join(folder, NAME))
        if data is None:
            return None
        manifest = parse_manifest(memoryview(data), os.path.join(folder, NAME))
        try:
            return make_searcher(folder, manifest, memoryview(data), before)
        except FileNotFoundError as error:  # a writer merged: the new manifest says where to
            missing = str(error.filename)
    raise IndexDamaged("a segment is missing", path=missing, hint=REBUILD)


def make_searcher(
    folder: str, manifest: Manifest, data: memoryview, before: SegmentSearcher | None = None
) -> SegmentSearcher:
    """Return the searcher over a generation: through the kernel where there is one."""
    if KERNEL is None:
        return SegmentSearcher(folder, manifest, data, before)
    from skillyard.index.kernel_searcher import KernelSearcher

    return KernelSearcher(folder, manifest, data, before)
