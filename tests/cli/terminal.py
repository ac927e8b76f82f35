"""Commands on a real terminal (a pty) of a given width, in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from skillyard.cli.blocks import Block
from skillyard.cli.plain import rows_of

__all__ = ["on_terminal", "read_terminal", "render"]


def render(block: Block, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a block as plain text."""
    for row in rows_of(block, width):
        yield "".join(span.text for span in row).rstrip()


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
    try:
        return read_terminal(host)
    finally:
        process.wait(60)


def read_terminal(host: int) -> str:
    """Return all that was written to a terminal whose guest's end is closed here, and close it.

    What was written arrives in parts, and some of it later than the end of its writer.
    """
    written = b""
    try:
        while part := os.read(host, 65536):
            written += part
    except OSError:  # the last process that had the other end has closed it
        pass
    finally:
        os.close(host)
    return written.decode("utf-8").replace("\r\n", "\n")
