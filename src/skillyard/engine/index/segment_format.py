"""The file format of a segment: a header, sections, and a checksum for every page.

    header   one page: magic, version, counts, (offset, length) of each section, CRC-32
    sections little endian, each starting at a multiple of 8
    pages    CRC-32 of every page from the end of the header to here, and one over themselves

A reader verifies a page when it first uses a byte of it. Opening is cheap, and damage is detected
before it can affect a result.
"""

import struct
import sys
from typing import NamedTuple
from zlib import crc32

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


class Header(NamedTuple):
    """The fields of the header."""

    documents: int
    terms: int
    dimensions: int
    pages: int
    """Offset of the page checksums at the end of the file."""
    places: tuple[tuple[int, int], ...]
    """(offset, length) of each section, in the order of :data:`SECTIONS`."""


def pack_header(header: Header) -> bytes:
    """Return the bytes of a header."""
    fixed = _FIXED.pack(MAGIC, header.documents, header.terms, header.dimensions, 0, header.pages)
    body = fixed + b"".join(_PLACE.pack(*place) for place in header.places)
    body = body.ljust(HEADER_SIZE - _CHECK.size, b"\0")
    return body + _CHECK.pack(crc32(body))


def unpack_header(data: memoryview) -> Header | None:
    """Return the header of a segment, or None when it is missing, damaged or truncated."""
    if len(data) < HEADER_SIZE or not LITTLE_ENDIAN:
        return None
    body = data[: HEADER_SIZE - _CHECK.size]
    if _CHECK.unpack_from(data, HEADER_SIZE - _CHECK.size)[0] != crc32(body):
        return None
    magic, documents, terms, dimensions, _, pages = _FIXED.unpack_from(body)
    places = tuple(
        _PLACE.unpack_from(body, _FIXED.size + number * _PLACE.size)
        for number in range(len(SECTIONS))
    )
    if magic != MAGIC or pages > len(data):
        return None
    return Header(documents, terms, dimensions, pages, places)
