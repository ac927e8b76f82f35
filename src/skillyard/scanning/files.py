"""The files of a skill for the scan: all in its folder, and why some of them are not read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from skillyard.errors import SkillError
from skillyard.io.folders import Folder, entry_is_link, open_folder
from skillyard.limits import DEFAULT_LIMITS
from skillyard.resources import read_file
from skillyard.text import clean_line

__all__ = [
    "SkillFile",
    "files_of_folder",
    "files_of_package",
    "is_compiled",
    "is_text",
    "single_file",
]

_MAX_BYTES = DEFAULT_LIMITS.resource_bytes
_MAX_FILES = DEFAULT_LIMITS.resources_listed
_SKIPPED = frozenset([".git", "node_modules", "__pycache__", ".venv"])
"""Folders that hosts do not install with a skill. Each is named in a finding."""
_COMPILED = (
    b"\x7fELF",
    b"MZ",
    b"\xca\xfe\xba\xbe",
    b"\xcf\xfa\xed\xfe",
    b"\xce\xfa\xed\xfe",
    b"\0asm",
)
_PYTHON = b"\r\n"
"""Bytes 2 and 3 of a compiled Python file."""


class SkillFile(NamedTuple):
    """One file of a skill. ``data`` is None for a link and for what could not be read."""

    path: str
    """Below the skill's folder, with ``/``."""
    data: bytes | None
    link: str = ""
    """Where a link that leads out of the folder leads."""
    problem: str = ""
    """Why there is no data."""


def is_text(data: bytes) -> bool:
    """True for data that is scanned as text: without a NUL byte at its beginning."""
    return b"\0" not in data[:8192] and not data.startswith(_COMPILED[:1])


def is_compiled(data: bytes) -> bool:
    """True for an executable file, a library, or compiled Python, Java or WebAssembly."""
    return data.startswith(_COMPILED) or (data[2:4] == _PYTHON and b"\0" in data[:16])


def files_of_package(files: Mapping[str, bytes]) -> Iterator[SkillFile]:
    """Yield files that were fetched and not written yet."""
    for path, data in files.items():
        yield _bounded(path, data)


def _bounded(path: str, data: bytes) -> SkillFile:
    if len(data) > _MAX_BYTES and is_text(data):
        return SkillFile(path, None, problem=f"it is larger than {_MAX_BYTES:,} bytes")
    return SkillFile(path, data)


def single_file(path: str) -> SkillFile:
    """Return one file that has no folder of its own."""
    return _read(os.path.dirname(path), os.path.basename(path))


def files_of_folder(folder: str) -> Iterator[SkillFile]:
    """Yield every file below a skill's folder, hidden ones too, without following a link.

    A nested folder with a ``SKILL.md`` is another skill and left out. Files that cannot be read,
    links that lead out, and what is beyond the limits are yielded without data.
    """
    count = 0
    pending = [("", 0)]
    while pending:
        below, depth = pending.pop()
        try:
            with open_folder(os.path.join(folder, below), follow=not below) as opened:
                entries = sorted(opened.entries(_MAX_FILES * 4), key=lambda entry: entry.name)
                names = {entry.name for entry in entries}
                if below and "SKILL.md" in names:
                    continue
                for entry in entries:
                    path = f"{below}/{entry.name}" if below else entry.name
                    if entry_is_link(entry):
                        yield from _link(folder, path, opened, entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        if entry.name in _SKIPPED or depth >= DEFAULT_LIMITS.tree_depth:
                            yield SkillFile(_shown(path), None, problem="it is left out")
                        else:
                            pending.append((path, depth + 1))
                    else:
                        count += 1
                        if count > _MAX_FILES:
                            problem = f"there are more than {_MAX_FILES:,} files"
                            yield SkillFile(_shown(path), None, problem=problem)
                            return
                        yield _read(folder, path)
        except OSError as error:
            yield SkillFile(_shown(below or "."), None, problem=error.strerror or "unreadable")


def _read(folder: str, path: str) -> SkillFile:
    try:
        content = read_file(os.path.join(folder, path), _MAX_BYTES, path)
    except SkillError as error:
        return SkillFile(_shown(path), None, problem=str(error.message))
    return SkillFile(_shown(path), content.data)


def _link(folder: str, path: str, opened: Folder, name: str) -> Iterator[SkillFile]:
    """Yield a link, unless its target lies in the folder."""
    try:
        target = opened.link(name)
    except OSError as error:
        yield SkillFile(_shown(path), None, problem=error.strerror or "unreadable")
        return
    real, root = os.path.realpath(os.path.join(folder, path)), os.path.realpath(folder)
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
        yield SkillFile(_shown(path), None, link=clean_line(target))


def _shown(path: str) -> str:
    return clean_line(path.encode("utf-8", "backslashreplace").decode("utf-8"))
