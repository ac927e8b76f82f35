"""Runs searches on an event loop in its own thread, which owns the connections to remotes.

Ranking the results takes milliseconds of computing, which would delay other requests on the main
loop.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, suppress
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from skillyard.base.errors import InvalidInput, SourceFailed, UnknownName
from skillyard.base.extras import install_command
from skillyard.base.shapes.service import CacheStats, SourceState
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.install.search import SearchResult, SearchService
from skillyard.install.sources.build import (
    build_sources,
    build_transport,
    response_cache,
    source_names,
)
from skillyard.install.sources.protocol import Hit, Hits, Package, RankingSource, Source
from skillyard.install.sources.settings import LOCAL, Settings
from skillyard.serve.runtime.errors import ALLOW_REMOTES, error_dict, sources_refusal
from skillyard.serve.runtime.local import CatalogSource
from skillyard.serve.runtime.snapshot import Snapshot


class SourceHealth:
    """The last outcome of each source, and its failures. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._latest: dict[str, tuple[float, dict[str, Any] | None]] = {}
        self._failures: Counter[tuple[str, str]] = Counter()

    def note(self, name: str, failure: dict[str, Any] | None) -> None:
        """Record a success of a source, or its failure."""
        with self._lock:
            self._latest[name] = (time.monotonic(), failure)
            if failure is not None:
                self._failures[name, failure["code"]] += 1

    def failures(self) -> list[tuple[str, str, int]]:
        """Return (source, kind of failure, count), sorted."""
        with self._lock:
            return [(name, code, count) for (name, code), count in sorted(self._failures.items())]

    def states(self, names: Sequence[str]) -> tuple[SourceState, ...]:
        """Return the states of the named sources: ``ok``, ``failed``, or ``unasked`` so far."""
        now = time.monotonic()
        with self._lock:
            last = dict(self._latest)
        states = []
        for name in names:
            when, failure = last.get(name, (None, None))
            state = "unasked" if when is None else "ok" if failure is None else "failed"
            states.append(
                SourceState(
                    name=name,
                    state=state,
                    age_s=None if when is None else round(now - when, 1),
                    code=None if failure is None else failure["code"],
                    message="" if failure is None else failure["message"],
                )
            )
        return tuple(states)


