"""Runs searches on an event loop in its own thread, which owns the connections to remotes.

Ranking the results takes milliseconds of computing, which would delay other requests on the main
loop.
"""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from skillyard.base.errors import InvalidInput, UnknownName
from skillyard.base.extras import install_command
from skillyard.base.shapes.service import CacheStats, SourceState
from skillyard.base.shapes.skills import SourceStatus
from skillyard.engine.ranking.registry import DEFAULT_SCORER
from skillyard.install.search import SearchResult, SearchService
from skillyard.install.sources.build import (
    build_sources,
    build_transport,
    response_cache,
    source_names,
)
from skillyard.install.sources.protocol import Source
from skillyard.install.sources.settings import LOCAL, Settings
from skillyard.serve.runtime.errors import ALLOW_REMOTES, sources_refusal
from skillyard.serve.runtime.local import CatalogSource
from skillyard.serve.runtime.snapshot import Snapshot


class SourceHealth:
    """The last outcome of each source in a search, and its failures. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._latest: dict[str, tuple[float, SourceStatus]] = {}
        self._failures: Counter[tuple[str, str]] = Counter()

    def note(self, statuses: Iterable[SourceStatus]) -> None:
        """Record the outcome of each source of one search."""
        with self._lock:
            for status in statuses:
                self._latest[status.name] = (time.monotonic(), status)
                if status.state != "ok":
                    self._failures[status.name, status.code] += 1

    def failures(self) -> list[tuple[str, str, int]]:
        """Return (source, kind of failure, count), sorted."""
        with self._lock:
            return [(name, code, count) for (name, code), count in sorted(self._failures.items())]

    def states(self, names: Sequence[str]) -> tuple[SourceState, ...]:
        """Return the states of the named sources: ``ok``, ``failed``, or ``unasked`` so far."""
        now = time.monotonic()
        states = []
        for name in names:
            with self._lock:
                when, status = self._latest.get(name, (now, None))
            failed = status is not None and status.state != "ok"
            states.append(
                SourceState(
                    name=name,
                    state="unasked" if status is None else "failed" if failed else "ok",
                    age_s=None if status is None else round(now - when, 1),
                    code=status.code if status and failed else None,
                    message=status.message if status else "",
                )
            )
        return tuple(states)


T = TypeVar("T")
Search = Callable[[SearchService], Awaitable[T]]


class _Closed(Exception):
    """The service ends."""


class SearchRunner:
    """Runs searches over remotes and snapshots. Starts with the first search."""

    def __init__(
        self, settings: Settings, pool: Executor, *, local_only: bool, remote: bool, scorer: str
    ) -> None:
        """``scorer`` is the default one of the service.

        Raises InvalidInput when remotes are allowed and their client is not installed.
        """
        allowed = settings.enabled if remote else settings.named
        self.default_names = (LOCAL,) if local_only else tuple(dict.fromkeys((LOCAL, *allowed)))
        """The sources that a request may name: the catalog, then the remotes that are allowed."""
        if self.asks_remotes and importlib.util.find_spec("httpx2") is None:
            raise InvalidInput(
                f"searching remotes needs httpx2: {install_command('remote')}; or search this"
                " library alone: --local-only, local_only=True"
            )
        self.settings = settings
        self.health = SourceHealth()
        self._scorer = scorer
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

    def states(self) -> tuple[SourceState, ...]:
        """Return the states of the default sources. Raises SkillyardError."""
        remotes = [each.name for name in self.default_names[1:] for each in self._remote(name)]
        return self.health.states([LOCAL, *remotes])

    def cache_stats(self) -> CacheStats:
        """Return the statistics of the response cache. Reads a file."""
        return self._cache.stats()

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

        ``raw`` also returns the text of each SKILL.md; ``more`` are further options of
        :meth:`SearchService.search`. A search of the catalog alone waits for no remote and runs in
        one thread of the pool. Raises SkillyardError, and Refused (502) when every source failed.
        """
        self.check_names(names)
        ranker, alone = self.scorer_for(scorer, names), set(names) == {LOCAL}
        # The catalog ranks by vectors itself, and the search takes its scores over.
        own = ranker if alone and ranker == self._scorer and "+" in ranker else DEFAULT_SCORER
        here = CatalogSource(snapshot, None if alone else self._pool, raw=raw, scorer=own)

        async def run(searcher: SearchService) -> T:
            result = await searcher.search(query, limit, **more)
            self.health.note(result.sources)
            if result.failed:
                raise sources_refusal([status.to_dict() for status in result.sources])
            if own != DEFAULT_SCORER:
                named = DEFAULT_SCORER if here.note else ranker
                result = replace(result, ranker=named, note=here.note)
            return view(result)

        ranker = ranker if own == DEFAULT_SCORER else DEFAULT_SCORER
        searched = partial(self._searched, run, dict.fromkeys(names), here, ranker)
        loop = asyncio.get_running_loop()
        if alone:
            return await loop.run_in_executor(self._pool, lambda: asyncio.run(searched()))
        return await self._on_portal(searched)

    async def ask_remotes(self, search: Search[T]) -> T:
        """Return the result of a search over all remotes. Raises SkillyardError."""
        return await self._on_portal(
            partial(self._searched, search, self.default_names[1:], None, None)
        )

    async def _searched(
        self, search: Search[T], names: Iterable[str], here: Source | None, scorer: str | None
    ) -> T:
        sources: list[Source] = []
        for name in names:
            sources += [here] if name == LOCAL and here else self._remote(name)
        settings, transport = self.settings, self._transport
        return await search(SearchService(sources, scorer, settings=settings, transport=transport))

    async def _on_portal(self, work: Callable[[], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        portal = await loop.run_in_executor(self._pool, self._started)
        return await asyncio.wrap_future(portal.start_task_soon(work))

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
