"""Writes a segment: documents → the bytes of one immutable file."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TypeAlias
from zlib import crc32

from skillyard.base.errors import InvalidInput
from skillyard.engine.index.kernel import KERNEL
from skillyard.engine.index.segment_reader import (
    EXCLUDED,
    HEADER_SIZE,
    MAX_DOCUMENTS,
    PAGE,
    SECTIONS,
    IndexedDocument,
    impact_byte,
    pack_header,
)
from skillyard.engine.index.segment_searcher import tie_key

_Sections: TypeAlias = "dict[str, bytes | bytearray | array[int] | array[float]]"

MAX_POSTINGS = 48_000_000
"""Postings per segment: about half a gigabyte with the forward lists."""


class _TermNumbers(dict[str, int]):
    """Term numbers. A new term gets the next number."""

    def __missing__(self, term: str) -> int:
        number = self[term] = len(self)
        return number


class SegmentWriter:
    """Collects documents and builds the file. Its bytes depend on the order of the documents."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._begin()

    def _begin(self) -> None:
        self._terms = _TermNumbers()
        self._keys: list[bytes] = []
        self._records: list[bytes] = []
        self._flags = bytearray()
        self._ties = array("Q")
        self._vectors = bytearray()
        self._starts = array("I", [0])
        self._forward_terms = array("I")
        self._forward_impacts = array("f")

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def full(self) -> bool:
        """True when the next document belongs in another segment."""
        return len(self) >= MAX_DOCUMENTS or len(self._forward_terms) >= MAX_POSTINGS

    def add(self, document: IndexedDocument) -> None:
        """Add a document. Raises InvalidInput for a vector of another size."""
        if document.vector and len(document.vector) != self.dimensions:
            raise InvalidInput(
                f"{document.key}: the vector has {len(document.vector)} dimensions,"
                f" the index {self.dimensions}"
            )
        # Terms are numbered by first occurrence until the vocabulary is sorted.
        impacts = document.impacts
        if not isinstance(impacts, array):
            impacts = array("f", impacts if KERNEL is None else KERNEL.to_float32(impacts))
        if KERNEL is not None:
            self._forward_terms.frombytes(KERNEL.number_terms(self._terms, document.terms))
        else:
            self._forward_terms.extend(map(self._terms.__getitem__, document.terms))
        self._forward_impacts.extend(impacts)
        self._starts.append(len(self._forward_terms))
        self._keys.append(document.key.encode("utf-8", "surrogatepass"))
        self._records.append(document.record)
        self._flags.append(document.flags)
        self._ties.append(tie_key(document.key)[0])
        self._vectors += document.vector or bytes(self.dimensions)

    def build(self) -> bytes:
        """Return the bytes of the segment, and reset the writer to free its memory."""
        names = sorted(self._terms)  # code point order equals UTF-8 byte order
        renumbered = self._ranks(names)
        self._terms.clear()
        self._sort_forward(renumbered)
        terms = [name.encode("utf-8", "surrogatepass") for name in names]
        starts, documents, impacts = self._invert(len(terms))
        sections: _Sections = {
            "term_slots": hash_slots(terms),
            "term_offsets": _offsets(terms, "I"),
            "term_bytes": b"".join(terms),
            "posting_starts": starts,
            "posting_documents": documents,
            "posting_impacts": impacts,
            "forward_starts": self._starts,
            "forward_terms": self._forward_terms,
            "forward_impacts": self._forward_impacts,
            "vectors": self._vectors,
            "ties": self._ties,
            "flags": self._flags,
            "key_offsets": _offsets(self._keys, "I"),
            "key_bytes": b"".join(self._keys),
            "key_slots": hash_slots(self._keys),
            "record_offsets": _offsets(self._records, "Q"),
            "record_bytes": b"".join(self._records),
        }
        count, vocabulary = len(self), len(terms)
        del names, terms, starts, documents, impacts
        self._begin()
        return _assemble(sections, count, vocabulary, self.dimensions)

    def _ranks(self, names: list[str]) -> array[int]:
        """Return the sorted position of each term, by its number of first occurrence."""
        if KERNEL is not None:
            return array("I", KERNEL.sorted_ranks(self._terms, names))
        ranks = array("I", bytes(4 * len(names)))
        for place, name in enumerate(names):
            ranks[self._terms[name]] = place
        return ranks

    def _sort_forward(self, renumbered: array[int]) -> None:
        """Renumber the terms of every forward list, and sort each list."""
        terms, impacts = self._forward_terms, self._forward_impacts
        if KERNEL is not None:
            KERNEL.sort_forward_lists(self._starts, terms, impacts, renumbered)
            return
        for first, last in zip(self._starts, self._starts[1:], strict=False):
            pairs = sorted(
                zip([renumbered[t] for t in terms[first:last]], impacts[first:last], strict=True)
            )
            terms[first:last] = array("I", [term for term, _ in pairs])
            impacts[first:last] = array("f", [impact for _, impact in pairs])

    def _invert(self, terms: int) -> tuple[bytes, bytes, bytes]:
        """Return (posting starts, documents, impact bytes): the inverted forward lists."""
        excluded = bytes(flag & EXCLUDED for flag in self._flags)
        if KERNEL is not None:
            return KERNEL.invert_forward_lists(  # type: ignore[no-any-return]
                self._starts, self._forward_terms, self._forward_impacts, excluded, terms
            )
        counts = [0] * terms
        spans = list(zip(self._starts, self._starts[1:], strict=False))
        for (first, last), out in zip(spans, excluded, strict=True):
            if not out:
                for term in self._forward_terms[first:last]:
                    counts[term] += 1
        starts = array("I", [0, *accumulate(counts)])
        places = list(starts[:-1])
        documents = array("H", bytes(2 * starts[-1]))
        impacts = bytearray(starts[-1])
        for number, ((first, last), out) in enumerate(zip(spans, excluded, strict=True)):
            if out:
                continue
            term_impacts = zip(
                self._forward_terms[first:last], self._forward_impacts[first:last], strict=True
            )
            for term, impact in term_impacts:
                place = places[term]
                documents[place] = number
                impacts[place] = impact_byte(impact)
                places[term] = place + 1
        return starts.tobytes(), documents.tobytes(), bytes(impacts)