class ObservedSource:
    """A source that records its outcomes: for all requests, and for one in ``failure``."""

    def __init__(self, source: Source, health: SourceHealth) -> None:
        self._source = source
        self._health = health
        self.name = source.name
        self.at_hand: bool = getattr(source, "at_hand", False)
        """True for a source that never blocks and may be used in any thread."""
        self.failure: dict[str, Any] | None = None
        if isinstance(source, RankingSource):
            self.matches = source.matches

    @property
    def note(self) -> str:
        """The note of the catalog as a source; empty for others."""
        return str(getattr(self._source, "note", ""))

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        """Search the source. Raises SourceFailed."""
        try:
            hits = await self._source.search(query, limit)
        except SourceFailed as error:
            self._note_failure(error)
            raise
        except BaseException:  # a timeout of the search arrives here as a cancellation
            self._note_failure(SourceFailed("timeout", "no answer in time"))
            raise
        if isinstance(hits, Hits) and hits.failures:
            self._note_failure(hits.failures[0])
        else:
            self._health.note(self.name, None)
        return hits

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Fetch from the source. Raises SourceFailed; a missing skill is not a failure."""
        try:
            package = await self._source.fetch(hit, references=references, whole=whole)
        except SourceFailed as error:
            if error.code == "not_found":
                self._health.note(self.name, None)
            else:
                self._note_failure(error)
            raise
        self._health.note(self.name, None)
        return package

    def _note_failure(self, error: SourceFailed) -> None:
        self.failure = error_dict(self.name, error)
        self._health.note(self.name, self.failure)


T = TypeVar("T")
Search = Callable[[SearchService], Awaitable[T]]


class _Closed(Exception):
    """The service ends."""


class SearchRunner:
    """Runs searches over remotes and snapshots. Starts with the first search."""

    def __init__(
        self,
        settings: Settings,
        source_health: SourceHealth,
        pool: Executor,
        *,
        local_only: bool,
        remote: bool,
        scorer: str,
    ) -> None:
        """``scorer`` is the default one of the service.

        Raises InvalidInput when remotes are allowed and their client is not installed.
        """
        from importlib.util import find_spec

        allowed = settings.enabled if remote else settings.named
        self.default_names = (LOCAL,) if local_only else tuple(dict.fromkeys((LOCAL, *allowed)))
        """The sources that a request may name: the catalog, then the remotes that are allowed."""
        if self.asks_remotes and find_spec("httpx2") is None:
            raise InvalidInput(
                f"searching remotes needs httpx2: {install_command('remote')}; or search this"
                " library alone: --local-only, local_only=True"
            )
        self.settings = settings
        self._scorer = scorer
        self.source_health = source_health
        self._pool = pool
        self._cache = response_cache(settings)
        self._transport = build_transport(settings, self._cache)
        self._remotes: dict[str, list[Source]] = {}
        self._lock = Lock()
        self._portal: BlockingPortal | None = None
        self._opened = ExitStack()

    @property
    def asks_remotes(self) -> bool:
        """True where a request may make this service ask a remote source."""
        return self.default_names != (LOCAL,)

    @property
    def remote_requests(self) -> int:
        """Number of requests that left this process."""
        return self._transport.requests

    def source_names(self) -> list[str]:
        """Return the names under which the default sources report. Raises SkillyardError."""
        names: list[str] = []
        for name in self.default_names:
            names += [LOCAL] if name == LOCAL else [each.name for each in self._remote(name)]
        return names

    def cache_stats(self) -> CacheStats:
        """Return the statistics of the response cache. Reads a file."""
        return self._cache.stats()

    def observed_sources(
        self,
        names: Sequence[str],
        snapshot: Snapshot,
        raw: bool = False,
        scorer: str = DEFAULT_SCORER,
    ) -> list[ObservedSource]:
        """Return the named sources over a snapshot. Raises UnknownName, SkillyardError.

        ``raw`` also returns the text of each SKILL.md. ``scorer`` is the one of :meth:`run`.
        """
        own = scorer if self._ranks_by_vectors(scorer, names) else DEFAULT_SCORER
        self.check_names(names)
        sources: list[Source] = []
        pool = self._pool if set(names) != {LOCAL} else None
        for name in dict.fromkeys(names):
            if name == LOCAL:
                sources.append(CatalogSource(snapshot, pool, raw=raw, scorer=own))
            else:
                sources += self._remote(name)
        return [ObservedSource(source, self.source_health) for source in sources]

    def check_names(self, names: Sequence[str]) -> None:
        """Raise UnknownName, or InvalidInput for a source that this service may not ask."""
        for name in names:
            if name in self.default_names:
                continue
            if name in source_names():
                raise InvalidInput(
                    f"this service does not ask the source {name!r}: {ALLOW_REMOTES}"
                )
            raise UnknownName("source", name, self.default_names)

    def _remote(self, name: str) -> list[Source]:
        with self._lock:
            if name not in self._remotes:
                self._remotes[name] = build_sources(self.settings, self._transport, [name])
            return self._remotes[name]

    def scorer_for(self, scorer: str | None, names: Sequence[str]) -> str:
        """Return the scorer of a search: the one that is named, or the one of the settings.

        A search of the catalog alone is ranked by the default scorer, unless the settings name one.
        """
        if scorer is not None:
            return scorer
        if set(names) == {LOCAL} and self.settings.ranker == DEFAULT_SCORER:
            return self._scorer
        return self.settings.ranker

    async def search(
        self,
        snapshot: Snapshot,
        names: Sequence[str],
        scorer: str | None,
        view: Callable[[SearchResult], T],
        query: str,
        limit: int,
        *,
        raw: bool = False,
        **more: bool,
    ) -> T:
        """Return what ``view`` makes of a search, with the scorer that ranked and its note.

        ``more`` are further options of :meth:`SearchService.search`. Raises SkillyardError, and
        Refused (502) when every queried source failed.
        """
        ranker = self.scorer_for(scorer, names)
        # Remotes read settings and files when they are first used.
        sources = await asyncio.get_running_loop().run_in_executor(
            self._pool, self.observed_sources, names, snapshot, raw, ranker
        )

        async def run(searcher: SearchService) -> T:
            result = await searcher.search(query, limit, **more)
            if result.failed:
                raise sources_refusal([status.to_dict() for status in result.sources])
            if self._ranks_by_vectors(ranker, names):
                note = sources[0].note
                result = replace(result, ranker=DEFAULT_SCORER if note else ranker, note=note)
            return view(result)

        return await self.run(run, sources, ranker)

    def _ranks_by_vectors(self, scorer: str | None, names: Sequence[str]) -> bool:
        """Return True for a search of the catalog alone by a default scorer with an embedder."""
        return scorer == self._scorer and "+" in scorer and set(names) == {LOCAL}

    async def run(
        self, search: Search[T], sources: Sequence[ObservedSource], scorer: str | None
    ) -> T:
        """Return the result of ``search``, run on the loop of the searches.

        A search of the catalog alone waits for no remote and runs in one thread of the pool.
        """
        names = [source.name for source in sources]
        # The catalog ranks its skills itself, and the search takes its scores over.
        ranker = DEFAULT_SCORER if self._ranks_by_vectors(scorer, names) else scorer

        async def run_search() -> T:
            return await search(
                SearchService(sources, ranker, settings=self.settings, transport=self._transport)
            )

        here = asyncio.get_running_loop()
        if all(source.at_hand for source in sources):
            return await here.run_in_executor(self._pool, lambda: asyncio.run(run_search()))
        portal = await here.run_in_executor(self._pool, self._started)
        return await asyncio.wrap_future(portal.start_task_soon(run_search))

    def _started(self) -> BlockingPortal:
        """Return the loop of the searches, with its connections; it starts when necessary."""
        with self._lock:
            if self._portal is None:
                self._portal = self._opened.enter_context(start_blocking_portal())
                if self.asks_remotes:
                    connections = self._portal.wrap_async_context_manager(self._transport)
                    self._opened.enter_context(connections)
            return self._portal

    def close(self) -> None:
        """Stop running searches, connections and the thread."""
        with suppress(_Closed), self._opened:
            raise _Closed  # a portal that is left by an error cancels what runs in it
