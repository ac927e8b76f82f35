"""Reads zip archives strictly: an archive has one possible meaning, or is refused.

The standard library's ``zipfile`` only uses the central directory, tolerates data before and
between entries, and lets a later entry replace an earlier one. Therefore this module parses both
headers of each entry, which must agree; entries must follow one another without a gap. Data is
decoded with ``zlib``. ``zipfile`` reads accepted archives identically, which a test checks, with
one exception: names that some tools write in UTF-8 without the flag, which it decodes as code page
437.

Layout: PKWARE's APPNOTE 6.3, sections 4.3.7 (local header), 4.3.9 (data descriptor), 4.3.12
(central directory) and 4.3.16 (end of central directory).
"""

from __future__ import annotations

import stat
import struct
import zlib
from typing import NamedTuple

from skillyard.remote.install.archives import Contents, refused

__all__ = ["unpack_zip"]

_END = struct.Struct("<4s4H2LH")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_SIZES = struct.Struct("<3L")
_FIELD = struct.Struct("<2H")

_END_SIGN = b"PK\x05\x06"
_CENTRAL_SIGN = b"PK\x01\x02"
_LOCAL_SIGN = b"PK\x03\x04"
_DESCRIPTOR_SIGN = b"PK\x07\x08"
_LOCATOR_SIGN = b"PK\x06\x07"
_LOCATOR_BYTES = 20
_COMMENT_BYTES = 0xFFFF

_STORED, _DEFLATED = 0, 8
_VERSION = 63
"""Maximum version needed to extract: the APPNOTE's own version, in tenths."""
_ENCRYPTED = 0x2041  # bits 0, 6 and 13: encrypted, strongly encrypted, headers masked
_DESCRIPTOR = 0x0008
_PLAIN_FLAGS = 0x080E  # bits 1 and 2: deflate's options; 3: sizes follow; 11: the name is UTF-8
_ZIP64_EXTRA = 0x0001
_UNICODE_NAME_EXTRA = 0x7075
_AES_EXTRA = 0x9901
_DOS_FOLDER = 0x10


class _End(NamedTuple):
    """The position of the central directory."""

    at: int
    entries: int
    size: int
    offset: int


class _Entry(NamedTuple):
    """One entry of the central directory."""

    name: str
    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    attributes: int
    offset: int


def unpack_zip(data: bytes, contents: Contents) -> None:
    """Read the files of a zip into ``contents``. Raises ArchiveRefused."""
    end = _end(data)
    contents.count(end.entries)
    entries = _central_directory(data, end)
    position = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        if entry.offset != position:
            raise refused("archive_layout" if position else "archive_data_before", entry.name)
        position = _unpack(data, entry, end, contents)
    if position != end.offset:
        raise refused("archive_layout" if position else "archive_data_before")


def _end(data: bytes) -> _End:
    """Return the end record, which must be the last thing in the archive."""
    at = data.rfind(_END_SIGN, max(0, len(data) - _END.size - _COMMENT_BYTES))
    if at < 0:
        if data.rfind(_END_SIGN) >= 0:
            raise refused("archive_data_after")
        raise refused("archive_truncated" if data.startswith(_LOCAL_SIGN) else "archive_not_zip")
    if at + _END.size > len(data):
        raise refused("archive_truncated")
    _, disk, first_disk, here, entries, size, offset, comment = _END.unpack_from(data, at)
    behind = len(data) - at - _END.size - comment
    if behind:
        raise refused("archive_data_after" if behind > 0 else "archive_truncated")
    if 0xFFFF in (disk, first_disk, here, entries) or 0xFFFFFFFF in (size, offset):
        raise refused("archive_zip64")
    if data[max(0, at - _LOCATOR_BYTES) : at].startswith(_LOCATOR_SIGN):
        raise refused("archive_zip64")
    if disk or first_disk or here != entries:
        raise refused("archive_multi_disk")
    if offset + size != at:
        raise refused("archive_data_before" if offset + size < at else "archive_truncated")
    return _End(at, entries, size, offset)


def _central_directory(data: bytes, end: _End) -> list[_Entry]:
    entries = []
    position = end.offset
    for _ in range(end.entries):
        entry, position = _central_header(data, position, end.at)
        entries.append(entry)
    if position != end.at:
        raise refused("archive_header_mismatch")
    return entries


def _central_header(data: bytes, at: int, end: int) -> tuple[_Entry, int]:
    """Return one entry, and the position of the next."""
    if at + _CENTRAL.size > end:
        raise refused("archive_truncated")
    (sign, _, version, flags, method, _, _, crc, packed, size, name_size, extra_size, comment_size,
     disk, _, attributes, offset) = _CENTRAL.unpack_from(data, at)  # fmt: skip
    name_at = at + _CENTRAL.size
    extra_at = name_at + name_size
    following = extra_at + extra_size + comment_size
    if sign != _CENTRAL_SIGN or following > end:
        raise refused("archive_damaged")
    raw_name = data[name_at:extra_at]
    name = _name(raw_name)
    if flags & _ENCRYPTED:
        raise refused("archive_encrypted", name)
    if 0xFFFFFFFF in (packed, size, offset) or disk == 0xFFFF:
        raise refused("archive_zip64", name)
    if disk:
        raise refused("archive_multi_disk", name)
    if flags & ~_PLAIN_FLAGS or method not in (_STORED, _DEFLATED) or version > _VERSION:
        raise refused("archive_feature", name)
    _check_extra(data[extra_at : extra_at + extra_size], raw_name, name)
    entry = _Entry(name, raw_name, flags, method, crc, packed, size, attributes, offset)
    return entry, following


