"""The journal of a change to a folder, stored beside the folder until the change is done.

A clone or an archive could bring one, and it decides what the lock file says. So the user's own
records note the digest of each journal that is written, and another one counts as none. It can only
name the entry of its own folder, and folders are compared with its digests before anything happens
to them.
"""

from __future__ import annotations

import errno
import json
import os
from typing import NamedTuple

from skillyard.errors import SkillIoError
from skillyard.io.atomic_write import atomic_write
from skillyard.io.sha256 import sha256
from skillyard.remote.install.lock_entries import FIELDS, LockedSkill, folder_name
from skillyard.remote.install.record import forget_written, note_written, written_digest
from skillyard.resources import read_file

__all__ = [
    "NOT_WRITTEN",
    "Journal",
    "is_noted",
    "is_unfinished_journal",
    "journal_name",
    "read_journal",
    "remove_journal",
    "write_journal",
]

PREFIX = ".skillyard-journal-"
MAX_BYTES = 1 << 20
NOT_WRITTEN = "not written"
"""Stands for the digest of the new folder while it is being written. No folder has it."""


class Journal(NamedTuple):
    """One replacement or removal."""

    old: str
    """Digest of the manifest of the folder that was there; empty when there was none."""
    new: str
    """Digest of the manifest of the new folder; empty for a removal."""
    entry: LockedSkill | None
    """The lock entry to write after a replacement, or the one that a removal drops."""
    backup: bool = False
    """A removed folder is moved to a backup and not deleted."""

    @property
    def removes(self) -> bool:
        """True for a removal."""
        return not self.new


def write_journal(into: str, name: str, journal: Journal) -> None:
    """Record the planned change to the folder ``name`` in ``into``. Raises OSError."""
    entry = journal.entry
    shape = {
        "old": journal.old,
        "new": journal.new,
        "name": None if entry is None else entry.name,
        "entry": None if entry is None else entry.to_json(),
        "backup": journal.backup,
    }
    path, data = _path(into, name), json.dumps(shape).encode("ascii")
    note_written(path, _digest(data), durable=True)
    atomic_write(path, data)


def read_journal(into: str, name: str) -> Journal | None:
    """Return the journal of an interrupted run of this user; None without a readable one."""
    path = _path(into, name)
    try:
        data = read_file(path, MAX_BYTES).data
        if _digest(data) != written_digest(path):
            return None
        shape = json.loads(data)
        entry = shape["entry"] and _entry(shape["name"], shape["entry"])
        if entry is not None and folder_name(entry.name) != name:
            return None
        return Journal(str(shape["old"]), str(shape["new"]), entry or None, shape["backup"] is True)
    except (SkillIoError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def is_noted(into: str, name: str) -> bool:
    """True where a run of this user began a journal of the folder, which may be unfinished."""
    return written_digest(_path(into, name)) is not None


def _entry(name: str, shape: dict[str, object]) -> LockedSkill:
    named = {FIELDS[key]: value for key, value in shape.items() if key in FIELDS}
    extra = [(key, json.dumps(value)) for key, value in shape.items() if key not in FIELDS]
    return LockedSkill(name, extra=extra, order=shape, **named)  # type: ignore[arg-type]


def remove_journal(into: str, name: str) -> None:
    """Remove the journal if there is one. Raises OSError."""
    path = _path(into, name)
    try:
        os.unlink(path)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):  # such a name never has one
            raise
    forget_written(path)


def journal_name(file: str) -> str:
    """Return the name of the folder that a file is the journal of, finished or not; else nothing.

    The name is that of a file and may be anything.
    """
    if file.startswith(PREFIX):
        return file.removeprefix(PREFIX)
    if file.startswith(f".{PREFIX}") and file.endswith(".tmp"):
        return file.removeprefix(f".{PREFIX}").rsplit(".", 2)[0]
    return ""


def is_unfinished_journal(file: str, name: str) -> bool:
    """Return True for the name of a temporary file of an interrupted journal write."""
    return file.startswith(f".{PREFIX}{name}.") and file.endswith(".tmp")


def _digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hex()}"


def _path(into: str, name: str) -> str:
    return os.path.join(into, f"{PREFIX}{name}")
