"""Reading a pipe within a time limit."""

from __future__ import annotations

import os
import sys


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
