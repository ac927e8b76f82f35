"""What every route works with: the catalog, the searches, the threads, the figures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillyard.remote.sources.settings import load_settings
from skillyard.serving.runtime.folder_follower import FolderFollower
from skillyard.serving.runtime.follower import Follower
from skillyard.serving.runtime.guards import BodyReader, ConcurrencyLimiter, Guard
from skillyard.serving.runtime.logging import Log
from skillyard.serving.runtime.metrics import Metrics
from skillyard.serving.runtime.options import ServiceOptions
from skillyard.serving.runtime.publication import Publication
from skillyard.serving.runtime.search_runner import SearchRunner
from skillyard.serving.runtime.snapshot import Snapshot
from skillyard.serving.runtime.source_health import SourceHealth

if TYPE_CHECKING:
    from skillyard.serving.http.routes.route import Route

__all__ = ["CURRENT_SNAPSHOT", "AppContext", "RouteRequest"]

T = TypeVar("T")


class RouteRequest(NamedTuple):
    """A request as a route sees it."""

    values: dict[str, Any]
    """By field, checked, defaults filled in; those of the path too."""
    base: str
    """Scheme and host as the client named them."""
    origin: str
    """The web origin that asks, empty for none."""
    accept: str = ""
    """Which media the client wants."""
    known: str = ""
    """The entity tags of what the client has, as it named them."""
    gzip: bool = False
    """True where the client takes a compressed answer."""


CURRENT_SNAPSHOT: ContextVar[Snapshot | None] = ContextVar("answered_from", default=None)
"""The snapshot that the request at hand is answered from."""


def _follower_for(options: ServiceOptions, log: Log) -> Follower:
    if not options.store:
        return FolderFollower(options, log)
    from skillyard.serving.runtime.store_follower import StoreFollower  # it loads what stores need

    return StoreFollower(options, log)


class AppContext:
    """The parts of one running service."""

    def __init__(
        self, options: ServiceOptions, routes: Sequence[Route], log: Log | None = None
    ) -> None:
        """Raises SkillyardError for settings that cannot be used."""
        settings = load_settings() if options.settings is None else options.settings
        self.options = options
        self.routes = tuple(routes)
        self.log = Log(options.log_format) if log is None else log
        self.log.hide(options.token or "", *settings.tokens)
        self.metrics = Metrics()
        self.guard = Guard(options)
        self.body_reader = BodyReader(options.limits)
        self.limiter = ConcurrencyLimiter(options.limits)
        self.source_health = SourceHealth()
        self._pool = ThreadPoolExecutor(options.limits.threads, thread_name_prefix="skillyard-http")
        self._slow_thread = ThreadPoolExecutor(1, thread_name_prefix="skillyard-aside")
        self.searches = SearchRunner(
            settings, self.source_health, self._pool, local_only=options.local_only
        )
        self.follower = _follower_for(options, self.log)
        self.publication = Publication()
        self.closing = False
        self._working = 0
        self.fixed_bodies: dict[str, bytes] = {}
        """Response bodies that never change, by the name of their route."""

    async def in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Return what ``work`` returns, done in a thread of the pool."""
        self._working += 1
        try:
            return await self.in_background(work, *arguments)
        finally:
            self._working -= 1

    async def in_slow_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do what may take long, as rendering a page: one at a time, in a thread of its own.

        The threads that answer everything else stay free, whoever asks for how much of it.
        """
        self._working += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._slow_thread, work, *arguments)
        finally:
            self._working -= 1

    async def in_background(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do the same where nobody waits for it: it does not count as :attr:`working`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, work, *arguments)

    @property
    def working(self) -> bool:
        """True while a thread works, for an answer or on the files."""
        return self._working > 0 or self.follower.working

    async def snapshot(self) -> Snapshot:
        """Return the catalog as it is now. Raises Refused (503)."""
        view = await self.follower.current()
        CURRENT_SNAPSHOT.set(view.snapshot)
        return view.snapshot

    async def close(self) -> None:
        """End threads and connections; requests have been answered by now."""
        self.closing = True
        await asyncio.get_running_loop().run_in_executor(None, self.searches.close)
        await self.follower.close()
        for pool in (self._pool, self._slow_thread):
            pool.shutdown(wait=True, cancel_futures=True)
