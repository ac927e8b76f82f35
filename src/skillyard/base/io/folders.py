"""An open folder: listed, entered and read from without following a link on the way.

POSIX systems do this through the folder's descriptor, so that a folder exchanged for a link while
it is read is never followed. Windows has no such descriptors: there paths are used, checked with
``lstat`` before and for the same identity after each step. That is weaker: an exchange that is
undone between two checks goes unnoticed.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import AbstractContextManager
from itertools import islice

from skillyard.base.io.files import is_link, open_to_read, refuse_link, same_file, same_path

_BY_DESCRIPTOR = sys.platform != "win32" and os.open in os.supports_dir_fd
_OPEN = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class Folder(AbstractContextManager["Folder"]):
    """A folder that is open. A context manager; close it after the last look at its entries."""

    __slots__ = ("_descriptor", "path", "status")

    def __init__(self, path: str, descriptor: int | None, status: os.stat_result) -> None:
        self.path = path
        self.status = status
        """Of the folder itself, from when it was opened."""
        self._descriptor = descriptor

    def entries(self, most: int | None = None) -> list[os.DirEntry[str]]:
        """Return what is in the folder, at most ``most`` entries, in no order. Raises OSError."""
        with os.scandir(self.path if self._descriptor is None else self._descriptor) as entries:
            listed = list(entries) if most is None else list(islice(entries, most))
        if self._descriptor is None:
            self._check()
        return listed

    def folder(self, name: str) -> Folder:
        """Open a folder in this one. Raises OSError, also for a link."""
        path = os.path.join(self.path, name)
        if self._descriptor is None:
            self._check()
            return open_folder(path)
        descriptor = os.open(name, _OPEN | _NO_LINK, dir_fd=self._descriptor)
        return _opened(path, descriptor)

    def file(self, name: str) -> int:
        """Open a file in this folder for reading; return its descriptor. Raises OSError."""
        if self._descriptor is not None:
            return open_to_read(name, dir_fd=self._descriptor)
        descriptor = open_to_read(os.path.join(self.path, name))
        try:
            self._check()
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def link(self, name: str) -> str:
        """Return where a link in this folder leads, as it is written there. Raises OSError."""
        if self._descriptor is not None:
            return os.readlink(name, dir_fd=self._descriptor)
        target = os.readlink(os.path.join(self.path, name))
        self._check()
        return target

    def close(self) -> None:
        """Close the folder; a second time does nothing."""
        if self._descriptor is not None and self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self) -> None:
        """Raise OSError where the path does not lead to the folder that was opened."""
        if not same_file(os.stat(self.path), self.status):
            raise OSError(errno.ESTALE, "the folder was replaced while it was read", self.path)


def open_folder(path: str, *, follow: bool = False) -> Folder:
    """Open a folder; its path may end in a link only with ``follow``. Raises OSError."""
    if _BY_DESCRIPTOR:
        return _opened(path, os.open(path, _OPEN if follow else _OPEN | _NO_LINK))
    status = os.stat(path) if follow else refuse_link(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return Folder(path, None, status)


def _opened(path: str, descriptor: int) -> Folder:
    try:
        return Folder(path, descriptor, os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise


def open_real_folder(real: str) -> Folder:
    """Open a folder by a path without links; a link that appears in it is an OSError.

    Where there are no descriptors of folders, the path is resolved again and compared.
    """
    if not _BY_DESCRIPTOR:
        _refuse_detour(real)
        return open_folder(real)
    descriptor = os.open(os.sep, _OPEN)
    for part in filter(None, real.split(os.sep)):
        above = descriptor
        try:
            descriptor = os.open(part, _OPEN | _NO_LINK, dir_fd=above)
        finally:
            os.close(above)
    return _opened(real, descriptor)


def open_real_file(real: str) -> int:
    """Open a file for reading by a path without links, as :func:`open_real_folder` does."""
    above, name = os.path.split(real)
    with open_real_folder(above) as folder:
        descriptor = folder.file(name)
    if not _BY_DESCRIPTOR:
        try:
            _refuse_detour(real)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def _refuse_detour(real: str) -> None:
    if not same_path(os.path.realpath(real), real):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), real)


def entry_is_link(entry: os.DirEntry[str]) -> bool:
    """Return True for a symbolic link, and for a junction on Windows."""
    if entry.is_symlink():
        return True
    return sys.platform == "win32" and is_link(entry.stat(follow_symlinks=False))


def entry_status(entry: os.DirEntry[str]) -> os.stat_result:
    """Return the status of an entry itself, with the numbers that identify the file.

    Windows lists folders without those numbers, so each file is looked at there.
    """
    if sys.platform == "win32":
        return os.lstat(entry.path)
    return entry.stat(follow_symlinks=False)
