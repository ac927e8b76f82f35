"""Writing a file so that a reader sees the old content or all of the new content, never a part."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from skillyard.base.io.files import copy_owner_and_mode, create_exclusive, replace_file, sync_folder
from skillyard.base.io.processes import may_be_running

_SUFFIX = ".tmp"


def atomic_write(
    path: str,
    data: bytes,
    *,
    mode: int = 0o666,
    durable: bool = True,
    check: Callable[[], None] | None = None,
) -> None:
    """Write ``data`` to a temporary file in the same folder, then rename it to ``path``.

    A file that exists keeps its owner and permissions; a new one gets ``mode`` less the process'
    mask. ``durable`` waits until the disk has it, so that it survives a loss of power. ``check`` is
    called just before the rename and may raise to prevent it. Folders above must exist. Raises
    OSError; ``path`` is unchanged then.
    """
    folder, name = os.path.split(path)
    unique = f"{os.getpid()}-{os.urandom(8).hex()}"
    temporary = os.path.join(folder, f".{name}.{unique}{_SUFFIX}")
    descriptor = create_exclusive(temporary, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            _keep_owner_and_mode(file.fileno(), path)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        if check is not None:
            check()
        replace_file(temporary, path)
    except BaseException:
        with suppress(OSError):  # renamed already, or the disk is gone: the first error counts
            os.unlink(temporary)
        raise
    if durable:
        with suppress(OSError):  # some file systems cannot; the file itself is written
            sync_folder(folder or ".")


def _keep_owner_and_mode(descriptor: int, path: str) -> None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return
    copy_owner_and_mode(descriptor, status)


def remove_leftovers(path: str) -> None:
    """Remove temporary files for ``path`` left by processes that were killed. Raises OSError."""
    folder, name = os.path.split(path)
    prefix = f".{name}."
    for file in os.listdir(folder or "."):
        if not (file.startswith(prefix) and file.endswith(_SUFFIX)):
            continue
        process, dash, _ = file.removeprefix(prefix).partition("-")
        if dash and process.isdigit() and not may_be_running(int(process)):
            os.unlink(os.path.join(folder, file))


def write_output(path: str, data: bytes) -> None:
    """Write ``data`` to a path that a person named: atomically where it is a plain file.

    A link, a pipe or a device is written through, never replaced. Raises OSError.
    """
    if os.path.islink(path) or (os.path.exists(path) and not os.path.isfile(path)):
        with open(path, "wb") as file:
            file.write(data)
    else:
        atomic_write(path, data)
