"""Reads gzipped tar archives strictly: an archive has one possible meaning, or is refused.

The standard library's ``tarfile`` treats a damaged header as the end of the archive, continues in
sparse maps and global headers, and decodes everything before it can be stopped. Therefore this
module parses the headers: 512 bytes each, only plain files and folders, and only the name from
extended headers (PAX, GNU long name). ``tarfile`` reads accepted archives identically, which a test
checks.

Layout: POSIX.1-2017, "pax", sections "ustar Interchange Format" and "pax Extended Header".
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from typing import NamedTuple

from skillyard.io.gunzip import DataAfterEnd, Gunzip, TooMuch, WrongChecksum
from skillyard.remote.install.archives import Contents, refused

__all__ = ["unpack_tar", "unpack_tar_gz"]

_GZIP_SIGN = b"\x1f\x8b"
_STEP = 4_096
"""Packed bytes between two checks of the ratio; they unpack to 4 MiB at most."""

_BLOCK = 512
_HEADER_SHARE = 2 * _BLOCK
"""Maximum overhead of an entry: its header, and padding to a whole block."""
_TAIL = 1 << 20
"""Maximum zeros after the end: writers pad to their record size, which rarely exceeds 10 KiB."""
_ZEROS = bytes(_BLOCK)
_POSIX = b"ustar\x0000"
_GNU = b"ustar  \x00"
_NAME_BYTES = 100
"""A longer name, in bytes, does not fit the header and needs an extended one."""

_FILES, _FOLDER, _PAX, _PAX_GLOBAL, _LONG_NAME = (b"0", b"\0"), b"5", b"x", b"g", b"L"
_REFUSED_TYPES = {
    b"1": "archive_hard_link",
    b"2": "archive_symlink",
    b"3": "archive_device",
    b"4": "archive_device",
    b"6": "archive_fifo",
    b"K": "archive_symlink",  # a long name of a link's target
}

# Records about times, owners and comments, which are dropped like the same header fields.
_DROPPED_RECORDS = frozenset(
    [b"atime", b"ctime", b"mtime", b"uid", b"gid", b"uname", b"gname", b"comment"]
)
_SPARSE_RECORDS = (b"GNU.sparse", b"SCHILY.realsize", b"SCHILY.offset")


_DROPPED_NUMBERS = ((108, 116), (116, 124), (136, 148), (329, 337), (337, 345))
"""Positions of owner, group, time and the two device numbers in a header."""


class _Header(NamedTuple):
    """One header block."""

    name: bytes
    mode: int
    size: int
    type: bytes


def unpack_tar_gz(data: bytes, contents: Contents) -> None:
    """Read the files of a gzipped tar into ``contents``. Raises ArchiveRefused."""
    unpack_tar(_gunzipped(data, contents), contents)


def unpack_tar(stream: bytes, contents: Contents) -> None:
    """Read the files of a tar into ``contents``. Raises ArchiveRefused."""
    position = 0
    renamed: bytes | None = None
    while (block := stream[position : position + _BLOCK]) != _ZEROS:
        contents.count()
        header = _header(block)
        body = stream[position + _BLOCK : position + _BLOCK + header.size]
        position += _BLOCK + -(-header.size // _BLOCK) * _BLOCK
        if position > len(stream):
            raise refused("archive_truncated", _shown(header.name))
        if header.type in (_PAX, _PAX_GLOBAL, _LONG_NAME):
            renamed = _extended(header, body, renamed, contents)
        else:
            _unpack(header, body, renamed, contents)
            renamed = None
    _check_end(stream, position, renamed)


def _gunzipped(data: bytes, contents: Contents) -> bytes:
    """Return the tar inside one gzip member, checking the limits while it is unpacked."""
    if not data.startswith(_GZIP_SIGN):
        raise refused("archive_not_gzip")
    limits = contents.limits
    gunzip = Gunzip(limits.total_bytes + limits.entries * _HEADER_SHARE + _TAIL)
    stream = bytearray()
    try:
        for start in range(0, len(data), _STEP):
            stream += gunzip.add(data[start : start + _STEP])
            contents.check_ratio(len(stream), min(start + _STEP, len(data)))
    except TooMuch:
        raise refused("archive_total_too_large", limit=limits.total_bytes) from None
    except WrongChecksum:
        raise refused("archive_crc") from None
    except DataAfterEnd:
        raise refused("archive_data_after") from None
    except ValueError:
        raise refused("archive_damaged") from None
    if not gunzip.ended:
        raise refused("archive_truncated")
    return bytes(stream)


def _header(block: bytes) -> _Header:
    """Return the parsed header block. Raises ArchiveRefused."""
    if len(block) < _BLOCK:
        raise refused("archive_truncated")
    name = _text(block[:100])
    magic, prefix = block[257:265], block[345:500]
    if magic not in (_POSIX, _GNU) or (magic == _GNU and prefix.strip(b"\0")):
        raise refused("archive_feature", _shown(name))  # GNU has no prefix, and some readers use it
    if sum(block) - sum(block[148:156]) + 8 * ord(" ") != _number(block[148:156], name):
        raise refused("archive_crc", _shown(name))
    if _text(prefix):
        name = _text(prefix) + b"/" + name
    for start, end in _DROPPED_NUMBERS:
        _check_dropped(block[start:end], name)
    size = _number(block[124:136], name)
    return _Header(name, _number(block[100:108], name), size, block[156:157])


def _text(field: bytes) -> bytes:
    return field.split(b"\0", 1)[0]


def _number(field: bytes, name: bytes) -> int:
    """Return an octal number. The binary form of large numbers is refused."""
    if field[0] & 0x80:
        raise refused("archive_feature", _shown(name))
    digits = field.rstrip(b" \0").lstrip(b" ")
    if not digits or digits.strip(b"01234567"):
        raise refused("archive_damaged", _shown(name))
    return int(digits, 8)


def _check_dropped(field: bytes, name: bytes) -> None:
    """Refuse an invalid number, although it is dropped: other readers may fail on it.

    Blank is valid, and so is the binary form, which writers use for large owners and early dates.
    """
    if field.strip(b" \0") and field[0] not in (0x80, 0xFF):
        _number(field, name)


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "replace") or "(no name)"


def _extended(
    header: _Header, body: bytes, renamed: bytes | None, contents: Contents
) -> bytes | None:
    """Return the name that an extended header sets for the next entry, or the existing one."""
    shown = _shown(header.name)
    if header.size > contents.limits.extension_bytes:
        raise refused("archive_pax", shown, limit=contents.limits.extension_bytes)
    if header.type == _LONG_NAME:
        name: bytes | None = body.removesuffix(b"\0")
    else:
        name = _path_record(body, shown)
    if name is not None and (renamed is not None or header.type == _PAX_GLOBAL):
        raise refused("archive_pax", shown)  # two names for one entry, or one for all entries
    return renamed if name is None else name


def _path_record(body: bytes, shown: str) -> bytes | None:
    """Return the path in a PAX header, or None; refuse records with another effect."""
    path = None
    for key, value in _records(body, shown):
        if key == b"path" and path is None:
            path = value
        elif key not in _DROPPED_RECORDS and (b"." not in key or key.startswith(_SPARSE_RECORDS)):
            raise refused("archive_pax", shown)
    return path


def _records(body: bytes, shown: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield the records of a PAX header, each written as ``length key=value`` and a line feed."""
    at = 0
    while at < len(body):
        digits = body[at : at + 8].split(b" ", 1)[0]
        if not digits.isdigit():
            raise refused("archive_damaged", shown)
        record = body[at : at + int(digits)]
        key, equals, value = record[len(digits) + 1 : -1].partition(b"=")
        if len(record) != int(digits) or not record.endswith(b"\n") or not key or not equals:
            raise refused("archive_damaged", shown)
        yield key, value
        at += len(record)


