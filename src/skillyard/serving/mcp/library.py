"""The skills that are served: what the files say now, and the last good version of a broken one.

:class:`~skillyard.serving.runtime.live.LiveCatalog` reads the files. Here an edit that broke a
skill is laid aside: the version before it goes on being served, marked with what is wrong. A
:class:`View` is at most a second old and never shows a skill whose file is gone.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from skillyard.catalog import Catalog
from skillyard.catalog.copies import without_paths
from skillyard.errors import Diagnostic
from skillyard.io.paths import below
from skillyard.io.sha256 import sha256
from skillyard.serving.runtime.errors import unavailable
from skillyard.serving.runtime.live import LARGE
from skillyard.serving.runtime.service import Service
from skillyard.serving.runtime.snapshot import Snapshot
from skillyard.skill import STORED, Skill

__all__ = ["Change", "Library", "Progress", "View"]

T = TypeVar("T")
Progress = Callable[[float, float, str], Awaitable[None]]
"""Tells a client how far the work is: done, of how much, in words."""

FRESH_S = 0.6
"""A view older than this is looked at again before it answers …"""
SHORT_S = 0.25
"""… where a look takes no longer than this. A larger library is followed beside the answers …"""
OLD_S = 5.0
"""… until the view is older than this, or than four looks."""
PATIENCE_S = 1.0
"""How long an answer waits for a look."""
MOST_TOLD = 0.99
"""The share of the work that is told while it goes on: all of it is told by the answer."""
EVERY_S = 0.4
"""Pause between two looks …"""
WATCHED_S = 2.0
"""The same while the operating system says what changes: for what it may have missed."""
SHARE = 3
"""… and at least so many times what a look takes, so that following costs a quarter of a core …"""
QUIET_SHARE = 15
"""… and a sixteenth when nobody asks: the first request then looks by itself."""
QUIET_S = 60.0
"""After so long without a request nobody asks."""
QUICK_S = 0.005
"""A ranking that took less the last time is worked out on the loop: to wait for a thread, and to
be woken by it, costs a small answer more than it keeps others waiting."""
ROUNDS = 3
"""Answers that are worked out again because a file they show had gone meanwhile."""


class View:
    """One state of the library. Immutable; everything that an answer shows comes from one view."""

    def __init__(
        self,
        seen: Snapshot,
        files: Catalog,
        shown: Snapshot,
        kept: Mapping[str, Skill],
        generation: int,
    ) -> None:
        self.seen = seen
        """The newest snapshot."""
        self.files = files
        """What the files say: of a large library newer than the snapshot, for some seconds."""
        self.snapshot = shown
        """The newest snapshot with the kept versions, for what ranks and searches."""
        self.catalog = _with(files, kept.values())
        """The files with the kept versions, for what lists and loads."""
        broken = {found.path: found for found in files.diagnostics if found.severity == "error"}
        self.kept = MappingProxyType({path: broken[path] for path in kept if path in broken})
        """By path: what is wrong with the file whose version before is served."""
        self.generation = generation
        """1 for the first; grows by one with each change."""
        self.digest = _digest(files, self.catalog, self.kept)
        self._remembered: dict[Any, Any] = {}

    @property
    def texts(self) -> Snapshot:
        """The catalog as a snapshot that is asked for skills by name, and ranks nothing."""
        if self.snapshot.whole is self.catalog:
            return self.snapshot
        return self.remembered(
            "texts", lambda: Snapshot(self.catalog, self.catalog, self.generation)
        )

    def remembered(self, name: Any, made: Callable[[], T]) -> T:
        """Return what ``made`` makes of this view, made once. Two threads may both make it."""
        if name not in self._remembered:
            self._remembered[name] = made()
        found: T = self._remembered[name]
        return found

    def shown_path(self, path: str) -> str:
        """Return a path below its root, with ``/``: never one of this machine.

        Of a stored skill it is the place in the store, whole.
        """
        if path.startswith(STORED):
            return path.removeprefix(STORED)
        for root in self.seen.whole.roots:
            shown = below(path, root)
            if shown is not None:
                return shown.replace("\\", "/")
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
        return "/".join(parts[-3:])


def _with(files: Catalog, kept: Iterable[Skill]) -> Catalog:
    """Return the catalog with skills that it lacks, itself where there are none."""
    more = tuple(kept)
    if not more:
        return files
    return Catalog((*files.skills, *more), files.diagnostics, files.shadowed)


def _digest(files: Catalog, catalog: Catalog, kept: Mapping[str, Diagnostic]) -> str:
    if catalog is files:
        return files.digest
    lines = [files.digest, *(f"{path}\t{found.message}" for path, found in sorted(kept.items()))]
    lines += sorted(f"{skill.path}\t{skill.hash}" for skill in catalog)
    return str(sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hex())


class Change(NamedTuple):
    """What a new view shows differently. Skills are those of the new view, or of the old one."""

    added: tuple[Skill, ...]
    changed: tuple[Skill, ...]
    removed: tuple[Skill, ...]


class Library:
    """Holds the newest view. Belongs to one event loop, that of the service's catalog."""

    def __init__(self, service: Service, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._live = service.live
        self._clock = clock
        self._view: View | None = None
        self._looked = float("-inf")
        self._took = 0.0
        self._asked = clock()
        self._wake = asyncio.Event()
        self._lock = asyncio.Lock()
        self._watchers: list[Callable[[Change], None]] = []
        self._taking: set[asyncio.Task[None]] = set()
        self._paces: dict[str, float] = {}
        """Seconds that each kind of ranking took the last time."""
        self._live.listen(self._told)

    @property
    def held(self) -> View | None:
        """The newest view, None before the first."""
        return self._view

    def watch(self, watcher: Callable[[Change], None]) -> None:
        """Call ``watcher`` with every change, on the loop."""
        self._watchers.append(watcher)

    async def current(self) -> View:
        """Return a view that is a second old at most. Raises Refused (503) when there is none.

        Of a library whose files take long to look at, the view may be some looks old.
        """
        self._asked = self._clock()
        self._wake.set()
        if self._view is None:
            await self.look()
        elif self._clock() - self._looked > self._allowed():
            await self.look(PATIENCE_S)
        if self._view is None:
            raise unavailable()
        return self._view

    async def prepare(self, tell: Progress | None = None) -> None:
        """Wait for the first view, and tell how far the index of a large library is meanwhile.

        Without ``tell`` nobody waits for such an index.
        """
        looking = self._live.look()
        while not looking.done():
            await asyncio.wait({looking}, timeout=PATIENCE_S)
            index = self._live.building
            if index is not None and index.total:
                if tell is None:
                    return
                words = f"making the index: {index.done:,} of {index.total:,} files"
                await tell(min(index.done / index.total, MOST_TOLD), 1.0, words)
        await self._take_over()

    def _allowed(self) -> float:
        """Return how old a view may be that answers."""
        if self._live.watched:
            return OLD_S
        return FRESH_S if self._took <= SHORT_S else max(OLD_S, 4 * self._took)

    async def look(self, patience_s: float | None = None) -> None:
        """Look at the files and take over what they say; give up waiting after a while."""
        began = self._clock()
        task = self._live.look()
        done, _ = await asyncio.wait({task}, timeout=patience_s)
        if done:
            self._looked = began
            self._took = self._clock() - began
        await self._take_over()

    async def answer(
        self, work: Callable[[View], tuple[T, Iterable[Skill]]], *, ranking: str = ""
    ) -> T:
        """Return what ``work`` makes of the current view, in a thread unless that is quick.

        ``work`` says which skills its result shows, and ``ranking`` what kind of ranking it is,
        empty for none: those of one kind take about as long. When the file of a skill is gone, the
        files are looked at and it works again, at last on a view without the skills that are gone.
        Raises what ``work`` raises, and Refused (503).
        """
        view = await self.current()
        result: T
        for last in (False,) * ROUNDS + (True,):
            result, gone = await self._result(work, view, ranking)
            if not gone or last:
                break
            if len(view.files) > LARGE and not ranking:  # the look can be had later
                self._live.look()
                view = await self._service.in_thread(_without, view, gone)
                continue
            await self.look()
            if ranking:  # by what the files say now
                await self._live.settled()
                await self._take_over()
            view = self._view or view
            if gone & {skill.path for skill in view.catalog}:  # its root has gone as a whole
                view = await self._service.in_thread(_without, view, gone)
        return result

    async def _result(
        self, work: Callable[[View], tuple[T, Iterable[Skill]]], view: View, ranking: str
    ) -> tuple[T, frozenset[str]]:
        quick = ranking and self._paces.get(ranking, QUICK_S) < QUICK_S
        # A thread that reads files gives way at each, and would wait long for a loop that works.
        if quick and not self._service.working:
            result, gone, took = _worked(work, view)
        else:
            result, gone, took = await self._service.in_thread(_worked, work, view)
        if ranking:
            self._paces[ranking] = took
        return result, gone

    async def follow(self) -> None:
        """Look at the files again and again, until cancelled."""
        while True:
            began = self._clock()
            await self.look()
            took = self._clock() - began
            if self._live.watched:
                await asyncio.sleep(max(WATCHED_S, SHARE * took))
                continue
            if began - self._asked <= QUIET_S:
                await asyncio.sleep(max(EVERY_S, SHARE * took))
                continue
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), max(EVERY_S, QUIET_SHARE * took))
            except TimeoutError:
                continue

    def _told(self) -> None:
        """Take over what was read without a look of ours."""
        task = asyncio.get_running_loop().create_task(self._take_over())
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)

    async def _take_over(self) -> None:
        """Make the view of the newest files, and tell who watches what it changed."""
        async with self._lock:
            before, seen, files = self._view, self._live.held, self._live.files
            if seen is None or files is None:
                return
            if before is not None and before.seen is seen and before.files is files:
                return
            view = await self._service.in_thread(_followed, before, seen, files)
            self._view = view
            if before is None or before.digest == view.digest:
                return
            change = await self._service.in_thread(_change, before.catalog, view.catalog)
        for watcher in self._watchers:
            watcher(change)


