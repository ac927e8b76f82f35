"""Hostile archives: zip (15) and tar (7), made byte by byte where no tool would make them.

``zip_bytes`` and ``tar_bytes`` write honest archives; each dishonesty is an argument of its own.
"""

from __future__ import annotations

import gzip
import stat
import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from skillyard.install.copies.archives import ArchiveKind
from tests.hostile.case import LOAD, REJECT, skill_bytes

__all__ = [
    "CASES",
    "ArchiveCase",
    "TarEntry",
    "ZipEntry",
    "gzipped",
    "pax",
    "tar_block",
    "tar_bytes",
    "zip_bytes",
    "zip_end",
]

MEBIBYTE = 1 << 20
SCRIPT = b"#!/bin/sh\ntouch pwned\n"


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """One entry of a zip; what is None is as an honest tool would write it."""

    name: bytes
    data: bytes = b""
    mode: int = stat.S_IFREG | 0o644
    method: int = zlib.DEFLATED
    flags: int = 0x0800
    packed: bytes | None = None
    size: int | None = None
    crc: int | None = None
    extra: bytes = b""
    local_extra: bytes = b""
    local_name: bytes | None = None
    local_flags: int | None = None
    local_method: int | None = None
    local_size: int | None = None
    local_crc: int | None = None
    descriptor: bytes | None = None
    attributes: int | None = None
    version: int = 20
    disk: int = 0
    offset: int | None = None
    gap: bytes = b""
    """Bytes in front of the entry that belong to none."""


def _deflated(data: bytes) -> bytes:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return squeeze.compress(data) + squeeze.flush()


def _given(value: int | None, honest: int) -> int:
    return honest if value is None else value


def _zip_entry(entry: ZipEntry, at: int) -> tuple[bytes, bytes]:
    """Return what stands at ``at``, and the entry's record in the central directory."""
    packed = entry.packed
    if packed is None:
        packed = _deflated(entry.data) if entry.method == zlib.DEFLATED else entry.data
    size = _given(entry.size, len(entry.data))
    crc = _given(entry.crc, zlib.crc32(entry.data))
    later = bool(entry.flags & 8)
    local_name = entry.name if entry.local_name is None else entry.local_name
    local = struct.pack(
        "<4s5H3L2H", b"PK\x03\x04", 20,
        _given(entry.local_flags, entry.flags), _given(entry.local_method, entry.method), 0, 0x21,
        _given(entry.local_crc, 0 if later else crc), 0 if later else len(packed),
        _given(entry.local_size, 0 if later else size), len(local_name), len(entry.local_extra),
    )  # fmt: skip
    descriptor = struct.pack("<4s3L", b"PK\x07\x08", crc, len(packed), size) if later else b""
    if entry.descriptor is not None:
        descriptor = entry.descriptor
    central = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 0x0314, entry.version, entry.flags, entry.method, 0, 0x21,
        crc, len(packed), size, len(entry.name), len(entry.extra), 0, entry.disk, 0,
        _given(entry.attributes, entry.mode << 16), _given(entry.offset, at + len(entry.gap)),
    )  # fmt: skip
    here = entry.gap + local + local_name + entry.local_extra + packed + descriptor
    return here, central + entry.name + entry.extra


def zip_end(
    entries: int, size: int, offset: int, comment: bytes = b"", disk: int = 0, here: int = -1
) -> bytes:
    """Return an end of central directory record."""
    here = entries if here < 0 else here
    numbers = (disk, disk, here, entries, size, offset, len(comment))
    return struct.pack("<4s4H2LH", b"PK\x05\x06", *numbers) + comment


def zip_bytes(entries: Iterable[ZipEntry], comment: bytes = b"", before_end: bytes = b"") -> bytes:
    """Return a zip of the entries, in their order."""
    body = bytearray()
    records = []
    for entry in entries:
        here, record = _zip_entry(entry, len(body))
        body += here
        records.append(record)
    directory = b"".join(records)
    end = zip_end(len(records), len(directory), len(body), comment)
    return bytes(body) + directory + before_end + end


