"""Commands on a real terminal (a pty) of a given width, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["on_terminal"]


def on_terminal(columns: int, folder: Path, *arguments: str, **environment: str) -> str:
    """Return what ``skillyard`` writes to a terminal that is so many columns wide."""
    import fcntl
    import pty
    import struct
    import termios

    host, guest = pty.openpty()
    fcntl.ioctl(guest, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    surroundings = {**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        surroundings.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-m", "skillyard", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=guest,
        stderr=subprocess.DEVNULL,
        env={**surroundings, **environment},
    )
    os.close(guest)
    written = b""
    try:
        while part := _read(host):
            written += part
    finally:
        os.close(host)
        process.wait(60)
    return written.decode("utf-8").replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the last process that had the other end has closed it
        return b""
