"""The folder of a node: the current index, and the next one while it is built.

A file names the current index; replacing that file is the switch. The folder of the current index
is never renamed, so readers keep it open.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import AbstractContextManager

from skillyard.base.configuration import cache_folder
from skillyard.base.errors import SkillIoError, io_errors
from skillyard.base.io.files import atomic_write, rename_folder, sha256
from skillyard.base.io.locks import HeldLock, file_lock
from skillyard.base.io.platforms import refuse_windows
from skillyard.engine.catalog.roots import Admission
from skillyard.engine.index.index_writer import IndexWriter
from skillyard.engine.index.library_spec import index_settings
from skillyard.engine.index.segment_searcher import SegmentSearcher, open_index
from skillyard.engine.index.token_table import bundled_table
from skillyard.store.node.records import VERSION
from skillyard.store.values import START, Position

POSITION = "position"
"""Note: the generation that an index contains completely."""
POLICY = "policy"
"""Setting: the digest of the policy that decided which skills an index contains."""
VIEWER = "caller"
"""Setting: the caller whose view an index contains."""
_CURRENT = "current"
_BUILDING = "building"
_LOCK = "follower.lock"
_MAKING = "making.lock"
MAKING_WAIT_S = 5.0
"""Seconds that a rebuild process may take to end after the follower that started it."""
_NAMED = re.compile(r"segments-[0-9]{8}")


def state_folder(address: str, caller: str | None) -> str:
    """Return the default folder of a node's state, in the user's cache."""
    name = sha256(f"{address}\n{caller or ''}".encode("utf-8", "surrogatepass")).hex()[:24]
    return os.path.join(cache_folder(), "node", name)


def position_in(searcher: SegmentSearcher) -> Position:
    """Return the generation that an index holds completely; START without one."""
    text = searcher.notes.get(POSITION, "")
    return Position.parse(text) if text else START


class NodeState:
    """A node's folder. Only the process that holds :meth:`lock` changes it."""

    def __init__(
        self,
        folder: str,
        caller: str | None = None,
        login: str = "",
        policy: Admission | None = None,
    ) -> None:
        """``login`` is the login of the database, whose view it is when no caller is named.

        Skills that ``policy`` refuses are not in the index; it may be set to another one.

        Raises SkillIoError when the folder cannot be created, InvalidInput on Windows.
        """
        refuse_windows(
            "nodes that follow a store",
            "use WSL or a container, or serve folders of skills without --store",
        )
        self.folder = os.path.abspath(folder)
        self.policy = policy and policy.of_store()
        self.viewer = caller or (f"login {login}" if login else "")
        with self._errors():
            os.makedirs(self.folder, mode=0o700, exist_ok=True)

    @property
    def settings(self) -> dict[str, str]:
        """The settings of this node's index; an index with other settings is rebuilt."""
        settings = index_settings(**{"node": VERSION, VIEWER: self.viewer})
        if self.policy is not None:
            settings[POLICY] = sha256(repr(self.policy).encode("utf-8", "surrogatepass")).hex()
        return settings

    @property
    def building(self) -> str:
        """The folder of the index being built."""
        return os.path.join(self.folder, _BUILDING)

    def current(self) -> str | None:
        """Return the folder of the current index, or None."""
        with self._errors():
            try:
                with open(os.path.join(self.folder, _CURRENT), encoding="ascii") as file:
                    name = file.read(64).strip()
            except (FileNotFoundError, UnicodeDecodeError):
                return None
        return os.path.join(self.folder, name) if _NAMED.fullmatch(name) else None

    def open(self, before: SegmentSearcher | None = None) -> SegmentSearcher | None:
        """Open the current index; None when there is none of this version.

        Raises IndexDamaged, SkillIoError.
        """
        folder = self.current()
        searcher = None if folder is None else open_index(folder, before)
        return searcher if searcher is not None and searcher.settings == self.settings else None

    def writer(self, folder: str, *, max_rewritten: int | None = None) -> IndexWriter:
        """Return a writer of one of this node's indexes. Raises SkillIoError."""
        return IndexWriter(
            folder,
            dimensions=bundled_table().dimensions,
            settings=self.settings,
            max_rewritten=max_rewritten,
        )

    def drop_building(self) -> None:
        """Remove the unfinished index, if there is one.

        Raises SkillIoError when it cannot be removed, because the next one would be added to it.
        """
        shutil.rmtree(self.building, ignore_errors=True)
        if os.path.lexists(self.building):
            raise SkillIoError(
                "the index that was being made cannot be removed",
                path=self.building,
                hint="check who may write in the node's folder",
            )

    def switch(self) -> None:
        """Make the finished index the current one, and remove the old one."""
        before = self.current()
        number = 0 if before is None else int(before[-8:])
        name = f"segments-{(number + 1) % 100_000_000:08}"
        with self._errors():
            shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
            rename_folder(self.building, os.path.join(self.folder, name))
            atomic_write(os.path.join(self.folder, _CURRENT), f"{name}\n".encode("ascii"))
        for other in os.listdir(self.folder):
            if _NAMED.fullmatch(other) and other != name:
                shutil.rmtree(os.path.join(self.folder, other), ignore_errors=True)

    def lock(self) -> HeldLock:
        """Lock this folder for changes. Raises SkillIoError when another process holds the lock.

        A rebuild process of a killed follower may still run here; this waits for its end.
        """
        lock = self._locked(_LOCK, 0.0)
        try:
            self.lock_making().close()
        except BaseException:
            lock.close()
            raise
        return lock

    def lock_making(self) -> HeldLock:
        """Lock the building of an index. Raises SkillIoError."""
        return self._locked(_MAKING, MAKING_WAIT_S)

    def _locked(self, name: str, wait_s: float) -> HeldLock:
        with self._errors():
            try:
                return file_lock(os.path.join(self.folder, name), timeout_s=wait_s)
            except BlockingIOError:
                raise SkillIoError(
                    "another process follows the store into this folder",
                    path=self.folder,
                    code="node_busy",
                    hint="give each node a folder of its own: --state-dir",
                ) from None

    def _errors(self) -> AbstractContextManager[None]:
        hint = "check that it may be written and that the disk has room"
        return io_errors("use the node's folder", self.folder, hint)