class TarEntry(NamedTuple):
    """One entry of a tar."""

    name: bytes
    data: bytes = b""
    type: bytes = b"0"
    mode: int = 0o644
    link: bytes = b""
    prefix: bytes = b""
    magic: bytes = b"ustar\x0000"
    size: bytes | None = None
    time: bytes = b"%011o\0" % 0
    checksum: bytes | None = None


def tar_block(entry: TarEntry) -> bytes:
    """Return the entry's header block, with its checksum."""
    block = bytearray(512)
    size = b"%011o\0" % len(entry.data) if entry.size is None else entry.size
    for at, field in (
        (0, entry.name), (100, b"%07o\0" % entry.mode), (108, b"%07o\0" % 0), (116, b"%07o\0" % 0),
        (124, size), (136, entry.time), (148, b" " * 8), (156, entry.type), (157, entry.link),
        (257, entry.magic), (329, b"%07o\0" % 0), (337, b"%07o\0" % 0), (345, entry.prefix),
    ):  # fmt: skip
        block[at : at + len(field)] = field
    checksum = b"%06o\0 " % sum(block) if entry.checksum is None else entry.checksum
    block[148:156] = checksum
    return bytes(block)


def tar_bytes(entries: Iterable[TarEntry], end: bytes = bytes(1024)) -> bytes:
    """Return a tar of the entries, in their order."""
    pieces = []
    for entry in entries:
        pieces += [tar_block(entry), entry.data, bytes(-len(entry.data) % 512)]
    return b"".join(pieces) + end


def gzipped(data: bytes) -> bytes:
    """Return one gzip member that is the same each time."""
    return gzip.compress(data, mtime=0)


def pax(type_: bytes = b"x", **records: bytes) -> TarEntry:
    """Return an extended header with the records; ``__`` in a key stands for a dot."""
    body = b""
    for key, value in records.items():
        rest = b" " + key.replace("__", ".").encode() + b"=" + value + b"\n"
        length = len(rest) + 1
        while len(str(length)) + len(rest) != length:
            length += 1
        body += str(length).encode() + rest
    return TarEntry(b"./PaxHeaders/0", body, type_)


@dataclass(frozen=True, slots=True)
class ArchiveCase:
    """One archive and its verdict."""

    id: str
    verdict: str
    why: str
    kind: ArchiveKind
    make: Callable[[], bytes]
    code: str = ""
    """The code of the refusal."""
    entry: str = ""
    """The entry that the refusal must name; empty where the whole archive is at fault."""


def _skill_zip(*more: ZipEntry, first: bytes = b"SKILL.md") -> bytes:
    return zip_bytes([ZipEntry(first, skill_bytes()), *more])


def _skill_tar(*more: TarEntry) -> bytes:
    return gzipped(tar_bytes([TarEntry(b"SKILL.md", skill_bytes()), *more]))


