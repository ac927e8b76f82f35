"""The files of a skill for the scan: all in its folder, and why some of them are not read."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from hashlib import file_digest, sha256
from io import BufferedReader
from typing import NamedTuple, TypeVar

from skillyard.base.errors import SkillError
from skillyard.base.io.files import open_to_read
from skillyard.base.io.folders import Folder, entry_is_link, open_folder
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line
from skillyard.check.scanning.document import DATA, PROSE, kind_of
from skillyard.check.scanning.rule import HIGH, LOW, MEDIUM
from skillyard.engine.discovery.entries import inside
from skillyard.engine.resources import read_file

T = TypeVar("T")
_MAX_BYTES = DEFAULT_LIMITS.resource_bytes
_MAX_LARGE_BYTES = 8 * _MAX_BYTES
"""Of one text. The largest one in 27 public repositories has 2.1 MB."""
_MAX_LARGE = 16
"""Texts of one skill longer than :data:`_MAX_BYTES` that are scanned; bounds the memory."""
_MAX_FILES = DEFAULT_LIMITS.resources_listed
_MAX_START = 8_192
"""Bytes of a file that is too large that are read, to know what it is."""
_TOO_MANY_FILES = "there are more files than the limit"
_TOO_DEEP = "it lies deeper than the limit"
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
    """Why there is no data; of a link, why it is harmless."""
    start: bytes = b""
    """The first bytes of a file that is too large."""
    digest: str = ""
    """Of the whole content of a text or a program that is too large."""


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


def _is_read(path: str) -> bool:
    """True for a SKILL.md, a script or a page, by the ending of its name."""
    return os.path.splitext(path)[1].lower() in _TEXTS


def unscanned_severity(file: SkillFile) -> str:
    """Return how severe it is that a file without data was not scanned.

    High for what an agent may follow or run: otherwise a long script, or one behind a thousand
    other files, would pass unread. Medium for data, low for what is no text.
    """
    if file.problem in (_TOO_MANY_FILES, _TOO_DEEP):
        return HIGH
    if not (text_of(file.path, file.start) is not None if file.start else _is_read(file.path)):
        return LOW
    kind = kind_of(file.path, file.start)
    is_skill = file.path.rpartition("/")[2].lower() == "skill.md"
    # A page that cannot be opened, such as a link, is nothing that an agent reads either.
    return MEDIUM if kind == DATA or (kind == PROSE and not (file.start or is_skill)) else HIGH


def text_of(path: str, data: bytes) -> bytes | None:
    """Return what is scanned of a file as UTF-8, without NUL bytes; None for what is no text."""
    for mark, encoding in _ENCODINGS:
        if data.startswith(mark):
            data = data.decode(encoding, "replace").encode("utf-8", "replace")
            break
    else:
        binary = b"\0" in data[:8192] or data.startswith(_COMPILED[:1])
        if binary and not (data.startswith(b"#!") or _is_read(path)):
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
    if len(data) > _MAX_LARGE_BYTES and text_of(path, data) is not None:
        problem = f"it is larger than {_MAX_LARGE_BYTES:,} bytes"
        return SkillFile(path, None, "", problem, data[:_MAX_START], sha256(data).hexdigest())
    return SkillFile(path, data)


def single_file(path: str, root: str | None = None) -> SkillFile:
    """Return one file that has no folder of its own. A link below ``root`` is followed."""
    real = os.path.realpath(path)
    followed = real if root is not None and inside(real, os.path.realpath(root)) else path
    return _read(*os.path.split(followed))._replace(path=shown_path(os.path.basename(path)))


def files_of_folder(
    folder: str, others: Collection[str] = (), root: str | None = None
) -> Iterator[SkillFile]:
    """Yield every file below a skill's folder, hidden ones too.

    ``others`` are real paths of folders that are scanned as skills of their own; they are left out.
    Only links to pages and scripts below ``root`` (default: the folder) are followed. Files that
    cannot be read, links that lead out, and what is beyond the limits are yielded without data.
    """
    count = large = 0
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
                        yield from _link(folder, path, opened, entry.name, root or folder)
                    elif entry.is_dir(follow_symlinks=False):
                        if entry.name in _SKIPPED:
                            yield SkillFile(shown_path(path), None, problem="it is left out")
                        elif depth >= DEFAULT_LIMITS.tree_depth:
                            yield SkillFile(shown_path(path), None, problem=_TOO_DEEP)
                        else:
                            pending.append((path, depth + 1))
                    else:
                        count += 1
                        if count > _MAX_FILES:
                            yield SkillFile(shown_path(path), None, problem=_TOO_MANY_FILES)
                            return
                        file = _read(folder, path, is_large_read=large < _MAX_LARGE)
                        large += len(file.data or b"") > _MAX_BYTES
                        yield file
        except OSError as error:
            yield SkillFile(shown_path(below or "."), None, problem=error.strerror or "unreadable")


def _read(folder: str, path: str, *, is_large_read: bool = True) -> SkillFile:
    full, start, message = os.path.join(folder, path), b"", ""
    for limit in (_MAX_BYTES, _MAX_LARGE_BYTES):
        try:
            return SkillFile(shown_path(path), read_file(full, limit, path).data)
        except SkillError as error:
            message = str(error.message)
            if error.code == "file_too_large":
                start = _opened(full, lambda file: file.read(_MAX_START)) or b""
            if not (is_large_read and start and text_of(path, start) is not None):
                break
    digest = ""
    if start and (is_compiled(start) or text_of(path, start) is not None):
        digest = _opened(full, lambda file: file_digest(file, "sha256").hexdigest()) or ""
    return SkillFile(shown_path(path), None, "", message, start, digest)


def _opened(path: str, read: Callable[[BufferedReader], T]) -> T | None:
    """Return what is read of a regular file that is too large to be scanned."""
    with suppress(OSError), open(open_to_read(path), "rb") as file:
        return read(file)
    return None  # it was replaced meanwhile


def _link(folder: str, path: str, opened: Folder, name: str, root: str) -> Iterator[SkillFile]:
    """Yield what a link leads to, unless that lies in the folder; the link where it is not read."""
    try:
        target = opened.link(name)
    except OSError as error:
        yield SkillFile(shown_path(path), None, problem=error.strerror or "unreadable")
        return
    real = os.path.realpath(os.path.join(folder, path))
    if inside(real, os.path.realpath(folder)):
        return
    link = SkillFile(shown_path(path), None, link=clean_line(target))
    is_in_root = inside(real, os.path.realpath(root))
    if not (is_in_root and _is_read(real) and kind_of(real, b"") != DATA):
        yield link
    elif os.path.exists(real):
        yield _read(*os.path.split(real))._replace(path=link.path)
    else:
        yield link._replace(problem="it leads to nothing")


def shown_path(path: str) -> str:
    """Return a path for people."""
    return clean_line(path.encode("utf-8", "backslashreplace").decode("utf-8"))
