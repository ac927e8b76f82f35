"""Opens an index on disk."""

from __future__ import annotations

import os

from skillyard.base.errors import IndexDamaged
from skillyard.engine.index.kernel import KERNEL
from skillyard.engine.index.manifest import NAME, REBUILD, Manifest, map_file, parse_manifest
from skillyard.engine.index.segment_searcher import SegmentSearcher

MAX_ATTEMPTS = 8
"""Attempts to open a generation while a writer keeps replacing it."""


def open_index(folder: str, before: SegmentSearcher | None = None) -> SegmentSearcher | None:
    """Open the current generation of the index in ``folder``. Returns None when there is none.

    Segments shared with ``before``, an earlier generation, are not verified again. The searcher
    does not see later commits; see :meth:`SegmentSearcher.stale`. Raises IndexDamaged, and
    SkillIoError when the index cannot be read.
    """
    missing = ""
    for _ in range(MAX_ATTEMPTS):
        data = map_file(os.path.join(folder, NAME))
        if data is None:
            return None
        manifest = parse_manifest(memoryview(data), os.path.join(folder, NAME))
        try:
            return make_searcher(folder, manifest, memoryview(data), before)
        except FileNotFoundError as error:  # a merge removed the segment; read the new manifest
            missing = str(error.filename)
    raise IndexDamaged("a segment is missing", path=missing, hint=REBUILD)


def make_searcher(
    folder: str, manifest: Manifest, data: memoryview, before: SegmentSearcher | None = None
) -> SegmentSearcher:
    """Return the searcher of a generation; it uses the kernel when that is available."""
    if KERNEL is None:
        return SegmentSearcher(folder, manifest, data, before)
    from skillyard.engine.index.kernel_searcher import KernelSearcher

    return KernelSearcher(folder, manifest, data, before)
