"""The journal of a folder replacement, stored beside the folder until the replacement is done."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from skillyard.errors import InvalidInput
from skillyard.io.atomic_write import atomic_write
from skillyard.remote.install.lock_entries import FIELDS, LockedSkill

__all__ = ["Journal", "is_unfinished_journal", "read_journal", "remove_journal", "write_journal"]

PREFIX = ".skillyard-journal-"
MAX_BYTES = 1 << 20


class Journal(NamedTuple):
    """One replacement."""

    old: str
    """Digest of the manifest of the replaced folder; empty when there was none."""
    new: str
    """Digest of the manifest of the new folder."""
    entry: LockedSkill | None
    """The lock entry to write after the replacement."""


def write_journal(into: str, name: str, journal: Journal) -> None:
    """Record the planned replacement of the folder ``name`` in ``into``. Raises OSError."""
    entry = journal.entry
    shape = {
        "old": journal.old,
        "new": journal.new,
        "entry": None if entry is None else {"name": entry.name, **entry.to_json()},
    }
    atomic_write(_path(into, name), json.dumps(shape).encode("ascii"))


def read_journal(into: str, name: str) -> Journal | None:
    """Return the journal of an interrupted run, or None when there is no readable one."""
    try:
        with open(_path(into, name), "rb") as file:
            shape = json.loads(file.read(MAX_BYTES))
        entry = shape["entry"]
        return Journal(str(shape["old"]), str(shape["new"]), entry and _entry(entry))
    except (OSError, ValueError, KeyError, TypeError, InvalidInput):
        return None


def _entry(shape: dict[str, object]) -> LockedSkill:
    named = {FIELDS[key]: value for key, value in shape.items() if key in FIELDS}
    extra = [(k, json.dumps(v)) for k, v in shape.items() if k not in FIELDS and k != "name"]
    return LockedSkill(shape["name"], extra=extra, **named)  # type: ignore[arg-type]


def remove_journal(into: str, name: str) -> None:
    """Remove the journal if there is one. Raises OSError."""
    try:
        os.unlink(_path(into, name))
    except FileNotFoundError:
        pass


def is_unfinished_journal(file: str, name: str) -> bool:
    """Return True for the name of a temporary file of an interrupted journal write."""
    return file.startswith(f".{PREFIX}{name}.") and file.endswith(".tmp")


def _path(into: str, name: str) -> str:
    return os.path.join(into, f"{PREFIX}{name}")
