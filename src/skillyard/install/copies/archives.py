"""Reads untrusted skill archives in memory: returns every file, or refuses the archive.

Nothing is written to disk or run. ``tarfile`` and ``zipfile`` decode; this module checks each path,
type and size before a file is decoded. ``tarfile``'s data filter is for writing to disk; the checks
of paths and types here are stricter.
"""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Literal, NamedTuple

from skillyard.base.errors import SkillError
from skillyard.install.copies.file_paths import FilePaths, PathRefused, checked_path, shown_path

ArchiveKind = Literal["zip", "tar", "tar.gz"]
SKILL_FILE = "SKILL.md"


class ArchiveFile(NamedTuple):
    """One regular file of an archive."""

    path: str
    """Relative to the skill's folder, with ``/``; validated by ``checked_path``."""
    data: bytes
    executable: bool
    """The owner's execute bit. All other mode bits, such as setuid, are dropped."""


class ArchiveLimits(NamedTuple):
    """Caps applied while an archive is read. Override with ``DEFAULT._replace(...)``."""

    archive_bytes: int = 20 << 20
    """The packed archive: 16 MiB that do not compress, and a quarter for headers."""
    entries: int = 2_048
    """Number of entries: files, their folders, and extended headers of a tar; four per file."""
    files: int = 512
    """Number of files that a host of the MCP Skills extension must accept for one skill."""
    total_bytes: int = 16 << 20
    """Total size of the files that a host of the MCP Skills extension must accept for one skill."""
    file_bytes: int = 16 << 20
    """Size of one file. The extension only limits the total, so a single file may use all of it."""
    ratio: int = 100
    """Maximum compression ratio. Of 10,476 real skill texts none exceeds 12; deflate reaches
    1,032."""
    ratio_floor_bytes: int = 1 << 20
    """Unpacked size up to which the ratio is not checked, for example for an empty log or a blank
    image."""


DEFAULT = ArchiveLimits()
_LINK, _SPECIAL = stat.S_IFLNK, -1
"""Types of entries that are refused."""
_GZIP_SIGN = b"\x1f\x8b"
_ZIP_SIGN = b"PK"
_ENTRY_SIGN = b"PK\x01\x02"
_HEADER_SHARE = 2 * tarfile.BLOCKSIZE
"""Maximum overhead of an entry of a tar: its header, and padding to a whole block."""
_TAIL = 1 << 20
"""Maximum zeros after the end: writers pad to their record size, which rarely exceeds 10 KiB."""
_EXTENSION_BYTES = 65_536
"""Size of one extended header of a tar. A path uses 512 bytes; the rest is room for attributes."""


class ArchiveRefused(SkillError):
    """An archive that is refused; ``code`` names the violated rule."""

    kind = "ArchiveRefused"


_RULES = {
    "archive_kind": "this is no zip or gzip file",
    "archive_damaged": "it is damaged, incomplete or contradicts itself",
    "archive_encrypted": "it is encrypted",
    "archive_feature": "it uses a feature that plain archives do without",
    "archive_link": "it is a link",
    "archive_special": "it is neither a file nor a folder",
    "archive_too_large": "it is too large",
    "archive_too_many_entries": "it has too many entries",
    "archive_too_many_files": "it has too many files",
    "archive_file_too_large": "it is too large unpacked",
    "archive_total_too_large": "its files together are too large",
    "archive_bomb": "it is packed more densely than honest files are",
    "skill_file_missing": f"it has no {SKILL_FILE} at its root",
}
"""What is wrong, by code."""
_HINT = "fetch it again, or tell its publisher: pack one skill, its plain files at the top"


def _refused(
    code: str, entry: str = "", *, limit: int | None = None, hint: str = _HINT
) -> ArchiveRefused:
    """Return the error for an entry, or for the whole archive when ``entry`` is empty."""
    subject = f"the archive's entry `{shown_path(entry)}`" if entry else "the archive"
    bound = "" if limit is None else f" (the limit is {limit:,})"
    return ArchiveRefused(f"refused {subject}: {_RULES[code]}{bound}", code=code, hint=hint)


