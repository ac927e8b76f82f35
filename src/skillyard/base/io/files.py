"""Files and their paths: opened, appended to and replaced with the strictest checks of the system.

A file is replaced whole: a reader sees the old content or all of the new one, never a part.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import IO, Any

_PLAIN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_BINARY", 0)
"""Not inherited by child processes; bytes as they are (Windows translates line ends otherwise)."""
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe does not wait for the other end."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_MAX_LEVELS = 64
_SUFFIX = ".tmp"
_REPLACE_TRIES = 50
_REPLACE_PAUSE_S = 0.02


def open_to_read(path: str, *, follow: bool = False, dir_fd: int | None = None) -> int:
    """Open a file for reading and return its descriptor; opening a pipe does not wait.

    A link at the end of the path is refused (OSError with ELOOP) unless ``follow`` is true. Where
    the system cannot refuse links itself, the path is compared with what was opened: a file that
    is exchanged within that instant may be opened, but is noticed and refused. ``dir_fd`` is an
    open folder that the path is relative to; only :mod:`.folders` uses it. Raises OSError.
    """
    flags = os.O_RDONLY | _PLAIN | _NO_WAIT
    if follow:
        return os.open(path, flags)
    if _NO_LINK:
        return os.open(path, flags | _NO_LINK, dir_fd=dir_fd)
    before = refuse_link(path)
    descriptor = os.open(path, flags)
    if same_file(before, os.fstat(descriptor)):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.ELOOP, "the file was replaced while it was opened", path)


def read_regular(
    file: str | int, max_bytes: int, *, follow: bool = False
) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a regular file and its status; a descriptor is closed.

    Everything that is read without the user naming it passes here: a pipe or a device would keep
    the reader waiting, or never end. Raises OSError: EINVAL for what is no regular file, EFBIG
    for more than ``max_bytes``, and ELOOP for a link unless ``follow`` is true.
    """
    descriptor = open_to_read(file, follow=follow) if isinstance(file, str) else file
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if status.st_size <= max_bytes:
            # One read is enough for a regular file of that size. The second covers one that grows.
            data = os.read(descriptor, status.st_size + 1)
            if len(data) != status.st_size:
                with open(descriptor, "rb", closefd=False) as opened:
                    data += opened.read(max_bytes + 1 - len(data))
            if len(data) <= max_bytes:
                return data, status
    finally:
        os.close(descriptor)
    raise OSError(errno.EFBIG, f"the file is larger than {max_bytes:,} bytes")


def refuse_link(path: str) -> os.stat_result:
    """Return the status of a path that is not a link. Raises OSError (ELOOP) for a link."""
    status = os.lstat(path)
    if is_link(status):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return status


def is_link(status: os.stat_result) -> bool:
    """Return True for the status (of ``lstat``) of a symbolic link or a Windows junction."""
    if stat.S_ISLNK(status.st_mode):
        return True
    return getattr(status, "st_reparse_tag", 0) == _JUNCTION


_JUNCTION = 0xA0000003
"""``IO_REPARSE_TAG_MOUNT_POINT``: a folder that leads to another one."""


def same_file(one: os.stat_result, other: os.stat_result) -> bool:
    """Return True where two statuses are of one file."""
    return (one.st_ino, one.st_dev) == (other.st_ino, other.st_dev)