def _worked(
    work: Callable[[View], tuple[T, Iterable[Skill]]], view: View
) -> tuple[T, frozenset[str], float]:
    """Return the result, the paths of the skills that it shows and that are gone, and seconds."""
    began = time.perf_counter()
    result, shown = work(view)
    filed = (skill.path for skill in shown if skill.path and not skill.stored)
    gone = {path for path in filed if not os.path.lexists(path)}
    return result, frozenset(gone), time.perf_counter() - began


def _followed(before: View | None, seen: Snapshot, files: Catalog) -> View:
    """Return the view of what is seen, with the last good version of what no longer loads."""
    if before is None:
        return View(seen, files, seen, {}, 1)
    if files.on_demand:  # a store gives no skill that does not load
        return View(seen, files, seen, {}, before.generation + 1)
    kept = {skill.path: skill for skill in _lost(before.catalog, files)}
    view = View(seen, files, _ranking(before, seen, kept), kept, before.generation)
    if view.digest != before.digest:
        view.generation += 1
    return view


def _lost(before: Catalog, files: Catalog) -> Iterator[Skill]:
    """Yield the skills whose files are there and do not load any more, of copies the first one.

    One that still loads from a copy of its file is not lost.
    """
    loaded = {skill.path for skill in files}
    missing = [skill for skill in before if skill.path not in loaded]
    if not missing:
        return
    broken = {found.path for found in files.diagnostics if found.severity == "error"}
    there = {(skill.name, skill.hash) for skill in files}
    shadowed = before.shadowed
    for skill in sorted(missing, key=lambda skill: skill in shadowed):
        content = (skill.name, skill.hash)
        if skill.path in broken and content not in there and os.path.lexists(skill.path):
            there.add(content)
            yield skill


