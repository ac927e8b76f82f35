"""What a folder holds at one moment: every entry whatever its name, with its size and digest.

An approval covers this, and a folder is replaced only while it is this, so nothing is left out: no
file because of its name, no link, no empty folder. Folders are entered and files are read through
folders that are open, so a link that appears on the way is an error and is not followed.
"""

from __future__ import annotations

import os
import stat
import sys
from json import dumps
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import is_executable, sha256
from skillyard.base.io.folders import Folder, entry_is_link, open_real_folder

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Set

_PIECE = 1 << 20
_LITTER = frozenset({".ds_store", "thumbs.db", "ehthumbs.db", "desktop.ini", ".directory"})
_MUCH = 262_144
"""Bytes from which hashlib earns the time that loading it takes."""


class ManifestLimits(NamedTuple):
    """The largest folder that is looked through."""

    entries: int
    bytes: int
    """Of all files together."""
    depth: int
    """Folders below the one that is looked through."""


class FileEntry(NamedTuple):
    """One thing in a folder."""

    path: str
    """Below the folder, with ``/``; bytes that are no UTF-8 as lone surrogates."""
    kind: str
    """``file``, ``folder``, ``link``, or ``other`` for what is none of them, such as a pipe."""
    size: int
    """Bytes of a file; 0 for everything else."""
    digest: str
    """SHA-256 of a file's bytes in hexadecimal; where a link leads, as it is written there."""
    executable: bool
    """Whether the owner may execute a file; False where the system knows no such thing."""


class FolderManifest(NamedTuple):
    """The entries of a folder, by path."""

    entries: tuple[FileEntry, ...]

    @property
    def digest(self) -> str:
        """64 digits over all entries: those of two folders are equal when their entries are."""
        text = "\n".join([dumps(tuple(entry)) for entry in self.entries])
        return sha256(text.encode("ascii")).hex()

    def of_kind(self, kind: str) -> list[FileEntry]:
        """Return the entries of one kind, by path."""
        return [entry for entry in self.entries if entry.kind == kind]

    def without_litter(self) -> FolderManifest:
        """Return the manifest without what Python and file managers leave by themselves.

        It counts for an approval. It is not an edit: nobody wrote it.
        """
        paths = {entry.path for entry in self.entries}
        return FolderManifest(
            tuple(entry for entry in self.entries if not is_litter(entry.path, entry.kind, paths))
        )

    def files_digest(self, left_out: Set[str] = frozenset()) -> str:
        """Return ``sha256:…`` over path, size and digest of each file, as in a lock file.

        Files below folders of the names ``left_out`` do not count.
        """
        lines = [
            f"{each.path}\0{each.size}\0{each.digest}\n"
            for each in self.of_kind("file")
            if left_out.isdisjoint(each.path.split("/")[:-1])
        ]
        return f"sha256:{sha256(''.join(lines).encode('utf-8', 'surrogateescape')).hex()}"

    def executable_digest(self, left_out: Set[str] = frozenset()) -> str | None:
        """Return :func:`executable_digest` of the files; None where nothing says which those are.

        That is so on Windows, and on file systems without such bits, where all files have them.
        """
        files = [
            each for each in self.of_kind("file") if left_out.isdisjoint(each.path.split("/")[:-1])
        ]
        paths = [each.path for each in files if each.executable]
        if sys.platform == "win32" or (paths and len(paths) == len(files)):
            return None
        return executable_digest(paths)

    def beside_files(self) -> list[str]:
        """Return the paths of what is neither a file nor a folder that holds something."""
        above = {each.path.rpartition("/")[0] for each in self.entries}
        return [
            each.path
            for each in self.entries
            if each.kind != "file" and (each.kind != "folder" or each.path not in above)
        ]


