"""Verification of an index: checksums, and consistency between its sections."""

from __future__ import annotations

import os
from array import array

from skillyard.base.errors import Diagnostic, IndexDamaged
from skillyard.engine.index.segment_reader import (
    EXCLUDED,
    KEYS,
    SECTIONS,
    TERMS,
    SegmentReader,
    impact_byte,
)
from skillyard.engine.index.segment_searcher import open_index, tie_key


def verify(folder: str) -> list[Diagnostic]:
    """Return the faults of the index in ``folder``; an intact index has none.

    Checks every checksum, and compares postings with forward lists, the vocabulary and the keys.
    Raises SkillIoError when the index cannot be read.
    """
    try:
        searcher = open_index(folder)
        if searcher is None:
            return [_diagnostic("index_missing", folder, "there is no index here")]
        keys: set[str] = set()
        for segment in searcher.segments:
            _check_segment(segment)
            for number in segment.live():
                key = segment.key(number)
                if key in keys:
                    raise segment.mark_damaged("a document is contained twice")
                keys.add(key)
        for name in searcher.manifest.sides:
            searcher.side_file(name)
    except IndexDamaged as error:
        return [_diagnostic("index_damaged", error.path or folder, error.message)]
    return _unreferenced_files(folder, searcher.manifest.parts, searcher.manifest.sides.values())


def _diagnostic(code: str, path: str, message: str, severity: str = "error") -> Diagnostic:
    return Diagnostic(code, severity, path, message, "rebuild it with `skillyard index build`")


def _unreferenced_files(folder: str, parts: object, sides: object) -> list[Diagnostic]:
    known = {part.file for part in (*parts, *sides)}  # type: ignore[misc]
    return [
        _diagnostic("index_stray_file", os.path.join(folder, name), "no generation uses it", "info")
        for name in sorted(os.listdir(folder))
        if name.endswith((".seg", ".side", ".tmp")) and name not in known
    ]


def _check_segment(segment: SegmentReader) -> None:
    """Raise IndexDamaged unless all sections of the segment are consistent."""
    for name in SECTIONS:
        segment.section(name)
    for number in range(segment.terms):
        if segment.find(TERMS, segment.term_name(number)) != number:
            raise segment.mark_damaged("a term cannot be found")
    for number in range(segment.documents):
        key = segment.key(number)
        if segment.find(KEYS, key) != number:
            raise segment.mark_damaged("a key cannot be found")
        if segment.view("ties", number, number + 1)[0] != tie_key(key)[0]:
            raise segment.mark_damaged("a tie-break value does not match its key")
        segment.record(number)
    _check_postings(segment)


def _check_postings(segment: SegmentReader) -> None:
    """Check that postings and forward lists contain the same entries."""
    places = array("I", segment.section("posting_starts")[: segment.terms])
    for number in range(segment.documents):
        if segment.flags(number) & EXCLUDED:
            continue
        first, last = segment.view("forward_starts", number, number + 2)
        terms = segment.view("forward_terms", first, last)
        impacts = segment.view("forward_impacts", first, last)
        for term, impact in zip(terms, impacts, strict=True):
            place = places[term]
            same = segment.view("posting_documents", place, place + 1)[
                0
            ] == number and segment.view("posting_impacts", place, place + 1)[0] == impact_byte(
                impact
            )
            if not same:
                raise segment.mark_damaged("a posting and a forward list differ")
            places[term] = place + 1
    if list(places) != list(segment.section("posting_starts")[1:]):
        raise segment.mark_damaged("a posting belongs to no document")