def _unpack(header: _Header, body: bytes, renamed: bytes | None, contents: Contents) -> None:
    """Read one entry into ``contents``; ``renamed`` is its name from an extended header."""
    raw = header.name if renamed is None else renamed
    if renamed is not None and renamed != header.name and _fits(renamed):
        raise refused("archive_renamed", f"{_shown(header.name)} → {_shown(renamed)}")
    if header.type not in (*_FILES, _FOLDER):
        raise refused(_REFUSED_TYPES.get(header.type, "archive_special"), _shown(raw))
    try:
        name = raw.decode()
    except UnicodeDecodeError:
        raise refused("archive_name_not_utf8", raw.decode("latin-1")) from None
    if header.type == _FOLDER:
        if header.size:
            raise refused("archive_folder_data", name)
        contents.admit_folder(name)
    else:
        path = contents.admit_file(name, header.size)
        contents.keep(path, body, executable=bool(header.mode & stat.S_IXUSR))


def _fits(name: bytes) -> bool:
    """True for a name that fits the header, so that no writer adds an extended one."""
    return name.isascii() and len(name) <= _NAME_BYTES


def _check_end(stream: bytes, position: int, renamed: bytes | None) -> None:
    """Check that two blocks of zeros end the tar, and that only zeros follow."""
    if renamed is not None or len(stream) < position + 2 * _BLOCK:
        raise refused("archive_truncated")
    if stream[position:].strip(b"\0"):
        raise refused("archive_data_after")
