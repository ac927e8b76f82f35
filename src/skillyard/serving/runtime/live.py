"""The catalog as it is now: opened once, looked at again once a second or when a file changes.

A request takes one :class:`~skillyard.serving.runtime.snapshot.Snapshot` and answers from it alone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from skillyard.catalog import Catalog
from skillyard.index.indexed_catalog import open_catalog
from skillyard.index.progress import Progress
from skillyard.serving.runtime.errors import building, unavailable
from skillyard.serving.runtime.logging import Log
from skillyard.serving.runtime.options import ServiceOptions
from skillyard.serving.runtime.snapshot import Snapshot, snapshot_of
from skillyard.serving.runtime.watching import FolderWatch

__all__ = ["LiveCatalog"]

T = TypeVar("T")

OLD_S = 5.0
"""After so long without a look, a request waits for one instead of answering from before."""
MOST_LOOKING = 0.1
"""Of the time, that looking at the files may take."""
LARGE = 1_000
"""Skills beyond which what the files say does not wait for what ranks them; 1,000 take 0.3 s.
While more files are indexed for the first time, requests are refused instead of kept waiting."""
TOLD_EVERY_S = 5.0
"""Between two lines of the log that say how far the index is."""
CHECK_S = 5.0
"""Between two looks at the index of a large library."""
PATIENCE_S = 1.0
"""How long it waits; a large library that is being indexed answers from before all the same."""


class LiveCatalog:
    """Holds the newest snapshot. Belongs to one event loop; reads files in threads of its own.

    A small library is looked at and ranked anew in one go. Of a large one what the files say is
    there first, as ``files``, and the snapshot that ranks them some seconds later.
    """

    def __init__(
        self, options: ServiceOptions, log: Log, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._options = options
        self._log = log
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="skillyard-files")
        self._ranker = ThreadPoolExecutor(1, thread_name_prefix="skillyard-ranks")
        self._held: Snapshot | None = None
        self._files: Catalog | None = None
        self._looked = float("-inf")
        self._checked = float("-inf")
        self._took = 0.0
        """Seconds of the last look that found nothing new."""
        self._check_took = 0.0
        self._hinted = False
        self._looking: asyncio.Task[None] | None = None
        self._ranking: asyncio.Task[None] | None = None
        self._listeners: list[Callable[[], None]] = []
        self._watch = FolderWatch(self._hint, self._unwatched)
        self._closed = False
        self._working = 0
        self._problem: Exception | None = None
        self._building: Progress | None = None
        self._is_building = asyncio.Event()
        self._building_since: float | None = None
        self._told_at = float("-inf")
        self.failure = ""
        """The kind of what went wrong with the last look; empty when nothing did."""
        self.reloads = 0
        """How often the files had changed."""

    @property
    def held(self) -> Snapshot | None:
        """The newest snapshot, None before the first."""
        return self._held

    @property
    def files(self) -> Catalog | None:
        """What the files said at the last look: as new as the snapshot, or newer."""
        return self._files

    @property
    def working(self) -> bool:
        """True while a thread looks at the files, or makes them ready to be ranked."""
        return self._working > 0

    @property
    def watched(self) -> bool:
        """True while the operating system says when a file changes, so that nobody has to look."""
        return self._watch.stands

    def listen(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` on the loop after each change of ``held`` or ``files``."""
        self._listeners.append(listener)

    async def current(self) -> Snapshot:
        """Return the newest snapshot. Raises Refused (503) when there is none.

        The first one of a large library takes some seconds, and nobody is kept waiting for that.
        """
        age = self._clock() - self._looked
        looking = self.poke()
        if self._held is None and looking is not None:
            begins = asyncio.ensure_future(self._is_building.wait())
            await asyncio.wait({looking, begins}, return_when=asyncio.FIRST_COMPLETED)
            begins.cancel()
            if self._held is None and self._building is not None:
                raise building(self._building)
        elif age > OLD_S and looking is not None:
            await asyncio.wait({looking}, timeout=PATIENCE_S)
        if self._held is None:
            raise unavailable() from self._problem
        return self._held

    def poke(self) -> asyncio.Task[None] | None:
        """Look at the files if that is due; return the look that is on its way, if there is one."""
        pause = max(self._options.limits.look_s, self._took / MOST_LOOKING)
        due = self._clock() - self._looked >= pause
        return self.look() if due else self._looking

    def look(self) -> asyncio.Task[None]:
        """Start to look at the files, or return the look that is on its way."""
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look())
        return self._looking

    def _hint(self) -> None:
        """Look now: something has changed."""
        self._hinted = True
        if not self._closed:
            self.look()

    def _unwatched(self, why: str) -> None:
        self._log.write("watch", "warning", error=why)

    async def _look(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        started = self._clock()
        try:
            if self._held is None or not self._is_large():
                await self._look_at_once(started)
            else:
                await self._look_at_files(self._held, started)
        except Exception as error:  # noqa: BLE001 - what is held goes on answering, whatever it was
            self._note_failure(error)
        finally:
            self._looked = self._clock()
            self._looking = None
            self._building = self._building_since = None
            self._is_building.clear()
        if self._files is not None and self._watch.available and not self._closed:
            self._watch.follow({each.path: each.inode for each in self._files.folders})
        if self._hinted and not self._closed:  # something changed while it was looked at
            loop.call_soon(self.look)

    def _is_large(self) -> bool:
        return self._files is not None and len(self._files) > LARGE

    async def _look_at_once(self, started: float) -> None:
        """Look at everything and rank it; what is held is replaced as a whole."""
        self._hinted = False
        found = await self._in(self._thread, self._newer)
        self.failure = ""
        if found is None:
            self._took = self._clock() - started
        else:
            self._note(found)

    async def _look_at_files(self, held: Snapshot, started: float) -> None:
        """Look at the files of a large library: in full only where a glance says so."""
        self._hinted = False
        before = self._files
        assert before is not None
        found = (await self._in(self._thread, before.glance)).catalog
        if found is before:
            self._took = self._clock() - started
            pause = max(CHECK_S, self._check_took / MOST_LOOKING)
            due = self._clock() - self._checked >= pause
            if (due or self.failure) and self._ranking is None:
                self._rank(self._check(held))
            return
        self.failure = ""
        self._files = found
        self._tell()
        if self._ranking is None:
            self._rank(self._rank_files())

    def _rank(self, work: Coroutine[Any, Any, None]) -> None:
        self._ranking = asyncio.get_running_loop().create_task(self._ranked(work))

    async def _ranked(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - as above
            self._note_failure(error)
        finally:
            self._ranking = None

    async def _check(self, held: Snapshot) -> None:
        """See what a glance does not: an index that another process made anew."""
        started = self._clock()
        files = self._files
        assert files is not None
        found = await self._in(self._ranker, partial(held.changed, self._open))
        self.failure = ""
        self._check_took = self._clock() - started
        self._checked = self._clock()
        if found is not None:
            newer = (await self._in(self._ranker, files.reload)).catalog
            if newer is not files and self._files is files:
                self._files = newer
                self._tell()
        if found is not None or self._files is not held.whole:
            await self._rank_files()

    async def _rank_files(self) -> None:
        """Make the snapshot that ranks what the files say, again until it is what they say now."""
        while not self._closed:
            held, files = self._held, self._files
            assert held is not None
            assert files is not None
            found = await self._in(self._ranker, partial(self._snapshot_of, held, files))
            self.failure = ""
            if self._files is files:
                self._files = found.whole
            self._note(found)
            if self._files is found.whole:
                return

    def _snapshot_of(self, held: Snapshot, files: Catalog) -> Snapshot:
        catalog = self._open() if held.is_indexed else files
        return self._ready(snapshot_of(catalog, held.generation + 1, self._open, files), held)

    def _newer(self) -> Snapshot | None:
        """Return a snapshot of the files now, None when nothing changed."""
        held = self._held
        if held is None:
            first = snapshot_of(self._open(), 1, self._open)
            first.make_ready(first.used)
            return first
        changed = held.changed(self._open)
        if changed is None:
            return None
        found = snapshot_of(changed, held.generation + 1, self._open, held.whole)
        return self._ready(found, held)

    def _ready(self, found: Snapshot, held: Snapshot) -> Snapshot:
        found.make_ready(held.used)
        if found.digest == held.digest:
            found.generation = held.generation
        return found

    def _open(self) -> Catalog:
        loop = self._loop

        def tell(done: int, total: int) -> None:
            loop.call_soon_threadsafe(self._indexed, done, total)

        return open_catalog(
            self._options.roots,
            scopes=self._options.scopes,
            force_scan=True,
            in_parts=False,
            progress=tell,
        )

    def _indexed(self, done: int, total: int) -> None:
        """Note how far the index is, for requests that come before the first snapshot."""
        if self._held is not None or total <= LARGE:
            return
        now = self._clock()
        if self._building_since is None:
            self._building_since = now
        took = now - self._building_since
        if took < PATIENCE_S:  # an index that is there already is looked through sooner
            return
        left = took / done * (total - done) if done else None
        self._building = Progress(done, total, left)
        self._is_building.set()
        if now - self._told_at >= TOLD_EVERY_S:
            self._told_at = now
            self._log.write("index", done=done, total=total, seconds_left=left and round(left, 1))

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        self._working += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(thread, work)
        finally:
            self._working -= 1

    def _note(self, found: Snapshot) -> None:
        before, self._held = self._held, found
        if not self._is_large() or self._files is None:
            self._files = found.whole
        self._tell()
        if before is not None and before.generation == found.generation:
            return  # the same content under a newer index: nothing that anybody would notice
        self.reloads += before is not None
        self._log.write(
            "catalog",
            skills=found.whole.counts.skills,
            generation=found.generation,
            digest=found.digest[:16],
        )

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()

    def _note_failure(self, error: Exception) -> None:
        kind = getattr(error, "code", "") or type(error).__name__
        if kind != self.failure:
            self._log.write("catalog", "error", error=f"{type(error).__name__}: {error}")
        self.failure, self._problem = kind, error

    @property
    def building(self) -> Progress | None:
        """How far the index of a large library is while nothing can answer yet."""
        return self._building

    @property
    def ready(self) -> bool:
        """True when there is a snapshot."""
        return self._held is not None

    def facts(self) -> Mapping[str, Any]:
        """Return nothing: what is held and ``failure`` tell everything."""
        return {}

    def headers(self, snapshot: Snapshot) -> Mapping[str, str]:
        """Return nothing: answers from files are as new as the files."""
        return {}

    async def settled(self) -> None:
        """Wait until what is on its way now has been looked at and ranked."""
        running = {task for task in (self._looking, self._ranking) if task is not None}
        if running:
            await asyncio.wait(running)

    async def close(self) -> None:
        """Wait for the look on its way, and end the threads."""
        self._closed = True
        await self.settled()
        for ends in (self._watch.close, self._thread.shutdown, self._ranker.shutdown):
            await asyncio.get_running_loop().run_in_executor(None, ends)
