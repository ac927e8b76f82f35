"""What is held until it is closed: locks between processes, one file each (filelock)."""

from __future__ import annotations

import errno
import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from filelock import BaseFileLock

_POLL_S = 0.02


class Closeable(ABC):
    """A context manager whose exit calls ``close``."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Release what is held; a second time does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class HeldLock(Closeable):
    """A lock that this object holds until it is closed; it ends with the process at the latest."""

    __slots__ = ("_lock",)

    def __init__(self, lock: BaseFileLock) -> None:
        self._lock: BaseFileLock | None = lock

    def close(self) -> None:
        """Release the lock; a second time does nothing."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def file_lock(path: str, *, timeout_s: float | None = 0.0, mode: int | None = 0o600) -> HeldLock:
    """Take the lock that the file ``path`` stands for; the file is created and stays.

    The lock excludes other processes and other holders in this one, threads included.
    ``timeout_s`` is how many seconds to wait for it: 0 tries once, None waits for ever. ``mode``
    are the permissions of a new lock file, None those that the process gives to new files. Raises
    BlockingIOError when somebody else has it, OSError where the file cannot be made or locked.
    """
    from filelock import FileLock, Timeout

    # filelock creates missing folders itself, with permissions of its own choice.
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    if mode is None:
        lock = FileLock(path, thread_local=False)
    else:
        lock = FileLock(path, mode=mode, thread_local=False)
    try:
        lock.acquire(timeout=-1 if timeout_s is None else timeout_s, poll_interval=_POLL_S)
    except Timeout:
        raise BlockingIOError(errno.EAGAIN, "another process has the lock", path) from None
    except (NotImplementedError, RuntimeError) as error:
        raise OSError(errno.ENOLCK, str(error) or os.strerror(errno.ENOLCK), path) from None
    return HeldLock(lock)
