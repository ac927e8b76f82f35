"""Change notifications of the operating system for folders, if available.

They come through ``watchfiles`` (the extra ``watch``). Without it, and when the system refuses
(Linux limits the number of watches), files are polled instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from threading import Event, Thread
from typing import Any

DEBOUNCE_MS = 200
"""Milliseconds within which changes are combined into one report."""
QUIET_MS = 40
"""They are reported earlier when no other change arrives for so many milliseconds."""
TURN_MS = 500
"""After so many milliseconds without a change the watch reports that it is established."""
PATIENCE_S = 5.0


class FolderWatch:
    """Watches folders, not recursively. Belongs to one event loop."""

    def __init__(self, on_change: Callable[[], None], on_failure: Callable[[str], None]) -> None:
        """Both are called on the loop, ``on_failure`` with the reason for the end of a watch."""
        self._on_change = on_change
        self._on_failure = on_failure
        self._folders: dict[str, int] = {}
        self._stop = Event()
        self._thread: Thread | None = None
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
        self._end()
        self._folders = folders
        self._stop = Event()
        arguments = (sorted(folders), self._stop, asyncio.get_running_loop())
        self._thread = Thread(target=self._run, args=arguments, name="skillyard-watch", daemon=True)
        self._thread.start()

    def _run(self, folders: list[str], stop: Event, loop: asyncio.AbstractEventLoop) -> None:
        try:
            for _ in _changes(folders, stop):
                loop.call_soon_threadsafe(self._report_change, stop)
        except RuntimeError:  # the loop has ended, or an error in watchfiles
            self._report_failure(loop, "watchfiles failed", stop)
        except OSError as error:
            self._report_failure(loop, error.strerror or str(error), stop)

    def _report_failure(self, loop: asyncio.AbstractEventLoop, why: str, stop: Event) -> None:
        try:
            loop.call_soon_threadsafe(self._end_of, stop, why)
        except RuntimeError:
            return  # the loop has ended

    def _report_change(self, stop: Event) -> None:
        if stop is self._stop and not stop.is_set():
            self.stands = True
            self._on_change()

    def _end_of(self, stop: Event, why: str) -> None:
        if stop is self._stop and not stop.is_set():
            self.stands = False
            self._on_failure(why)

    def _end(self) -> None:
        self._stop.set()
        self.stands = False

    def close(self) -> None:
        """Stop watching, and wait for the thread."""
        self._end()
        if self._thread is not None:
            self._thread.join(PATIENCE_S)
            self._thread = None


def _changes(folders: list[str], stop: Event) -> Iterator[None]:
    """Yield once when the watch is established, then after changes, until ``stop`` is set.

    Raises OSError and RuntimeError when the folders cannot be watched.
    """
    watch = _watching()
    assert watch is not None
    stands = False
    for changes in watch(
        *folders,
        watch_filter=None,
        debounce=DEBOUNCE_MS,
        step=QUIET_MS,
        stop_event=stop,
        rust_timeout=TURN_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
        recursive=False,
        ignore_permission_denied=True,
    ):
        if changes or not stands:
            stands = True
            yield


@lru_cache(maxsize=1)
def _watching() -> Any:
    """Return watchfiles' function; None without watchfiles."""
    try:
        return import_module("watchfiles").watch
    except ImportError:
        return None
