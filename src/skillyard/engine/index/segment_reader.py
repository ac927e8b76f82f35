"""A segment: its documents, its file format, and the reader that searches it in place.

    header   one page: magic, version, counts, (offset, length) of each section, CRC-32
    sections little endian, each starting at a multiple of 8
    pages    CRC-32 of every page from the end of the header to here, and one over themselves

The reader verifies a page once before it first uses a byte of it. Opening is cheap, and damage is
detected before it can affect a result.
"""

from __future__ import annotations

import struct
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from skillyard.base.errors import IndexDamaged
from skillyard.engine.index.kernel import KERNEL

if TYPE_CHECKING:
    from array import array

    from skillyard.engine.skill import Skill

EXCLUDED = 1
"""Flag of documents that are stored but never found or counted (hidden and shadowed skills)."""
MAGIC = b"SKYSEG\x00\x02"
PAGE = 1 << 12
HEADER_SIZE = 1 << 10
MAX_DOCUMENTS = 1 << 16
"""Documents per segment: their numbers fit 16 bits, and the score accumulators fit the cache."""

SECTIONS = (
    "term_slots",  # u32: hash table over CRC-32 of the term, term number + 1, 0 is empty
    "term_offsets",  # u32[terms + 1] into term_bytes
    "term_bytes",
    "posting_starts",  # u32[terms + 1] into postings
    "posting_documents",  # u16, ascending for each term
    "posting_impacts",  # u8, 1..255
    "forward_starts",  # u32[documents + 1] into forward lists
    "forward_terms",  # u32, ascending for each document
    "forward_impacts",  # f32
    "vectors",  # i8[documents * dimensions]
    "ties",  # u64[documents]
    "flags",  # u8[documents]
    "key_offsets",  # u32[documents + 1] into key_bytes
    "key_bytes",
    "key_slots",  # u32: hash table over CRC-32 of the key, document number + 1
    "record_offsets",  # u64[documents + 1] into record_bytes
    "record_bytes",
)

_FIXED = struct.Struct("<8sIIIIQ")  # magic, documents, terms, dimensions, reserved, pages offset
_PLACE = struct.Struct("<QQ")
_CHECK = struct.Struct("<I")

LITTLE_ENDIAN = sys.byteorder == "little"


def pack_header(
    documents: int, terms: int, dimensions: int, pages: int, places: Iterable[tuple[int, int]]
) -> bytes:
    """Return the bytes of a header.

    ``pages`` is the offset of the page checksums at the end of the file, ``places`` are (offset,
    length) of each section, in the order of :data:`SECTIONS`.
    """
    fixed = _FIXED.pack(MAGIC, documents, terms, dimensions, 0, pages)
    body = fixed + b"".join(_PLACE.pack(*place) for place in places)
    body = body.ljust(HEADER_SIZE - _CHECK.size, b"\0")
    return body + _CHECK.pack(crc32(body))


def impact_byte(impact: float) -> int:
    """Return the quantised impact of the first pass, 1..255."""
    return max(1, round(255 * impact))


TERMS = ("term_slots", "term_offsets", "term_bytes")
KEYS = ("key_slots", "key_offsets", "key_bytes")
"""The hash tables of a segment: slots, offsets of the names, and the names."""
REBUILD = "rebuild it with `skillyard index build`"
_ITEM_TYPES = {
    **dict.fromkeys(("term_slots", "term_offsets", "posting_starts", "forward_starts"), "I"),
    **dict.fromkeys(("forward_terms", "key_offsets", "key_slots"), "I"),
    **dict.fromkeys(("ties", "record_offsets"), "Q"),
    "posting_documents": "H",
    "forward_impacts": "f",
    "vectors": "b",
}
_IS_EXCLUDED = bytes(flags & EXCLUDED for flags in range(256))
_ITEM_SIZES = {"I": 4, "Q": 8, "H": 2, "f": 4, "b": 1, "B": 1}


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
    """0..255; see :data:`EXCLUDED`."""
    terms: tuple[str, ...]
    """Each term once, in any order."""
    impacts: tuple[float, ...] | array[float]
    """Parallel to ``terms``: saturated weights in (0, 1), exact as 32-bit floats."""
    vector: bytes
    """``dimensions`` signed bytes; empty when the text has no vector."""