def _ranking(before: View, seen: Snapshot, kept: Mapping[str, Skill]) -> Snapshot:
    """Return the snapshot that ranks, which has the kept versions too."""
    ranked = {skill.path for skill in seen.whole}
    lacking = [skill for path, skill in kept.items() if path not in ranked]
    if not lacking:
        return seen
    if before.seen is seen:
        return before.snapshot
    if len(seen.whole) > LARGE:  # to rank it in memory would take longer than to mend the file
        return seen
    return _ranked_as_before(_with(seen.whole, lacking), seen)


def _without(view: View, gone: frozenset[str]) -> View:
    """Return the view without the skills of those paths."""
    files = _less(view.files, gone)
    kept = {skill.path: skill for skill in view.catalog if skill.path in view.kept}
    left = {path: skill for path, skill in kept.items() if path not in gone}
    shown = _ranked_as_before(_less(view.snapshot.whole, gone), view.seen)
    return View(view.seen, files, shown, left, view.generation)


def _less(catalog: Catalog, gone: frozenset[str]) -> Catalog:
    shadowed = without_paths(catalog.shadowed, gone)
    skills = [skill for skill in catalog if skill.path not in gone]
    told = [found for found in catalog.diagnostics if found.path not in gone]
    return Catalog(skills, told, shadowed)


def _ranked_as_before(catalog: Catalog, seen: Snapshot) -> Snapshot:
    shown = Snapshot(catalog, catalog, seen.generation)
    if len(catalog) <= LARGE:  # else who ranks waits for it, and who only loads does not
        shown.make_ready(seen.used)
    return shown


def _change(before: Catalog, after: Catalog) -> Change:
    return Change(*before.difference(after))