def create_exclusive(path: str, mode: int = 0o666) -> int:
    """Create a file that must not exist yet, return a descriptor to write to. Raises OSError."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _PLAIN, mode)


def open_to_append(path: str, mode: int = 0o666) -> int:
    """Open a file for :func:`append`, created with ``mode`` if missing; return its descriptor.

    A pipe without a reader is an error instead of a wait. Raises OSError.
    """
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _PLAIN | _NO_WAIT, mode)


def append(descriptor: int, path: str, data: bytes) -> None:
    """Write all of ``data`` at the end of a file opened by :func:`open_to_append`, in one write.

    Writes of several processes never mix: POSIX guarantees it, elsewhere the lock file
    ``PATH.lock`` does. Raises OSError, also when only a part could be written.
    """
    if sys.platform == "win32":
        from skillyard.base.io.locks import file_lock

        with file_lock(f"{path}.lock", timeout_s=10.0):
            written = os.write(descriptor, data)
    else:
        written = os.write(descriptor, data)
    if written != len(data):
        raise OSError(errno.ENOSPC, "only a part was written", path)


def iter_last_lines(path: str, max_bytes: int, max_line_bytes: int) -> Iterator[bytes]:
    """Yield the lines in the last ``max_bytes`` of a regular file, blank ones left out.

    A longer line than ``max_line_bytes`` is cut there. At most one line is in memory. Raises
    OSError, also for a pipe or a device, which could keep the reader waiting.
    """
    with open(open_to_read(path, follow=True), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        left = min(status.st_size, max_bytes)
        if status.st_size > max_bytes:
            file.seek(status.st_size - max_bytes)
            left -= _skip_line(file, left)
        while left > 0:
            line = file.readline(min(left, max_line_bytes))
            if not line:
                return
            left -= len(line)
            if not line.endswith(b"\n"):
                left -= _skip_line(file, left)
            if line.strip():
                yield line.rstrip(b"\n")


def _skip_line(file: IO[bytes], limit: int) -> int:
    """Read to the end of the line, in pieces; return the number of bytes read."""
    read = 0
    while read < limit:
        piece = file.readline(min(limit - read, 1 << 16))
        read += len(piece)
        if not piece or piece.endswith(b"\n"):
            break
    return read


def replace_file(source: str, target: str) -> None:
    """Move a file to ``target``, in the place of what is there, in one step. Raises OSError.

    Windows refuses this while another process has ``target`` open, which a reader has for an
    instant: it is tried again for up to a second.
    """
    _again_if_refused(os.replace, source, target)


def rename_folder(source: str, target: str) -> None:
    """Rename a folder to a name that is free. Raises OSError.

    Windows refuses this while a program looks into the folder, as virus scanners do for an
    instant: it is tried again for up to a second.
    """
    _again_if_refused(os.rename, source, target)


def _again_if_refused(move: Callable[[str, str], None], source: str, target: str) -> None:
    for _ in range(_REPLACE_TRIES if sys.platform == "win32" else 0):
        try:
            return move(source, target)
        except PermissionError:
            time.sleep(_REPLACE_PAUSE_S)
    return move(source, target)


def sync_folder(folder: str) -> None:
    """Make a rename in ``folder`` survive a loss of power. Raises OSError.

    Windows cannot open folders and has no such call: nothing is done there.
    """
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | _PLAIN)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def copy_owner_and_mode(descriptor: int, status: os.stat_result) -> None:
    """Give an open file the owner and the permissions of ``status``, as far as that is allowed.

    Windows files take their access rights from the folder: nothing is done there.
    """
    if sys.platform == "win32":
        return
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        except PermissionError:
            pass  # it becomes ours; its mode stays
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


PlaceStamp = list[int] | bool
"""What shows a change of a file: times, size and number; True for a folder, False for nothing."""


def place_stamp(path: str) -> PlaceStamp:
    """Return what stands at a path, links followed, for a comparison later on."""
    try:
        now = os.stat(path)
    except (OSError, ValueError):
        return False
    folder = stat.S_ISDIR(now.st_mode)
    return folder or [now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino]


def is_executable(status: os.stat_result) -> bool:
    """Return True for a file that its owner may execute; Windows knows that by names only."""
    return sys.platform != "win32" and bool(status.st_mode & stat.S_IXUSR)


def is_private(status: os.stat_result) -> bool:
    """Return True where a file belongs to this user and nobody else may write to it.

    On Windows mode bits do not show who may write; the folder's access list decides, and the user's
    profile is closed to others by default. True is returned there.
    """
    if sys.platform == "win32":
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


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
            with suppress(FileNotFoundError):  # a new file
                copy_owner_and_mode(file.fileno(), os.stat(path))
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


def remove_leftovers(path: str) -> None:
    """Remove temporary files for ``path`` left by processes that were killed. Raises OSError."""
    from skillyard.base.io.processes import may_be_running  # few callers leave any

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


def slashes(path: str) -> str:
    """Return a path with ``/`` and without one at its end, unless it is the root of a drive."""
    path = path.replace(os.sep, "/")
    short = path.rstrip("/")
    return f"{short}/" if path and os.path.splitdrive(short)[1] == "" else short


def same_path(one: str, other: str) -> bool:
    """Return True where two paths are written alike on this system: Windows ignores case."""
    return os.path.normcase(one) == os.path.normcase(other)


def below(path: str, folder: str) -> str | None:
    """Return the part of a path below a folder, with ``/``; None where it does not lie there.

    Only the texts are compared: resolve links first where they matter.
    """
    start = f"{os.path.normcase(folder).rstrip(os.sep)}{os.sep}"
    if not os.path.normcase(path).startswith(start):
        return None
    return path[len(start) :].replace(os.sep, "/")


def ancestors(folder: str) -> Iterator[str]:
    """Yield a folder and the folders above it, up to the root; at most 64."""
    for _ in range(_MAX_LEVELS):
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def is_below(path: str, folder: str) -> bool:
    """Return True where a path lies below a folder, as :func:`below` compares them."""
    return below(path, folder) is not None


def file_uri(path: str) -> str:
    """Return an absolute path as a ``file:`` URI, a relative one as a URI reference."""
    from urllib.parse import quote

    drive, rest = os.path.splitdrive(path.replace(os.sep, "/"))
    text = quote(rest.encode("utf-8", "surrogatepass"), safe="/~")
    if drive.startswith("//"):  # a share: its server is the URI's host
        return f"file:{quote(drive, safe='/')}{text}"
    if drive:
        return f"file:///{drive}{text}"
    return f"file://{text}" if text.startswith("/") else text


def _sha256_constructor() -> Any:
    """Return the interpreter's own implementation, or OpenSSL's where it has none.

    Loading OpenSSL costs as much as a fifth of a start.
    """
    try:
        return import_module("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256
    except (ImportError, AttributeError):
        return import_module("hashlib").sha256


new_sha256 = _sha256_constructor()
"""Returns the hash object of some bytes."""


def sha256(data: bytes) -> bytes:
    """Return the 32 bytes of the digest. For more than a megabyte ``hashlib`` is faster."""
    digest: bytes = new_sha256(data).digest()
    return digest
