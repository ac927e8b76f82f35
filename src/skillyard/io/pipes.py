"""Pipes that an event loop waits for, where the system lets it."""

from __future__ import annotations

import os
import socket
import stat
import sys

__all__ = ["copy_of", "loop_can_wait", "pipe_room", "read_within", "send_now"]


def loop_can_wait(descriptor: int) -> bool:
    """Return True where an event loop can tell when a descriptor is ready: pipes and sockets.

    Windows loops cannot tell that of a descriptor: a thread has to read and write there.
    """
    if sys.platform == "win32":
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def copy_of(descriptor: int) -> int:
    """Return another descriptor of the same file, which no child process inherits.

    It is none of the three standard ones, where the system can promise that.
    """
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)


if sys.platform != "win32":

    def pipe_room(pipe: int) -> int:
        """Return how many bytes a pipe takes at once from its only writer, 0 for none now.

        All it can hold where nothing is unread, else PIPE_BUF bytes where poll says that it has
        room (pipe(7)): a reader that is woken once reads a whole answer.
        """
        import fcntl
        import select
        import termios

        unread = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4))
        if not any(unread) and sys.platform == "linux":
            return fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
        poll = select.poll()
        poll.register(pipe, select.POLLOUT)
        return select.PIPE_BUF if poll.poll(0) else 0

    def send_now(connection: socket.socket, data: memoryview) -> int:
        """Send what a socket takes without waiting; return the number of bytes."""
        try:
            return connection.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

else:

    def pipe_room(pipe: int) -> int:
        """Return 0: :func:`loop_can_wait` is never true here, so nobody asks."""
        return 0

    def send_now(connection: socket.socket, data: memoryview) -> int:
        """Return 0: :func:`loop_can_wait` is never true here, so nobody asks."""
        return 0


def read_within(descriptor: int, size: int, seconds: float) -> bytes | None:
    """Return at most ``size`` bytes as soon as there are any, empty at the end of the stream.

    None when nothing has come within ``seconds``. Windows cannot wait for a pipe with a time limit:
    a thread reads there, and goes on waiting when the time is over. Raises OSError.
    """
    if sys.platform == "win32":
        return _read_by_thread(descriptor, size, seconds)
    from select import select

    return os.read(descriptor, size) if select([descriptor], [], [], seconds)[0] else None


def _read_by_thread(descriptor: int, size: int, seconds: float) -> bytes | None:
    from threading import Thread

    chunks: list[bytes] = []
    errors: list[OSError] = []

    def read() -> None:
        try:
            chunks.append(os.read(descriptor, size))
        except OSError as error:
            errors.append(error)

    reader = Thread(target=read, daemon=True)
    reader.start()
    reader.join(seconds)
    if errors:
        raise errors[0]
    return chunks[0] if chunks else None
