"""The shared state of all routes: the catalog, the searches, the threads, the metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillyard.base.errors import InvalidInput, UnknownName
from skillyard.base.operation import Field, fields_of
from skillyard.engine.ranking.registry import is_built_in, scorer_names
from skillyard.hosts.decisions import with_feedback
from skillyard.install.sources.settings import load_settings
from skillyard.serve.runtime.encoding import JSON, Reply
from skillyard.serve.runtime.follower import FolderFollower, LibraryFollower
from skillyard.serve.runtime.guards import Guard
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.metrics import Metrics
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.publication import Publication
from skillyard.serve.runtime.search_runner import SearchRunner
from skillyard.serve.runtime.snapshot import Snapshot

if TYPE_CHECKING:
    from skillyard.engine.ranking.query import Query

T = TypeVar("T")

LIVE, READY = PROBES = ("/livez", "/readyz")
ROUTE = "skillyard.route"
"""Key of the scope for the path template, which log and metrics use."""


class RouteRequest(NamedTuple):
    """A request as a route sees it."""

    values: dict[str, Any]
    """The validated fields with defaults, including those of the path."""
    base: str
    """Scheme and host as the client used them."""
    origin: str
    """The web origin of the request; empty without one."""
    accept: str = ""


class HttpRoute(NamedTuple):
    """One route of the service: its path and method, fields, handler and response."""

    method: str
    """``GET`` (which includes HEAD) or ``POST``."""
    pattern: str
    """The path for matching: ``/skills/{source:path}/{id}``."""
    name: str
    """The operation id."""
    about: str
    handler: Handler
    answer: str | dict[str, Any]
    """The name of the response's schema, or the schema."""
    request: type | None = None
    """What the query of a GET, or the JSON body of a POST, holds."""
    path_request: type | None = None
    either: tuple[str, ...] = ()
    """Fields of the body of which at least one must be non-empty."""
    strict: bool = True
    """Refuse unknown fields. Skyll's clients may send more than skillyard reads."""
    free: bool = False
    """True for routes that are served however busy the service is, without waiting for a slot."""
    media: str = JSON
    tagged: bool = False
    """True when the response may have an entity tag."""
    group: str = ""
    """The tag of the route in the OpenAPI document."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the query of a GET, or of the JSON body of a POST."""
        return fields_of(self.request, "http") if self.request else ()

    @property
    def path_fields(self) -> tuple[Field, ...]:
        """The fields of the path."""
        return fields_of(self.path_request, "http") if self.path_request else ()

    @property
    def path(self) -> str:
        """The documented path: ``/skills/{source}/{id}``."""
        return self.pattern.replace(":path}", "}")


CURRENT_SNAPSHOT: ContextVar[Snapshot | None] = ContextVar("answered_from", default=None)
"""The snapshot that the current request is answered from."""


def _follower_for(options: ServiceOptions, log: Log) -> LibraryFollower:
    if not options.store:
        return FolderFollower(options, log)
    from skillyard.serve.runtime.store_follower import StoreFollower  # imports the code of stores

    return StoreFollower(options, log)


class AppContext:
    """The parts of one running service."""

    def __init__(
        self,
        options: ServiceOptions,
        routes: Sequence[HttpRoute],
        log: Log | None = None,
        *,
        show_folders: bool = False,
    ) -> None:
        """``show_folders`` is for clients on this machine: load_skill returns the skill's folder.

        Raises SkillyardError for settings that cannot be used.
        """
        settings = load_settings() if options.settings is None else options.settings
        self.options = options
        self.show_folders = show_folders
        self.routes = tuple(routes)
        self.log = Log(options.log_format) if log is None else log
        self.log.hide(options.token or "", *settings.tokens)
        self.guard = Guard(options)
        self._pool = ThreadPoolExecutor(options.limits.threads, thread_name_prefix="skillyard-http")
        self._slow_thread = ThreadPoolExecutor(1, thread_name_prefix="skillyard-aside")
        self.follower = _follower_for(options, self.log)
        self.scorer = self.follower.vectors.scorer
        """The default scorer, as the operator's file named it at the start."""
        self.searches = SearchRunner(
            settings,
            self._pool,
            local_only=options.local_only,
            remote=options.remote,
            scorer=self.scorer,
        )
        self.metrics = Metrics(self.follower, self.searches, self.guard)
        self.publication = Publication()
        self.closing = False
        self.fixed_bodies: dict[str, bytes] = {}
        """Constant response bodies, by the name of their route."""

    async def in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Return the result of ``work``, computed in a thread of the pool."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, work, *arguments)

    async def in_slow_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run slow work, such as rendering a page, one at a time in a thread of its own.

        The threads for other requests stay free, however much of it one client requests.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._slow_thread, work, *arguments)

    def scorer_of(self, name: str | None) -> str | None:
        """Return the scorer that a client names. Raises UnknownName, InvalidInput for an embedder.

        Embedders may cost money, so clients cannot choose them; the default one may have one.
        """
        if name is not None and "+" in name:
            raise InvalidInput("scorer must be a plain name, without an embedder", field="scorer")
        if name is not None and not is_built_in(name) and name not in scorer_names():
            raise UnknownName("scorer", name, scorer_names())
        return name

    def with_feedback(self, query: Query) -> Query:
        """Return the query with the stored feedback, if this service uses it. Reads a file."""
        return with_feedback(query) if self.options.feedback else query

    async def snapshot(self) -> Snapshot:
        """Return the current catalog. Raises Refused (503)."""
        snapshot = await self.follower.current()
        CURRENT_SNAPSHOT.set(snapshot)
        return snapshot

    async def answer(self, work: Callable[[Snapshot], T]) -> T:
        """Return the result of ``work``, computed in a thread for a fresh snapshot.

        Raises the errors of ``work``, and Refused (503).
        """
        return await self.in_thread(work, await self.follower.fresh())

    def probe(self, path: str) -> tuple[int, bytes] | None:
        """Return status and word for a probe of an orchestrator or a proxy; None for another path.

        It says nothing else of the service, so that it needs neither a token nor the right Host.
        Alive: the event loop responds. Ready: there is a catalog, not older than the options allow,
        and the service is not shutting down.
        """
        if path == LIVE:
            return 200, b"alive\n"
        if path != READY:
            return None
        self.follower.refresh_if_due()
        if self.closing:
            return 503, b"stopping\n"
        if self.follower.snapshot is None:
            return 503, b"starting\n"
        return (200, b"ready\n") if self.follower.ready else (503, b"stale\n")

    async def close(self) -> None:
        """Stop threads and close connections, after all requests have been answered."""
        self.closing = True
        await asyncio.get_running_loop().run_in_executor(None, self.searches.close)
        await self.follower.close()
        for pool in (self._pool, self._slow_thread):
            pool.shutdown(wait=True, cancel_futures=True)


Handler = Callable[[AppContext, RouteRequest], Awaitable[Reply]]
