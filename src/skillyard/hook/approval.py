"""What exactly is approved of a skill: one digest over its file and all that lies beside it.

A model that follows a skill reads its references and runs its scripts, so a change of those is a
change of the skill.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from skillyard.digest import sha256
from skillyard.io.files import open_to_read
from skillyard.value import NamedTuple

__all__ = [
    "MOST_FILES",
    "MOST_FILE_BYTES",
    "MOST_TOTAL_BYTES",
    "Content",
    "Unapprovable",
    "content_of",
]

MOST_FILES = 1_000
"""Files of one skill; 99.9 % of real ones have under 83."""
MOST_TOTAL_BYTES = 16 * 1024 * 1024
MOST_FILE_BYTES = 1_048_576
"""Of the skill's own file."""
_DEPTH = 16
_SKIPPED = frozenset([".git", "__pycache__"])
"""Made by tools beside what people write; nothing is ever offered from them."""
_AT_ROOT = ("assets", "references", "scripts")
"""What belongs to a skill whose folder is the project itself: the rest is the project."""


class Unapprovable(Exception):
    """A skill that nobody can approve as it is, and why."""


class Content(NamedTuple):
    """A skill's content at one moment."""

    digest: str
    """64 digits over the paths and contents of all of its files."""
    data: bytes
    """The skill's own file, the very bytes that are in the digest."""


def content_of(path: str, root: str) -> Content:
    """Return the content of the skill whose file is ``path``, in the project ``root``.

    Links are named in the digest and never followed. Raises Unapprovable when the skill is larger
    than anybody looks through, or holds what is no file; OSError when it cannot be read.
    """
    folder, name = os.path.split(path)
    data = _read(path, MOST_FILE_BYTES)
    lines = [_line(name, data)]
    if name.lower() == "skill.md":
        within = MOST_TOTAL_BYTES - len(data)
        for below in _below(folder, name, at_root=folder == root):
            if len(lines) >= MOST_FILES:
                raise Unapprovable(f"it has more than {MOST_FILES:,} files")
            full = os.path.join(folder, below)
            if os.path.islink(full):
                lines.append(f"{below}\0->{os.readlink(full)}\n")
                continue
            content = _read(full, within)
            within -= len(content)
            lines.append(_line(below, content))
    text = "".join(sorted(lines))
    return Content(sha256(text.encode("utf-8", "surrogateescape")).hex(), data)


def _line(name: str, data: bytes) -> str:
    return f"{name}\0{len(data)}\0{_digest(data)}\n"


def _digest(data: bytes) -> str:
    if len(data) < 262_144:
        return sha256(data).hex()
    import hashlib  # faster for much data, and dearer to load

    return hashlib.sha256(data).hexdigest()


def _read(path: str, most: int) -> bytes:
    descriptor = open_to_read(path)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unapprovable(f"{os.path.basename(path)!r} is no regular file")
        if status.st_size > most:
            raise Unapprovable(f"its files have more than {MOST_TOTAL_BYTES:,} bytes")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(descriptor)
    if len(data) > most:
        raise Unapprovable("it grew while it was read")
    return data


def _below(folder: str, own: str, *, at_root: bool) -> Iterator[str]:
    """Yield the paths of all files and links below a skill's folder but its own file."""
    starts = [name for name in _AT_ROOT if os.path.lexists(os.path.join(folder, name))]
    waiting = [(start, 1) for start in starts] if at_root else [("", 0)]
    while waiting:
        below, depth = waiting.pop()
        if depth > _DEPTH:
            raise Unapprovable("its folders are nested too deep")
        if below and (os.path.islink(os.path.join(folder, below))):
            yield below
            continue
        with os.scandir(os.path.join(folder, below)) as entries:
            for entry in entries:
                path = os.path.join(below, entry.name)
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _SKIPPED:
                        waiting.append((path, depth + 1))
                elif path != own:
                    yield path