@cache
def _bomb() -> bytes:
    """256 MiB of zeros in about 256 KB of deflate."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    zeros = bytes(MEBIBYTE)
    return b"".join([*(squeeze.compress(zeros) for _ in range(256)), squeeze.flush()])


@cache
def _zeros_crc() -> int:
    crc = 0
    for _ in range(256):
        crc = zlib.crc32(bytes(MEBIBYTE), crc)
    return crc


def bomb_entry(size: int = 256 * MEBIBYTE) -> ZipEntry:
    """Return the bomb as an entry that says it has ``size`` bytes."""
    return ZipEntry(b"assets/log.txt", packed=_bomb(), size=size, crc=_zeros_crc())


def _many() -> bytes:
    names = (b"notes/%05d.md" % number for number in range(20_000))
    return _skill_zip(*(ZipEntry(name, method=0) for name in names))


_DEEP = "d/" * 500 + "deep.md"
_FETCH_HOOK = ZipEntry(b".git/hooks/post-checkout", SCRIPT, mode=stat.S_IFREG | 0o755)
_LINK = ZipEntry(b"references", b"/etc", mode=stat.S_IFLNK | 0o777, method=0)
_OTHER = ZipEntry(b"notes.md", b"Notes.\n", local_name=b"run.sh..")
_WRONG_SUM = ZipEntry(b"notes.md", b"Notes.\n", crc=0x12345678)


def _zip(word: str, why: str, code: str, entry: str, *members: ZipEntry) -> ArchiveCase:
    return ArchiveCase(word, REJECT, why, "zip", lambda: _skill_zip(*members), code, entry)


def _zips() -> list[ArchiveCase]:
    def placed(word: str, why: str, code: str, name: str) -> ArchiveCase:
        return _zip(word, why, code, name, ZipEntry(name.encode(), SCRIPT))

    return [
        placed("parent", "a file two folders above", "path_traversal", "../../evil.sh"),
        placed("absolute", "a file at an absolute path", "path_absolute", "/tmp/evil.sh"),
        placed("backslash", "folders by backslash", "path_backslash", "..\\..\\evil.sh"),
        placed("drive", "a file on another drive", "path_drive", "C:evil.sh"),
        _zip("symlink", "a link to a folder outside", "archive_link", "references", _LINK),
        _zip("duplicate", "a second SKILL.md, which a person never saw", "path_duplicate",
             "SKILL.md", ZipEntry(b"SKILL.md", skill_bytes(body="# Other\n"))),
        ArchiveCase("misspelled", REJECT, "Skill.md where SKILL.md is meant", "zip",
                    lambda: _skill_zip(first=b"Skill.md"), "skill_file_missing", ""),
        _zip("git-hooks", "a hook that git would run", "path_git",
             ".git/hooks/post-checkout", _FETCH_HOOK),
        placed("deep-500", "a file 500 folders deep", "path_too_deep", _DEEP),
        ArchiveCase("entries-20000", REJECT, "20,000 entries", "zip", _many,
                    "archive_too_many_entries"),
        ArchiveCase("bomb", REJECT, "256 KB that become 256 MiB", "zip",
                    lambda: _skill_zip(bomb_entry()), "archive_bomb", "assets/log.txt"),
        ArchiveCase("no-skill", REJECT, "no SKILL.md", "zip",
                    lambda: zip_bytes([ZipEntry(b"README.md", b"Text.\n")]), "skill_file_missing"),
        _zip("header-mismatch", "one name for a lister, another for an unpacker",
             "archive_damaged", "notes.md", _OTHER),
        _zip("crc", "content that is not what was packed", "archive_damaged", "notes.md",
             _WRONG_SUM),
        ArchiveCase("truncated", REJECT, "the last 30 bytes are missing", "zip",
                    lambda: _skill_zip()[:-30], "archive_damaged"),
    ]  # fmt: skip


def _tar(word: str, why: str, code: str, entry: str, *members: TarEntry) -> ArchiveCase:
    return ArchiveCase(word, REJECT, why, "tar.gz", lambda: _skill_tar(*members), code, entry)


def _tars() -> list[ArchiveCase]:
    name = b"../../evil.sh"
    return [
        _tar("parent", "a file two folders above", "path_traversal", "../../evil.sh",
             TarEntry(name, SCRIPT)),
        _tar("pax-path", "an extended header gives a harmless name another path",
             "path_traversal", "../../evil.sh", pax(path=name), TarEntry(b"notes.md", SCRIPT)),
        _tar("through-a-link", "a file in a folder that is a link", "archive_link",
             "references", TarEntry(b"references", type=b"2", link=b"/tmp"),
             TarEntry(b"references/evil.sh", SCRIPT)),
        _tar("hard-link", "a second name for a file outside", "archive_link", "notes.md",
             TarEntry(b"notes.md", type=b"1", link=b"/etc/passwd")),
        _tar("fifo", "a pipe that holds its reader", "archive_special", "notes.md",
             TarEntry(b"notes.md", type=b"6")),
        _tar("device", "a device", "archive_special", "notes.md",
             TarEntry(b"notes.md", type=b"3")),
        ArchiveCase("setuid", LOAD, "a setuid script loses all bits but one", "tar.gz",
                    lambda: _skill_tar(TarEntry(b"scripts/run.sh", SCRIPT, mode=0o6755))),
    ]  # fmt: skip


def _numbered(area: str, cases: Iterable[ArchiveCase]) -> tuple[ArchiveCase, ...]:
    return tuple(
        ArchiveCase(f"{area}-{number:02d}-{case.id}", case.verdict, case.why, case.kind,
                    case.make, case.code, case.entry)
        for number, case in enumerate(cases, 1)
    )  # fmt: skip


CASES = (*_numbered("zip", _zips()), *_numbered("tar", _tars()))
