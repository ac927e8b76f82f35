"""Verification of an index: every byte is compared with its checksum."""

from __future__ import annotations

import os

from skillyard.base.errors import Diagnostic, IndexDamaged
from skillyard.engine.index.segment_reader import SECTIONS
from skillyard.engine.index.segment_searcher import open_index


def verify(folder: str) -> list[Diagnostic]:
    """Return the faults of the index in ``folder``; an intact index has none.

    Raises SkillIoError when the index cannot be read.
    """
    try:
        searcher = open_index(folder)
        if searcher is None:
            return [_diagnostic("index_missing", folder, "there is no index here")]
        keys: set[str] = set()
        for segment in searcher.segments:
            for name in SECTIONS:
                segment.section(name)
            for number in segment.live():
                key = segment.key(number)
                if key in keys:
                    raise segment.mark_damaged("a document is contained twice")
                keys.add(key)
        for name in searcher.manifest.sides:
            searcher.side_file(name)
    except IndexDamaged as error:
        return [_diagnostic("index_damaged", error.path or folder, error.message)]
    known = {part.file for part in searcher.manifest.parts}
    known |= {side.file for side in searcher.manifest.sides.values()}
    return [
        _diagnostic("index_stray_file", os.path.join(folder, name), "no generation uses it", "info")
        for name in sorted(os.listdir(folder))
        if name.endswith((".seg", ".side", ".tmp")) and name not in known
    ]


def _diagnostic(code: str, path: str, message: str, severity: str = "error") -> Diagnostic:
    return Diagnostic(code, severity, path, message, "rebuild it with `skillyard index build`")