def read_archive(
    data: bytes, kind: ArchiveKind, limits: ArchiveLimits = DEFAULT
) -> tuple[ArchiveFile, ...]:
    """Return the files of a packed skill, sorted by path.

    Raises ArchiveRefused as :func:`read_archive_tree` does, and for an archive without a SKILL.md
    at its root.
    """
    files = read_archive_tree(data, kind, limits)
    paths = [file.path for file in files]
    folders = sorted(path.rpartition("/")[0] for path in paths if path.endswith(f"/{SKILL_FILE}"))
    if SKILL_FILE not in paths and folders:
        some = f"one lies in `{shown_path(folders[0])}`: pack the content of that folder"
        raise _refused("skill_file_missing", hint=some)
    if SKILL_FILE not in paths:
        raise _refused("skill_file_missing")
    return files


def read_archive_tree(
    data: bytes, kind: ArchiveKind, limits: ArchiveLimits = DEFAULT
) -> tuple[ArchiveFile, ...]:
    """Return the files of an archive, sorted by path, wherever its skills lie.

    Raises ArchiveRefused for an archive that is damaged, too large, or contains anything but plain
    files and folders.
    """
    if len(data) > limits.archive_bytes:
        raise _refused("archive_too_large", limit=limits.archive_bytes)
    try:
        if kind == "zip":
            members = _zip_members(data, limits)
        else:
            members = _tar_members(data if kind == "tar" else _gunzipped(data, limits))
        return _files(members, limits)
    except _DAMAGE:
        raise _refused("archive_damaged") from None


_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    OSError,  # gzip.BadGzipFile, and seeking to nowhere
    ValueError,  # a name that is not UTF-8, and seeking to nowhere
    OverflowError,
    RuntimeError,  # a feature that zipfile does not have; extended headers in a long row
    struct.error,
)
"""What the standard library raises for a damaged archive."""


class _Member(NamedTuple):
    """One entry of an archive, before it is decoded."""

    name: str
    type: int
    """``stat.S_IFREG`` for a file, ``S_IFDIR`` for a folder; anything else is refused."""
    size: int
    packed: int | None
    """Packed size, where each entry is packed by itself."""
    executable: bool
    read: Callable[[], bytes]


def _files(members: Iterator[_Member], limits: ArchiveLimits) -> tuple[ArchiveFile, ...]:
    files: list[ArchiveFile] = []
    paths = FilePaths()
    left = limits.total_bytes
    for count, member in enumerate(members, 1):
        if count > limits.entries:
            raise _refused("archive_too_many_entries", limit=limits.entries)
        path = _place(member, paths)
        if not path:
            continue
        if len(files) >= limits.files:
            raise _refused("archive_too_many_files", member.name, limit=limits.files)
        if member.packed is not None:
            _check_ratio(member.size, member.packed, limits, member.name)
        if member.size > limits.file_bytes:
            raise _refused("archive_file_too_large", member.name, limit=limits.file_bytes)
        if member.size > left:
            raise _refused("archive_total_too_large", member.name, limit=limits.total_bytes)
        try:
            data = member.read()
        except _DAMAGE:
            raise _refused("archive_damaged", member.name) from None
        if len(data) != member.size:
            raise _refused("archive_damaged", member.name)
        left -= member.size
        files.append(ArchiveFile(path, data, member.executable))
    return tuple(sorted(files))


def _place(member: _Member, paths: FilePaths) -> str:
    """Return the checked path of a file; empty for a folder, which is checked too."""
    name = member.name
    try:
        if member.type == stat.S_IFREG:
            path = checked_path(name)
            paths.add_file(path)
            return path
        if member.type == stat.S_IFDIR:
            if name not in (".", "./"):
                paths.add_folder(checked_path(name if name == "/" else name.removesuffix("/")))
            return ""
    except PathRefused as error:
        what = f"refused the archive's entry `{shown_path(name)}`: {error.reason}"
        raise ArchiveRefused(what, code=error.code, hint=error.hint) from None
    raise _refused("archive_link" if member.type == _LINK else "archive_special", name)


def _check_ratio(size: int, packed: int, limits: ArchiveLimits, name: str = "") -> None:
    """Raise ArchiveRefused when a compression ratio is that of a decompression bomb."""
    if size > limits.ratio_floor_bytes and size > limits.ratio * packed:
        raise _refused("archive_bomb", name, limit=limits.ratio)


