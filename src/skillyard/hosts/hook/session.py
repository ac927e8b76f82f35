"""What the hook remembers of a session, in one small private file; nothing of a prompt is in it."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from skillyard.base.configuration import state_folder
from skillyard.base.io.files import atomic_write, is_private, read_regular, sha256
from skillyard.hosts.follow_up import Memory

MAX_SESSIONS = 64
"""Files that are kept. The oldest are removed when a session begins."""
_MAX_BYTES = 1 << 16


def _file(session: str) -> str:
    name = sha256(session.encode("utf-8", "surrogatepass")).hex()[:32]
    return os.path.join(state_folder(), "sessions", name)


def recall(session: str) -> Memory:
    """Return what the prompt before left; an empty memory without an id or a sound file."""
    try:
        data, status = read_regular(_file(session), _MAX_BYTES)
        if session and is_private(status):
            name, path, turns, texts = json.loads(data)
            return Memory(str(name), str(path), int(turns), tuple(map(str, texts)))
    except (OSError, ValueError, TypeError):
        pass
    return Memory()


def remember(session: str, memory: Memory) -> None:
    """Store the memory. Never raises: a failing disk costs a reminder, not an answer."""
    path = _file(session)
    folder = os.path.dirname(path)
    with suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.path.lexists(path):
            files = sorted(os.scandir(folder), key=lambda file: file.stat().st_mtime)
            for old in files[: 1 - MAX_SESSIONS]:
                with suppress(FileNotFoundError):  # another session's hook was quicker
                    os.unlink(old)
        atomic_write(path, json.dumps(memory).encode("ascii"), mode=0o600, durable=False)
