"""A project's lock file as installation writes it: one entry at a time, with other runs beside."""

from __future__ import annotations

import os
from typing import NamedTuple

from skillyard.errors import SkillIoError
from skillyard.remote.install.exclusive import alone
from skillyard.remote.install.lock_entries import Lock, LockedSkill
from skillyard.remote.install.lockfile import read_project_lock, write_project_lock

__all__ = ["ProjectLock"]


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
                if entry is None and lock.get(name) is None:
                    return
                write_project_lock(
                    self.path, lock.without(name) if entry is None else lock.with_skill(entry)
                )
        except OSError as error:
            what = f"cannot write: {error.strerror or error}"
            raise SkillIoError(what, path=self.path, code="lock_unwritable") from None