def build_segments(documents: Iterable[IndexedDocument], dimensions: int) -> Iterator[bytes]:
    """Yield the segments of the documents, as many as they fill."""
    writer = SegmentWriter(dimensions)
    for document in documents:
        if writer.full:
            yield writer.build()
            writer = SegmentWriter(dimensions)
        writer.add(document)
    if len(writer):
        yield writer.build()


def _offsets(items: Iterable[bytes], kind: str) -> bytes:
    try:
        return array(kind, accumulate(map(len, items), initial=0)).tobytes()
    except OverflowError:
        raise InvalidInput("one segment cannot hold more than 4 GiB of names") from None


def hash_slots(names: list[bytes]) -> bytes:
    """Return an open-addressing hash table keyed by CRC-32: name number + 1, 0 when empty."""
    if KERNEL is not None:
        return KERNEL.hash_slots(names)  # type: ignore[no-any-return]
    size = 8
    while size < 2 * len(names):
        size *= 2
    slots = array("I", bytes(4 * size))
    mask = size - 1
    for number, name in enumerate(names, 1):
        place = crc32(name) & mask
        while slots[place]:
            place = (place + 1) & mask
        slots[place] = number
    return slots.tobytes()


def _assemble(sections: _Sections, documents: int, terms: int, dimensions: int) -> bytes:
    """Return the bytes of the file. Each section is freed after it is copied."""
    places = []
    place = HEADER_SIZE
    for name in SECTIONS:
        length = memoryview(sections[name]).nbytes
        places.append((place, length))
        place += -(-length // 8) * 8
    pages = -(-(place - HEADER_SIZE) // PAGE)
    body = bytearray(place + 4 * pages + 4)
    view = memoryview(body)
    view[:HEADER_SIZE] = pack_header(documents, terms, dimensions, place, places)
    for name, (start, length) in zip(SECTIONS, places, strict=True):
        view[start : start + length] = memoryview(sections.pop(name)).cast("B")
    ends = (*range(HEADER_SIZE + PAGE, place, PAGE), place)
    checks = array("I", (crc32(view[HEADER_SIZE + n * PAGE : e]) for n, e in enumerate(ends)))
    checksums = checks.tobytes() if place > HEADER_SIZE else b""
    view[place:] = checksums + array("I", [crc32(checksums)]).tobytes()
    view.release()
    return bytes(body)
