"""Change notifications of the operating system for folders, if available.

They come through ``watchfiles`` (the extra ``watch``). Without it, and when the system refuses
(Linux limits the number of watches), files are polled instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

DEBOUNCE_MS = 200
"""Milliseconds within which changes are combined into one report."""
QUIET_MS = 40
"""They are reported earlier when no other change arrives for so many milliseconds."""
TURN_MS = 500
"""After so many milliseconds without a change the watch reports that it is established."""


class FolderWatch:
    """Watches folders, not recursively. Belongs to one event loop."""

    def __init__(self, on_change: Callable[[], None], on_failure: Callable[[str], None]) -> None:
        """``on_failure`` is called with the reason for the end of a watch."""
        self._on_change = on_change
        self._on_failure = on_failure
        self._folders: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None
        self.stands = False
        """True while every change in the folders is reported."""

    @property
    def available(self) -> bool:
        """True when watchfiles is installed."""
        return _watching() is not None

    def follow(self, folders: dict[str, int]) -> None:
        """Watch these folders; ``on_change`` is called once when the watch is established.

        Folders are given by path with their inode: a recreated folder is another one. Nothing
        happens without watchfiles, or when the system refused the same folders before.
        """
        if folders == self._folders or not self.available:
            return
        if self._task is not None:
            self._task.cancel()
        self._folders = folders
        self.stands = False
        self._task = asyncio.get_running_loop().create_task(self._watch(sorted(folders)))

    async def _watch(self, folders: list[str]) -> None:
        try:
            async for changes in _watching()(
                *folders,
                watch_filter=None,
                debounce=DEBOUNCE_MS,
                step=QUIET_MS,
                rust_timeout=TURN_MS,
                yield_on_timeout=True,
                recursive=False,
                ignore_permission_denied=True,
            ):
                if changes or not self.stands:
                    self.stands = True
                    self._on_change()
        except (OSError, RuntimeError) as error:
            self.stands = False
            self._on_failure(getattr(error, "strerror", None) or str(error))

    async def close(self) -> None:
        """Stop watching, and wait for the thread of watchfiles."""
        self.stands = False
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})


@lru_cache(maxsize=1)
def _watching() -> Any:
    """Return watchfiles' function; None without watchfiles."""
    try:
        return import_module("watchfiles").awatch
    except ImportError:
        return None
