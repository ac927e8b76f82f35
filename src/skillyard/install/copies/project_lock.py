"""A lock file as installation writes it: one entry at a time, with other runs beside."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from skillyard.base.errors import SkillIoError
from skillyard.base.io.locks import file_lock
from skillyard.base.io.sha256 import sha256
from skillyard.base.io.user_folders import cache_folder
from skillyard.install.copies.lock_entries import Lock, LockedSkill
from skillyard.install.copies.lockfile import (
    change_user_lock,
    read_project_lock,
    read_user_lock,
    write_project_lock,
)


class ProjectLock(NamedTuple):
    """The lock file at a path, which is read anew for each change: others change it too."""

    path: str

    def read(self) -> Lock:
        """Return the lock as it is now. Raises SkillIoError."""
        return read_project_lock(self.path)

    def note(self, entry: LockedSkill) -> None:
        """Add an entry, or replace the one of its name. Raises SkillIoError."""
        self._change(entry.name, entry)

    def drop(self, name: str) -> None:
        """Remove the entry of a name if there is one. Raises SkillIoError."""
        self._change(name, None)

    def _change(self, name: str, entry: LockedSkill | None) -> None:
        try:
            # The file and not its folder, which may be one that is written to.
            with alone(os.path.abspath(self.path)):
                lock = self.read()
                if entry is not None or lock.get(name) is not None:
                    self._write(lock, name, entry)
        except OSError as error:
            what = f"cannot write: {error.strerror or error}"
            raise SkillIoError(what, path=self.path, code="lock_unwritable") from None

    def _write(self, lock: Lock, name: str, entry: LockedSkill | None) -> None:
        new = lock.without(name) if entry is None else lock.with_skill(entry)
        write_project_lock(self.path, new)


class UserLock(ProjectLock):
    """The lock of the skills of a user, which the common installer writes too."""

    __slots__ = ()

    def read(self) -> Lock:
        """Return the lock as it is now. Raises SkillIoError."""
        return read_user_lock(self.path)

    def _write(self, lock: Lock, name: str, entry: LockedSkill | None) -> None:
        known = lock.get(name)
        entry = entry and stamped(entry, known, time.time())
        if entry != known:
            change_user_lock(self.path, name, entry)


def stamped(entry: LockedSkill, known: LockedSkill | None, now: float) -> LockedSkill:
    """Return a new entry of the user's lock with the times of its installation and update.

    ``known`` is the entry that it replaces, ``now`` in seconds since 1970. An entry that changes
    nothing keeps its times.
    """
    moment = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
    text = moment.replace("+00:00", "Z")
    first = known and known.installed_at
    entry = replace(entry, installed_at=first or entry.installed_at or text)
    same = known is not None and replace(entry, updated_at=known.updated_at) == known
    return known if known is not None and same else replace(entry, updated_at=text)


@contextmanager
def alone(*paths: str) -> Iterator[bool]:
    """Lock folders or files against other runs of this user, in an order that cannot deadlock.

    A lock is a file in the user's cache, not in the folder, which other programs list. When it
    cannot be created or locked (some network file systems lack locks), the work continues without
    it, and the value is False. The same path must not be locked again inside.
    """
    folder = os.path.join(cache_folder(), "locks")
    with ExitStack() as held:
        is_alone = True
        for name in sorted(set(map(_lock_name, paths))):
            try:
                os.makedirs(folder, mode=0o700, exist_ok=True)
                held.enter_context(file_lock(os.path.join(folder, name), timeout_s=None))
            except OSError:
                is_alone = False
        yield is_alone


def _lock_name(path: str) -> str:
    real = os.path.normcase(os.path.realpath(path))
    return f"{sha256(os.fsencode(real)).hex()[:24]}.lock"