def is_litter(path: str, kind: str, beside: Container[str]) -> bool:
    """True for what Python and file managers leave in a folder by themselves.

    ``._NAME`` and ``NAME.pyc`` are that only with ``NAME`` or ``NAME.py`` among the paths
    ``beside``, or in ``__pycache__``: otherwise a user wrote them.
    """
    folder, slash, name = path.rpartition("/")
    if kind != "file":
        return kind == "folder" and name.casefold() == "__pycache__"
    if name.startswith("._"):
        return f"{folder}{slash}{name[2:]}" in beside
    if name.endswith((".pyc", ".pyo")):
        return folder.rpartition("/")[2].casefold() == "__pycache__" or path[:-1] in beside
    return name.casefold() in _LITTER


def manifest_of(
    folder: str, limits: ManifestLimits, *, only: tuple[str, ...] | None = None
) -> FolderManifest:
    """Return the manifest of a folder as it is now; a link in the folder's place is followed.

    With ``only`` the folder's own entries of other names are left out. Raises OSError, and
    SkillIoError (``folder_too_large``) beyond the limits.
    """
    room = _Room(folder, limits)
    with open_real_folder(os.path.realpath(folder)) as opened:
        entries = list(_below(opened, "", 0, room, only))
    return FolderManifest(tuple(sorted(entries)))


def executable_digest(paths: Iterable[str]) -> str:
    """Return ``sha256:…`` over the paths of the files that may be executed, as in a lock file."""
    lines = "".join(f"{path}\n" for path in sorted(paths))
    return f"sha256:{sha256(lines.encode('utf-8', 'surrogateescape')).hex()}"


def file_digest(descriptor: int, most: int) -> tuple[str, int]:
    """Return the SHA-256 (hexadecimal) and size of an open file.

    Of a file that is larger than ``most`` the size is larger too, and the digest means nothing.
    """
    data = os.read(descriptor, _MUCH)
    if len(data) < _MUCH:
        while len(data) <= most and (more := os.read(descriptor, _MUCH)):
            data += more
        return sha256(data).hex(), len(data)
    import hashlib

    digest, size = hashlib.sha256(data), len(data)
    while size <= most and (piece := os.read(descriptor, _PIECE)):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


class _Room:
    """What may still be looked at."""

    def __init__(self, folder: str, limits: ManifestLimits) -> None:
        self.folder = folder
        self.limits = limits
        self.entries = limits.entries
        self.bytes = limits.bytes

    def too_large(self, what: str) -> SkillIoError:
        return SkillIoError(
            f"the folder has {what}",
            path=self.folder,
            code="folder_too_large",
            hint="move what is no part of the skill elsewhere",
        )


def _below(
    folder: Folder, prefix: str, depth: int, room: _Room, only: tuple[str, ...] | None = None
) -> Iterator[FileEntry]:
    for entry in folder.entries(most=None if only else room.entries + 1):
        if only is not None and entry.name not in only:
            continue
        room.entries -= 1
        if room.entries < 0:
            raise room.too_large(f"more than {room.limits.entries:,} files and folders")
        path = prefix + entry.name
        if entry_is_link(entry):
            yield FileEntry(path, "link", 0, folder.link(entry.name), executable=False)
        elif entry.is_dir(follow_symlinks=False):
            if depth >= room.limits.depth:
                raise room.too_large(f"folders nested more than {room.limits.depth} deep")
            yield FileEntry(path, "folder", 0, "", executable=False)
            with folder.folder(entry.name) as inner:
                yield from _below(inner, f"{path}/", depth + 1, room)
        elif entry.is_file(follow_symlinks=False):
            yield _file(folder, entry.name, path, room)
        else:
            yield FileEntry(path, "other", 0, "", executable=False)


def _file(folder: Folder, name: str, path: str, room: _Room) -> FileEntry:
    descriptor = folder.file(name)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):  # it was exchanged since it was listed
            return FileEntry(path, "other", 0, "", executable=False)
        if status.st_size > room.bytes:  # before a byte of it is read
            raise room.too_large(f"more than {room.limits.bytes:,} bytes")
        digest, size = file_digest(descriptor, room.bytes)
        room.bytes -= size
        if room.bytes < 0:
            raise room.too_large(f"more than {room.limits.bytes:,} bytes")
        return FileEntry(path, "file", size, digest, is_executable(status))
    finally:
        os.close(descriptor)
