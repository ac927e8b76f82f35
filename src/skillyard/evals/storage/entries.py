"""Stored generations and judgements: one JSON file each, written atomically, shared by runs."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import read_regular
from skillyard.base.io.locks import file_lock
from skillyard.evals.storage.files import FOLDER_HINT, write_file

GENERATIONS = "generations"
JUDGEMENTS = "judgements"
GENERATION_SCHEMA = "skillyard.generation/1"
JUDGEMENT_SCHEMA = "skillyard.judgement/1"
SHARED = "_without_skill"
"""The folder of answers that no skill had a part in."""
ENTRY_BYTES = 16_777_216
"""Largest entry that is read. Answers of 64,000 tokens have about 400,000 bytes."""

LOCKS = ".locks"
"""The folder of 256 files, each the lock of the keys that end in its two digits, and the lock of
the budgets."""
_UNLOCKABLE = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""Error numbers of file systems without locks."""

_SAFE = re.compile(r"[^a-z0-9._-]+")


_LARGEST = 1_000_000_000
"""No count or cost of an entry is larger."""


def is_amount(value: Any) -> bool:
    """True for a number from 0 up: the cost of an entry or an event, which are not trusted."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= _LARGEST


def count_of(value: Any) -> int | None:
    """Return a count of an entry; None where it is missing or none."""
    return value if isinstance(value, int) and is_amount(value) else None


class Entries:
    """The entries of one results folder. Safe for many threads and many processes.

    An entry that cannot be read counts as missing and is reported through ``warn`` with its path;
    the next answer replaces it.
    """

    def __init__(self, results: str, warn: Callable[[str], None] = lambda text: None) -> None:
        self._results = results
        self._warn = warn
        self._guard = threading.Lock()
        self._reported: set[str] = set()
        self._locks: dict[str, threading.Lock] = {}

    def path(self, kind: str, skill: str, key: str) -> str:
        """Return an entry's path below the results folder, with forward slashes.

        A skill's name is converted to a folder name that is safe on every system. Two names may
        share a folder; their entries differ by key.
        """
        folder = _SAFE.sub("-", skill.lower()).strip(".-") or "unnamed"
        return f"{kind}/{folder[:100]}/{key}.json"

    def read(self, path: str) -> dict[str, Any] | None:
        """Return the entry at a path from :meth:`path`; None when there is no usable one."""
        full = os.path.join(self._results, *path.split("/"))
        try:
            data, _ = read_regular(full, ENTRY_BYTES, follow=True)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.refuse(path, error.strerror or "unreadable")
            return None
        return self._parse(path, data)

    def read_named(self, path: str) -> dict[str, Any] | None:
        """Return the entry at a path of a results file, which may come from anywhere.

        None where there is no usable entry, or where the path is not one of this folder.
        """
        parts = path.split("/")
        if len(parts) != 3 or any(part in ("", ".", "..") or "\\" in part for part in parts):
            return None
        return self.read(path)

    def refuse(self, path: str, why: str) -> None:
        """Report once that an entry cannot be used."""
        with self._guard:
            first = path not in self._reported
            self._reported.add(path)
        if first:
            self._warn(f"{path}: cannot be used ({why}), so it counts as missing")

    def write(self, path: str, entry: dict[str, Any]) -> None:
        """Write an entry atomically. Raises SkillIoError."""
        full = os.path.join(self._results, *path.split("/"))
        text = json.dumps(entry, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        write_file(full, text, "entry")

    @contextmanager
    def lock(self, path: str) -> Iterator[None]:
        """Hold the lock of an entry, within this process and between processes.

        After waiting for the lock, the caller should read again, because the other holder may have
        stored the answer. The lock ends with the process that holds it.
        """
        with self._guard:
            lock = self._locks.setdefault(path, threading.Lock())
        with lock, lock_between_processes(self._results, f"{path[-7:-5]}.lock"):
            yield

    def _parse(self, path: str, data: bytes) -> dict[str, Any] | None:
        try:
            entry = json.loads(data)
            if not isinstance(entry, dict):
                raise ValueError("it is not a JSON object")
            if entry.get("key") != path.rpartition("/")[2].removesuffix(".json"):
                raise ValueError("it is the entry of another key")
        except (ValueError, RecursionError) as error:
            self.refuse(path, str(error))
            return None
        return entry


def lock_between_processes(results: str, name: str) -> AbstractContextManager[object]:
    """Return a lock of a results folder, held. Raises SkillIoError.

    On a file system without locks there is none: two runs may then both pay for one answer, and
    both keep a whole entry.
    """
    path = os.path.join(results, LOCKS, name)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return file_lock(path, timeout_s=None, mode=None)
    except OSError as error:
        if error.errno in _UNLOCKABLE:
            return nullcontext()
        message = f"cannot lock the results: {error.strerror}"
        raise SkillIoError(message, path=path, hint=FOLDER_HINT) from None