def _name(raw: bytes) -> str:
    """Return a name as text. It must be UTF-8 even without bit 11, which some tools never set."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise refused("archive_name_not_utf8", raw.decode("latin-1")) from None


def _check_extra(extra: bytes, raw_name: bytes, name: str) -> None:
    """Refuse extra fields that are malformed or change the meaning of the entry."""
    at = 0
    while at < len(extra):
        if at + _FIELD.size > len(extra):
            raise refused("archive_damaged", name)
        identity, size = _FIELD.unpack_from(extra, at)
        at += _FIELD.size
        value = extra[at : at + size]
        at += size
        if len(value) != size:
            raise refused("archive_damaged", name)
        if identity == _ZIP64_EXTRA:
            raise refused("archive_zip64", name)
        if identity == _AES_EXTRA:
            raise refused("archive_encrypted", name)
        if identity == _UNICODE_NAME_EXTRA and value[5:] != raw_name:
            raise refused("archive_header_mismatch", name)


def _unpack(data: bytes, entry: _Entry, end: _End, contents: Contents) -> int:
    """Read one entry into ``contents``; return the position where the next must begin."""
    at = _local_header(data, entry, end)
    following = at + entry.packed
    if following > end.offset:
        raise refused("archive_layout", entry.name)
    mode = entry.attributes >> 16
    packed = memoryview(data)[at:following]
    if entry.name.endswith("/"):
        _check_type(mode, stat.S_IFDIR, entry.name)
        if entry.size:
            raise refused("archive_folder_data", entry.name)
        contents.admit_folder(entry.name)
        _decoded(packed, entry)
    else:
        _check_type(mode, stat.S_IFREG, entry.name)
        if entry.attributes & _DOS_FOLDER:
            raise refused("archive_header_mismatch", entry.name)
        contents.check_ratio(entry.size, entry.packed, entry.name)
        path = contents.admit_file(entry.name, entry.size)
        contents.keep(path, _decoded(packed, entry), executable=bool(mode & stat.S_IXUSR))
    return _behind_descriptor(data, following, entry) if entry.flags & _DESCRIPTOR else following


def _local_header(data: bytes, entry: _Entry, end: _End) -> int:
    """Return the start of the entry's data. Its two headers must agree."""
    at = entry.offset
    if at + _LOCAL.size > end.offset:
        raise refused("archive_layout", entry.name)
    (sign, _, flags, method, _, _, crc, packed, size, name_size, extra_size) = _LOCAL.unpack_from(
        data, at
    )
    name_at = at + _LOCAL.size
    extra_at = name_at + name_size
    following: int = extra_at + extra_size
    if sign != _LOCAL_SIGN or following > end.offset:
        raise refused("archive_damaged", entry.name)
    if (flags, method, data[name_at:extra_at]) != (entry.flags, entry.method, entry.raw_name):
        raise refused("archive_header_mismatch", entry.name)
    for here, there in ((crc, entry.crc), (packed, entry.packed), (size, entry.size)):
        if here != there and not (flags & _DESCRIPTOR and here == 0):  # in the data descriptor
            raise refused("archive_header_mismatch", entry.name)
    _check_extra(data[extra_at:following], entry.raw_name, entry.name)
    return following


_TYPES = {
    stat.S_IFLNK: "archive_symlink",
    stat.S_IFIFO: "archive_fifo",
    stat.S_IFCHR: "archive_device",
    stat.S_IFBLK: "archive_device",
}


def _check_type(mode: int, expected: int, name: str) -> None:
    """Refuse an entry with a Unix type that contradicts its name; 0 means no type."""
    kind = stat.S_IFMT(mode)
    if kind in (0, expected):
        return
    if kind in (stat.S_IFREG, stat.S_IFDIR):
        raise refused("archive_header_mismatch", name)
    raise refused(_TYPES.get(kind, "archive_special"), name)


def _decoded(packed: memoryview, entry: _Entry) -> bytes:
    """Return the content of an entry, after checking its length and checksum."""
    content = bytes(packed) if entry.method == _STORED else _inflated(packed, entry)
    if len(content) != entry.size:
        raise refused("archive_header_mismatch", entry.name)
    if zlib.crc32(content) != entry.crc:
        raise refused("archive_crc", entry.name)
    return content


def _inflated(packed: memoryview, entry: _Entry) -> bytes:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(packed, entry.size + 1)  # one more byte detects a wrong size
    except zlib.error:
        raise refused("archive_damaged", entry.name) from None
    if len(content) > entry.size or inflater.unused_data:
        raise refused("archive_header_mismatch", entry.name)
    if not inflater.eof:
        raise refused("archive_damaged", entry.name)
    return content


def _behind_descriptor(data: bytes, at: int, entry: _Entry) -> int:
    """Return the end of the data descriptor, with or without its optional signature."""
    numbers = _SIZES.pack(entry.crc, entry.packed, entry.size)
    for descriptor in (_DESCRIPTOR_SIGN + numbers, numbers):
        if data.startswith(descriptor, at):
            return at + len(descriptor)
    raise refused("archive_header_mismatch", entry.name)