def _zip_members(data: bytes, limits: ArchiveLimits) -> Iterator[_Member]:
    """Yield the entries of a zip. Raises ArchiveRefused, and any of ``_DAMAGE``."""
    if not data.startswith(_ZIP_SIGN):
        raise _refused("archive_kind")
    if data.count(_ENTRY_SIGN) > limits.entries:  # before zipfile makes an object of each
        raise _refused("archive_too_many_entries", limit=limits.entries)
    # Some tools write names in UTF-8 without the flag.
    with zipfile.ZipFile(io.BytesIO(data), metadata_encoding="utf-8") as archive:
        for entry in archive.infolist():
            name = entry.orig_filename
            if entry.flag_bits & 1:
                raise _refused("archive_encrypted", name)
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _refused("archive_feature", name)
            mode = entry.external_attr >> 16
            expected = stat.S_IFDIR if name.endswith("/") else stat.S_IFREG
            kind = stat.S_IFMT(mode) or expected
            yield _Member(
                name,
                _SPECIAL if {kind, expected} == {stat.S_IFREG, stat.S_IFDIR} else kind,
                entry.file_size,
                entry.compress_size,
                bool(mode & stat.S_IXUSR),
                partial(_zip_data, archive, entry),
            )


def _zip_data(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with archive.open(entry) as file:
        return file.read(entry.file_size)  # and not all that a false size hides


class _Header(tarfile.TarInfo):
    """A header of a tar. Without this check some versions of ``tarfile`` hang on hostile ones."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        header = super().frombuf(buf, encoding, errors)
        extends = header.type not in tarfile.SUPPORTED_TYPES or header.type in _EXTENSIONS
        if header.size < 0 or (extends and header.size > _EXTENSION_BYTES):
            raise _refused("archive_feature", header.name)
        return header


_EXTENSIONS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_TYPES = {
    tarfile.REGTYPE: stat.S_IFREG,
    tarfile.AREGTYPE: stat.S_IFREG,
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: _LINK,
    tarfile.LNKTYPE: _LINK,
}


def _tar_members(stream: bytes) -> Iterator[_Member]:
    """Yield the entries of a tar. Raises ArchiveRefused, and any of ``_DAMAGE``."""
    source = io.BytesIO(stream)
    with tarfile.open(fileobj=source, mode="r:", encoding="utf-8", tarinfo=_Header) as archive:
        for entry in archive:
            yield _Member(
                entry.name,
                _SPECIAL if entry.issparse() else _TYPES.get(entry.type, _SPECIAL),
                entry.size,
                None,
                bool(entry.mode & stat.S_IXUSR),
                partial(_tar_data, archive, entry),
            )
        # To tarfile, a damaged header is the end.
        end = stream[archive.offset :]
        if len(end) < 2 * tarfile.BLOCKSIZE or end.strip(b"\0"):
            raise _refused("archive_damaged")


def _tar_data(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(entry)
    return b"" if file is None else file.read()


def _gunzipped(data: bytes, limits: ArchiveLimits) -> bytes:
    """Return the tar in a gzip file. Raises ArchiveRefused, and any of ``_DAMAGE``."""
    if not data.startswith(_GZIP_SIGN):
        raise _refused("archive_kind")
    most = limits.total_bytes + limits.entries * _HEADER_SHARE + _TAIL
    with gzip.open(io.BytesIO(data)) as packed:
        stream = packed.read(most + 1)
    _check_ratio(len(stream), len(data), limits)
    if len(stream) > most:
        raise _refused("archive_total_too_large", limit=limits.total_bytes)
    return stream


_UNIX = 3
"""The host system of the entries' permissions: Unix (APPNOTE 6.3, section 4.4.2)."""


def write_zip(files: Iterable[ArchiveFile]) -> bytes:
    """Return a zip archive of the files, sorted by path, with the owner's execute bit.

    The files are stored uncompressed and dated 1980: the output of deflate differs between versions
    of zlib, and the digest of an archive must not. HTTP compresses the response.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(files):
            entry = zipfile.ZipInfo(file.path)
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | (0o755 if file.executable else 0o644)) << 16
            archive.writestr(entry, file.data)
    return out.getvalue()