class SegmentReader:
    """A segment over a buffer (a mapped file, or bytes). Any access may raise IndexDamaged."""

    documents: int
    terms: int
    dimensions: int

    is_damaged = False
    """True after damage was detected; the owner of the index can then rebuild it."""

    def __init__(self, data: memoryview, path: str) -> None:
        self.path = path
        self._data = data
        end = HEADER_SIZE - _CHECK.size
        if (
            len(data) < HEADER_SIZE
            or not LITTLE_ENDIAN
            or _CHECK.unpack_from(data, end)[0] != crc32(data[:end])
        ):
            raise self.mark_damaged("the header does not match its checksum")
        magic, self.documents, self.terms, self.dimensions, _, ends = _FIXED.unpack_from(data)
        if magic != MAGIC or ends > len(data):
            raise self.mark_damaged("the header does not match its checksum")
        pages = -(-(ends - HEADER_SIZE) // PAGE)
        if len(data) != ends + 4 * pages + 4 or self.documents > MAX_DOCUMENTS:
            raise self.mark_damaged("the file has another size than its header says")
        checksums = data[ends : ends + 4 * pages]
        if crc32(checksums) != int.from_bytes(data[-4:], "little"):
            raise self.mark_damaged("the page checksums are damaged")
        self._checks = checksums.cast("I")
        self._checked_pages = bytearray(pages)
        self._places: dict[str, tuple[int, int]] = {}
        """(offset, number of items) of each section, as the kernel takes them."""
        self._views: dict[str, memoryview] = {}
        for number, name in enumerate(SECTIONS):
            offset, length = _PLACE.unpack_from(data, _FIXED.size + number * _PLACE.size)
            kind = _ITEM_TYPES.get(name, "B")
            if offset % 8 or offset + length > ends or length % _ITEM_SIZES[kind]:
                raise self.mark_damaged(f"section {name} lies outside the file")
            view = data[offset : offset + length].cast(kind)  # type: ignore[call-overload]
            self._views[name], self._places[name] = view, (offset, len(view))
        expected = {
            "term_offsets": self.terms + 1,
            "posting_starts": self.terms + 1,
            "forward_starts": self.documents + 1,
            "vectors": self.documents * self.dimensions,
            "ties": self.documents,
            "flags": self.documents,
            "key_offsets": self.documents + 1,
            "record_offsets": self.documents + 1,
        }
        if any(len(self._views[name]) != count for name, count in expected.items()):
            raise self.mark_damaged("the section sizes are inconsistent")
        self._pages = (data, self._checks, self._checked_pages, HEADER_SIZE, PAGE)
        """The kernel arguments that describe the pages."""
        self.dead: frozenset[int] = frozenset()
        self._checked_sections: set[str] = set()
        self._checked_forward = bytearray(self.documents)
        self._tables: dict[str, tuple[object, ...]] = {}
        """The kernel arguments of each hash table."""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return len(self._data)

    @property
    def identity(self) -> int:
        """Equal for two readers that share the same open file."""
        return id(self._checks)

    def with_dead(self, dead: frozenset[int]) -> SegmentReader:
        """Return the segment with other deleted documents. Verified pages stay verified."""
        from copy import copy  # deferred: only reopening needs it

        other = copy(self)
        other.dead = dead
        return other

    def mark_damaged(self, what: str) -> IndexDamaged:
        """Return the error for this file, and set :attr:`is_damaged`."""
        self.is_damaged = True
        return IndexDamaged(f"the index is damaged: {what}", path=self.path, hint=REBUILD)

    def view(self, name: str, first: int, last: int) -> memoryview:
        """Return items ``first`` to ``last`` of a section, after verifying their pages."""
        whole = self._views[name]
        if not 0 <= first <= last <= len(whole):
            raise self.mark_damaged(f"an offset is outside section {name}")
        if first < last:
            size, base = whole.itemsize, self._places[name][0] - HEADER_SIZE
            from_page, to_page = (base + first * size) // PAGE, (base + last * size - 1) // PAGE
            if self._checked_pages.find(0, from_page, to_page + 1) >= 0:
                self._check(from_page, to_page)
        return whole[first:last]

    def _check(self, first: int, last: int) -> None:
        """Verify the pages ``first`` to ``last`` that are not verified yet."""
        seen = self._checked_pages
        page = -1
        if KERNEL is not None:
            page = KERNEL.find_damaged_page(*self._pages, first, last)
        else:
            for number in range(first, last + 1):
                start = HEADER_SIZE + number * PAGE
                end = min(start + PAGE, len(self._data) - 4 * len(seen) - 4)
                if not seen[number] and crc32(self._data[start:end]) != self._checks[number]:
                    page = number
                    break
                seen[number] = 1
        if page >= 0:
            raise self.mark_damaged(f"page {page} does not match its checksum")

    def section(self, name: str) -> memoryview:
        """Return a whole section, verified."""
        if name not in self._checked_sections:
            self.view(name, 0, len(self._views[name]))
            self._checked_sections.add(name)
        return self._views[name]

    def find(self, table: tuple[str, str, str], text: str) -> int:
        """Return the number of a name in a hash table (:data:`TERMS`, :data:`KEYS`), or -1.

        A document is found by its key whether it is deleted or not.
        """
        name = text.encode("utf-8", "surrogatepass")
        slots, offsets, names = table
        if KERNEL is not None:
            arguments = self._tables.get(slots)
            if arguments is None:
                arguments = (*self._pages, *(self._places[each] for each in table))
                self._tables[slots] = arguments
            number: int = KERNEL.look_up_name(*arguments, name)
            if number > -2:
                return number  # on damage the code below raises the error
        size = len(self._views[slots])
        if not size or size & (size - 1):
            raise self.mark_damaged(f"section {slots} is not a hash table")
        place = crc32(name) & (size - 1)
        for _ in range(size):
            number = self.view(slots, place, place + 1)[0]
            if not number:
                return -1
            first, last = self.view(offsets, number - 1, number + 1)
            if last - first == len(name) and self.view(names, first, last) == name:
                return number - 1
            place = (place + 1) & (size - 1)
        return -1

    def term_name(self, number: int) -> str:
        """Return the term of a number."""
        first, last = self.view("term_offsets", number, number + 2)
        return str(self.view("term_bytes", first, last), "utf-8", "surrogatepass")

    def postings(self, term: int) -> tuple[memoryview, memoryview]:
        """Return (documents, impact bytes) of a term, including deleted documents."""
        first, last = self.view("posting_starts", term, term + 2)
        documents = self.view("posting_documents", first, last)
        return documents, self.view("posting_impacts", first, last)

    def posting_count(self, number: int) -> int:
        """Return the number of live documents that contain the term of that number."""
        if not self.dead:
            first, last = self.view("posting_starts", number, number + 2)
            return last - first
        documents, _ = self.postings(number)
        return len(documents) - len(self.dead.intersection(documents))

    def sums(self, terms: Sequence[tuple[int, int]]) -> list[int]:
        """Return Σ weight · impact byte for every document; 0 for deleted ones."""
        totals = [0] * self.documents
        for term, weight in terms:
            documents, impacts = self.postings(term)
            try:
                for document, impact in zip(documents, impacts, strict=True):
                    totals[document] += weight * impact
            except IndexError:
                raise self.mark_damaged("a posting refers to no document") from None
        for document in self.dead:
            totals[document] = 0
        return totals

    def best(
        self,
        terms: Sequence[tuple[int, int]],
        limit: int,
        allowed: frozenset[int] | None,
    ) -> list[tuple[int, int]]:
        """Return (sum, document) of the best, unordered, with all ties for the last."""
        totals = self.sums(terms)
        if allowed is not None:
            totals = [t if number in allowed else 0 for number, t in enumerate(totals)]
        return _top_documents(totals, limit)

    def for_kernel(self) -> tuple[object, ...]:
        """Return the segment's arguments of the kernel engine, which does not verify pages.

        The last two are the deleted documents and the unsearchable ones.
        """
        self.section("ties")
        sections = (
            *("posting_documents", "posting_impacts", "forward_starts", "forward_terms"),
            *("forward_impacts", "ties", "vectors"),
        )
        views = [self._views[name] for name in sections]
        out = sorted(self.dead | self.excluded)
        return (*views, self._checked_forward, sorted(self.dead), out)

    def check_postings(self, term: int) -> tuple[int, int]:
        """Return the range of the postings of a term, after verifying them."""
        first, last = self.view("posting_starts", term, term + 2)
        documents = self.view("posting_documents", first, last)
        self.view("posting_impacts", first, last)
        largest = max if KERNEL is None else KERNEL.largest_u16
        if first < last and largest(documents) >= self.documents:
            raise self.mark_damaged("a posting refers to no document")
        return first, last

    def check_forwards(self, numbers: list[int]) -> None:
        """Verify the forward lists of some documents, and record that."""
        if KERNEL is not None:
            names = ("forward_starts", "forward_terms", "forward_impacts")
            sections = [self._places[name] for name in names]
            verified = KERNEL.check_forward_lists(
                *self._pages, *sections, self._checked_forward, numbers
            )
            numbers = numbers[verified:]  # the first remaining list is damaged
        for number in numbers:
            first, last = self.view("forward_starts", number, number + 2)
            self.view("forward_terms", first, last)
            self.view("forward_impacts", first, last)
            self._checked_forward[number] = 1

    @cached_property
    def excluded(self) -> frozenset[int]:
        """The excluded documents, deleted or not."""
        flags = bytes(self.section("flags")).translate(_IS_EXCLUDED)
        numbers = []
        number = flags.find(1)
        while number >= 0:
            numbers.append(number)
            number = flags.find(1, number + 1)
        return frozenset(numbers)

    def nearest(
        self, query: bytes, limit: int, allowed: frozenset[int] | None
    ) -> list[tuple[int, int]]:
        """Return (dot product, document) of the best above 0, with all ties for the last."""
        self.section("vectors")
        dots = [self.dot(query, number) for number in range(self.documents)]
        for number in self.dead | self.excluded:
            dots[number] = 0
        if allowed is not None:
            dots = [dot if number in allowed else 0 for number, dot in enumerate(dots)]
        return _top_documents(dots, limit)

    def dot(self, query: bytes, number: int) -> int:
        """Return the dot product of one document's vector."""
        first = number * self.dimensions
        vector = self.view("vectors", first, first + self.dimensions)
        if len(query) != len(vector):
            raise ValueError("the query's vector has another size")
        return sum(map(mul, memoryview(query).cast("b"), vector))

    def vector(self, number: int) -> bytes:
        """Return one document's vector as signed bytes; zeros when it has none."""
        first = number * self.dimensions
        return bytes(self.view("vectors", first, first + self.dimensions))

    def impacts(self, number: int, terms: Sequence[int]) -> list[float]:
        """Return the document's impact of each term, 0.0 where it is absent."""
        first, last = self.view("forward_starts", number, number + 2)
        forward = self.view("forward_terms", first, last)
        weights = self.view("forward_impacts", first, last)
        impacts = []
        for term in terms:
            place = bisect_left(forward, term) if term >= 0 else len(forward)
            impacts.append(
                weights[place] if place < len(forward) and forward[place] == term else 0.0
            )
        return impacts

    def key(self, number: int) -> str:
        """Return a document's key."""
        first, last = self.view("key_offsets", number, number + 2)
        return str(self.view("key_bytes", first, last), "utf-8", "surrogatepass")

    def record(self, number: int) -> bytes:
        """Return a document's record."""
        first, last = self.view("record_offsets", number, number + 2)
        return bytes(self.view("record_bytes", first, last))

    def flags(self, number: int) -> int:
        """Return a document's flags."""
        return int(self.view("flags", number, number + 1)[0])

    def live(self) -> Iterator[int]:
        """Yield the numbers of the documents that are not dead."""
        return (number for number in range(self.documents) if number not in self.dead)

    def document(self, number: int) -> IndexedDocument:
        """Return a document as it was added."""
        first, last = self.view("forward_starts", number, number + 2)
        terms = tuple(self.term_name(term) for term in self.view("forward_terms", first, last))
        vector = self.vector(number)
        return IndexedDocument(
            self.key(number),
            self.record(number),
            self.flags(number),
            terms,
            tuple(self.view("forward_impacts", first, last)),
            vector if any(vector) else b"",
        )


def _top_documents(totals: list[int], limit: int) -> list[tuple[int, int]]:
    if limit <= 0:
        return []
    from heapq import nlargest  # not where the kernel answers

    least = max(1, nlargest(limit, totals)[-1]) if len(totals) > limit else 1
    return [(total, number) for number, total in enumerate(totals) if total >= least]
