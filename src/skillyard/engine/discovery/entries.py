"""Functions on single folder entries: links, references, kinds. Each makes one system call."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Collection

from skillyard.base.errors import Diagnostic
from skillyard.base.io.folders import Folder
from skillyard.engine.discovery.layout import SKILL_FILE
from skillyard.engine.skill import Reference

_LONGEST_LINK = 1_024
# Both patterns are compiled on first use: a query loads this module each time.
_LINK = rb"(?:[\w.@+-][\w.@+ -]*/)+[\w.@+-][\w.@+ -]*"
"""A relative path of plain names, in one line."""
_WORKTREE = rb"gitdir: ([^\n]+)/\.git/worktrees/[^/\n]+\n?"
"""What git writes to the file ``.git`` of a linked worktree."""


def maybe_folder(entry: os.DirEntry[str]) -> bool:
    """True for a link to a folder, and for a broken link whose name has no dot."""
    try:
        return entry.is_dir() or (not entry.is_file() and "." not in entry.name)
    except OSError:  # a loop of links
        return True


def choose_spelling(files: Collection[str]) -> tuple[str, list[Diagnostic]]:
    """Return which file of a folder is its SKILL.md, and remarks about the other spellings.

    The name is empty when none is. The paths of the remarks are names of files.
    """
    others = sorted(name for name in files if name.lower() == "skill.md" and name != SKILL_FILE)
    if not others:
        return (SKILL_FILE if SKILL_FILE in files else ""), []
    choice = next((name for name in (SKILL_FILE, "skill.md") if name in files), "")
    rename = "rename it to SKILL.md"
    if not choice:
        return "", [
            Diagnostic("skill_md_missing", "warning", o, f"{o} is not SKILL.md", rename)
            for o in others
        ]
    beside = f"not read: {choice} lies beside it"
    remove = f"remove one of them; every host reads {SKILL_FILE}"
    twice = Diagnostic("skill_md_twice", "warning", "", beside, remove)
    remarks = [twice._replace(path=o) for o in others if o != choice]
    if choice != SKILL_FILE:
        message = "the file is called skill.md"
        remarks.append(Diagnostic("file_name_case", "warning", choice, message, rename))
    return choice, remarks


def is_loop(path: str) -> bool:
    """True for a link that leads to itself, over other links or directly."""
    try:
        os.stat(path)
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def may_be_link(folder: str, name: str) -> bool:
    """True for a file where a folder of a skill, or of all skills, is expected."""
    return "." not in name and (folder == "skills" or (name == "skills" and folder[:1] == "."))


def link_as_text(folder: Folder, name: str) -> str:
    """Return the path that a file consists of, else an empty text. Raises OSError."""
    return path_in_text(_start_of(folder, name))


def path_in_text(content: bytes) -> str:
    """Return the relative path that is all of a file's content, else an empty text.

    Git writes a link as such a file where it may not create links (``core.symlinks=false``, the
    default on Windows).
    """
    is_path = len(content) <= _LONGEST_LINK and re.fullmatch(_LINK, content)
    return content.decode() if is_path else ""


def repository_of_worktree(folder: Folder) -> str:
    """Return the real path of the repository that a folder is a linked worktree of, else ``""``."""
    try:
        match = re.match(_WORKTREE, _start_of(folder, ".git"))
    except OSError:
        return ""
    return "" if match is None else real_path(os.path.join(folder.path, os.fsdecode(match[1])))


def _start_of(folder: Folder, name: str) -> bytes:
    """Return the first bytes of a regular file, of any other nothing. Raises OSError."""
    descriptor = folder.file(name)
    try:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, _LONGEST_LINK + 1) if is_file else b""
    finally:
        os.close(descriptor)


def references_beside(
    files: dict[str, os.DirEntry[str]],
    reference_folders: dict[str, list[os.DirEntry[str]]],
    skill_file: str,
) -> tuple[Reference, ...]:
    """Return the Markdown files beside a SKILL.md and in its reference folders, sorted by path."""
    references = [
        Reference(name, name)
        for name, entry in files.items()
        if name != skill_file and _is_reference(entry) and name.lower() != "skill.md"
    ]
    for folder, entries in reference_folders.items():
        references.extend(
            Reference(entry.name, f"{folder}/{entry.name}")
            for entry in entries
            if _is_reference(entry)
        )
    references.sort(key=lambda reference: reference.path)
    return tuple(references)


def _is_reference(entry: os.DirEntry[str]) -> bool:
    return (
        entry.name[-3:].lower() == ".md"
        and entry.name.isprintable()
        and entry.is_file(follow_symlinks=False)
    )


def join(folder: str, name: str) -> str:
    """Return the path of an entry, with ``/``. An empty folder is the current one."""
    if not folder:
        return name
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def real_path(path: str) -> str:
    """Return the real path, or an empty text when the path cannot be resolved."""
    try:
        return os.path.realpath(path)
    except OSError:
        return ""


def inside(real: str, folder: str) -> bool:
    """True when a real path is the folder or lies below it."""
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def kind_of(mode: int) -> str:
    """Return one word for an entry that is not a regular file."""
    if stat.S_ISFIFO(mode):
        return "pipe"
    if stat.S_ISSOCK(mode):
        return "socket"
    if stat.S_ISDIR(mode):
        return "folder"
    return "device"
