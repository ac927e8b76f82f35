"""The files of a skill for the scan: all in its folder, and why some of them are not read."""

from __future__ import annotations

import codecs
import os
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from skillyard.errors import SkillError
from skillyard.io.folders import Folder, entry_is_link, open_folder
from skillyard.limits import DEFAULT_LIMITS
from skillyard.resources import read_file
from skillyard.text import clean_line

__all__ = [
    "TOO_MANY_FILES",
    "SkillFile",
    "files_of_folder",
    "files_of_package",
    "is_compiled",
    "is_read_by_programs",
    "single_file",
    "text_of",
]

_MAX_BYTES = DEFAULT_LIMITS.resource_bytes
_MAX_FILES = DEFAULT_LIMITS.resources_listed
TOO_MANY_FILES = "there are more files than the limit"
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


_ENDINGS = """
    bash bat cfg cjs cmd conf css fish go htm html ini java js json jsx ksh lua md mdx mjs php
    pl ps1 psm1 py r rb rs rst service sh sql svg swift toml ts tsx txt vbs xml yaml yml zsh
"""
_TEXTS = frozenset(f".{ending}" for ending in _ENDINGS.split())
"""Endings of files that are text whatever they contain. A shell runs a script with a NUL byte."""
_ENCODINGS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def is_read_by_programs(path: str) -> bool:
    """True for a SKILL.md, a script or a page, by the ending of its name."""
    return os.path.splitext(path)[1].lower() in _TEXTS


def text_of(path: str, data: bytes) -> bytes | None:
    """Return what is scanned of a file as UTF-8, without NUL bytes; None for what is no text."""
    for mark, encoding in _ENCODINGS:
        if data.startswith(mark):
            data = data.decode(encoding, "replace").encode("utf-8", "replace")
            break
    else:
        binary = b"\0" in data[:8192] or data.startswith(_COMPILED[:1])
        if binary and not (data.startswith(b"#!") or is_read_by_programs(path)):
            return None
    return data.replace(b"\0", b"")


def is_compiled(data: bytes) -> bool:
    """True for an executable file, a library, or compiled Python, Java or WebAssembly."""
    return data.startswith(_COMPILED) or (data[2:4] == _PYTHON and b"\0" in data[:16])


def files_of_package(files: Mapping[str, bytes]) -> Iterator[SkillFile]:
    """Yield files that were fetched and not written yet."""
    for path, data in files.items():
        yield _bounded(path, data)


def _bounded(path: str, data: bytes) -> SkillFile:
    if len(data) > _MAX_BYTES and text_of(path, data) is not None:
        return SkillFile(path, None, problem=f"it is larger than {_MAX_BYTES:,} bytes")
    return SkillFile(path, data)


def single_file(path: str) -> SkillFile:
    """Return one file that has no folder of its own."""
    return _read(os.path.dirname(path), os.path.basename(path))


def files_of_folder(folder: str, others: Collection[str] = ()) -> Iterator[SkillFile]:
    """Yield every file below a skill's folder, hidden ones too, without following a link.

    ``others`` are real paths of folders that are scanned as skills of their own; they are left out.
    Files that cannot be read, links that lead out, and what is beyond the limits are yielded
    without data.
    """
    count = 0
    pending = [("", 0)]
    while pending:
        below, depth = pending.pop()
        try:
            with open_folder(os.path.join(folder, below), follow=not below) as opened:
                entries = sorted(opened.entries(_MAX_FILES * 4), key=lambda entry: entry.name)
                if below and os.path.realpath(os.path.join(folder, below)) in others:
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
                            yield SkillFile(_shown(path), None, problem=TOO_MANY_FILES)
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
