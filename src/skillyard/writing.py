"""A file is written whole or not at all: beside its place, synced, then renamed into it."""

from __future__ import annotations

import os

from skillyard.io.files import copy_mode, create_exclusive, replace_file
from skillyard.io.files import sync_folder as sync

__all__ = ["sync_folder", "write_named", "write_whole"]


def write_whole(path: str, data: bytes, *, mode: int = 0o666) -> None:
    """Put ``data`` at ``path``; a reader sees what stood there before or all of it, never a part.

    A file that stands there keeps its permissions; a new one gets ``mode`` less the process'
    mask. Folders above must exist. Raises OSError, and what stood there is untouched then.
    """
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.{os.urandom(8).hex()}.tmp")
    descriptor = create_exclusive(beside, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            copy_mode(file.fileno(), path)
            file.flush()
            os.fsync(file.fileno())
        replace_file(beside, path)
    except BaseException:
        try:
            os.unlink(beside)
        except OSError:  # renamed already, or the disk is gone: the first failure is the news
            pass
        raise
    sync_folder(folder or ".")


def write_named(path: str, data: bytes) -> None:
    """Put ``data`` at a path that a person named: whole or not at all where it is a plain file.

    A link, a pipe or a device is written through, never replaced. Raises OSError.
    """
    if os.path.islink(path) or (os.path.exists(path) and not os.path.isfile(path)):
        with open(path, "wb") as file:
            file.write(data)
    else:
        write_whole(path, data)


def sync_folder(folder: str) -> None:
    """Make a rename in ``folder`` last through a loss of power, where the system can."""
    try:
        sync(folder)
    except OSError:  # some file systems cannot; the file itself is written
        pass
