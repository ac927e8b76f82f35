"""The HTTP transport of all sources: bounded, rate-limited, and only to named hosts.

Concurrent requests for one URL are merged, and responses are cached with their ETag. A remote
whose quota is exhausted is not contacted until it is renewed; cached responses are served
meanwhile, with their age. A token is sent only to its own host, also after redirects.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from skillyard.base.errors import InvalidInput, SourceFailed
from skillyard.base.extras import install_command
from skillyard.base.io.connections import is_loopback
from skillyard.base.io.files import sha256
from skillyard.install.sources.addresses import public_addresses
from skillyard.install.sources.quotas import Quotas, rate_limit_error
from skillyard.install.sources.responses import CachedResponse, ResponseCache, json_of, read_body

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MAX_BYTES = 1_048_576
"""Default limit for one decompressed response."""
DEADLINE_S = 30.0
"""Time limit for one response, redirects included."""
HOPS = 5
"""Maximum number of redirects."""
MAX_REQUESTS = 32
"""Maximum of concurrent requests to one origin."""
NEGATIVE_S = 60.0
"""Seconds for which a 404 is served from the cache."""
REDIRECTED = "x-redirected"
"""A header of our own: present where the remote redirected the request."""
CACHED_HEADERS = ("content-type", "etag", REDIRECTED)
GONE = frozenset({404, 410, 451})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
USER_AGENT = "skillyard (+agent skills search)"


class RemoteHost(NamedTuple):
    """A remote host that may be contacted."""

    url: str
    """Its base URL, without a slash at the end."""
    headers: Mapping[str, str] = {}
    """Headers of every request."""
    token: str = ""
    """Sent as a bearer token, to this origin only."""
    token_place: str = ""
    """Where the token may be set."""
    named_by_user: bool = True
    """False when the address came from a command line or a response: it must be public then."""


class HttpResponse(NamedTuple):
    """A response, from the remote or from the cache."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    age_s: float = 0.0
    """Seconds since the remote last confirmed it."""
    stale: bool = False
    """True for a cached response that was served because the remote could not be reached."""


Check = Callable[[Mapping[str, str], bytes], object]
"""Raises SourceFailed for an unexpected body, which is then not cached."""


def _not_web(url: str) -> InvalidInput:
    return InvalidInput(
        f"{url!r} is not an http or https address; write it like https://skills.example/path"
    )


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address. Raises InvalidInput for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
    except ValueError:
        raise _not_web(url) from None
    odd = not host.isprintable() or any(char in host for char in ' %/\\"<>^`{|}')
    if parts.scheme not in ("http", "https") or not host or odd:
        raise _not_web(url)
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            f"an address with a name or password in it is not asked: {parts.hostname}"
        )
    default = 443 if parts.scheme == "https" else 80
    return f"{parts.scheme}://{host.lower()}:{port or default}"


def host_name(url: str) -> str:
    """Return the name of an address's host in ``host_tokens``, with any port but 443.

    Raises InvalidInput for an address without a valid host and port.
    """
    try:
        parts = urlsplit(url)
        port = "" if parts.port in (None, 443) else f":{parts.port}"
    except ValueError:  # whose text may repeat a part of a password
        raise InvalidInput("the address has no valid host and port; correct it") from None
    return f"{parts.hostname or ''}{port}"


def host_of(url: str, tokens: Mapping[str, str], *, named_by_user: bool = True) -> RemoteHost:
    """Return the host of an address with its token, if there is one.

    A host with a token may be in a private network. Raises InvalidInput where the token would be
    sent without encryption to another machine.
    """
    name = host_name(url)
    token = tokens.get(name, "")
    place = f'host_tokens."{name}" in [sources] of skillyard.toml'
    parts = urlsplit(url)
    if token and parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise InvalidInput(
            f"the token in {place} is not sent without encryption: write {url} with https, or"
            " remove the token"
        )
    return RemoteHost(
        url.rstrip("/"),
        token=token,
        token_place=place,
        named_by_user=named_by_user or bool(token),
    )


class Transport:
    """Sends requests. An asynchronous context manager for the tasks of one event loop."""

    def __init__(
        self,
        hosts: Mapping[str, RemoteHost],
        cache: ResponseCache | None = None,
        *,
        offline: bool = False,
        deadline_s: float = DEADLINE_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the hosts by the names that callers use. ``offline`` serves from the cache only."""
        self.hosts = dict(hosts)
        self.cache = cache
        self.offline = offline
        self.deadline_s = deadline_s
        self.requests = 0
        self.trees: dict[tuple[str, str], Any] = {}
        """The newest trees of repositories: one may be large, and many skills need it."""
        self._clock = clock
        self._origins = {origin_of(host.url) for host in hosts.values()}
        self._running: dict[str, asyncio.Task[HttpResponse]] = {}
        self._quotas = Quotas(clock)
        # One for each origin, so that a hanging host does not delay the others.
        self._rooms = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(MAX_REQUESTS))
        self._client: Any = None

    async def __aenter__(self) -> Transport:
        """Open the client. Raises InvalidInput when httpx2 is not installed."""
        try:
            import httpx2
        except ModuleNotFoundError as error:
            command = install_command("remote")
            raise InvalidInput(f"searching and fetching need httpx2: {command}") from error

        self._client = httpx2.AsyncClient(
            follow_redirects=False,
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, identity"},
            timeout=httpx2.Timeout(self.deadline_s),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=MAX_REQUESTS),
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await self._client.aclose()

    def add_host(self, name: str, host: RemoteHost) -> None:
        """Allow requests to a further host. Raises InvalidInput for an invalid URL."""
        self._origins.add(origin_of(host.url))
        self.hosts[name] = host

    async def get(
        self,
        host: str,
        path: str,
        *,
        fresh_s: float = 0.0,
        accept: str = "application/json",
        max_bytes: int = MAX_BYTES,
        check: Check | None = None,
    ) -> HttpResponse:
        """Return the response for ``path`` on a host (or for a whole URL on it): 200 or 404.

        A cached response is served for ``fresh_s`` seconds and revalidated afterwards. Raises
        SourceFailed.
        """
        host_settings = self.hosts[host]
        url = path if "://" in path else host_settings.url + path
        try:
            if origin_of(url) != origin_of(host_settings.url):
                raise SourceFailed("refused", f"{origin_of(url)} is not {host}")
        except InvalidInput as error:
            raise SourceFailed("refused", str(error)) from None
        key = self._key(url, accept, host_settings)
        stored = None if self.cache is None else self.cache.get(key, self._clock())
        if stored is not None:
            fresh_s = NEGATIVE_S if stored.status != 200 else fresh_s
            if self.offline or 0 <= self._clock() - stored.checked < fresh_s:
                return self._cached_reply(stored, stale=self.offline)
        if self.offline:
            raise SourceFailed(
                "offline",
                f"{_without_query(url)} is not in the cache",
                hint="unset SKILLYARD_OFFLINE, or offline in [sources] of skillyard.toml",
            )
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(
                self._fetch(key, url, host_settings, accept, max_bytes, check, stored)
            )
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))
        return await asyncio.shield(task)

    async def get_json(
        self, host: str, path: str, what: str, lists: Sequence[str] = (), **options: Any
    ) -> tuple[HttpResponse, dict[str, Any]]:
        """Return a response with its JSON object, which has one of some lists, or a 404.

        ``options`` are those of :meth:`get`. Raises SourceFailed.
        """

        def read(headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
            answer = json_of(headers, body, what)
            members: dict[str, Any] = answer if isinstance(answer, dict) else {}
            if lists and not any(isinstance(members.get(each), list) for each in lists):
                raise SourceFailed("bad_answer", f"{what}: the answer lists no {lists[0]}")
            return members

        reply = await self.get(host, path, check=read, **options)
        return reply, read(reply.headers, reply.body) if reply.status == 200 else {}

    def now(self) -> float:
        """Return the time by the transport's clock, in seconds since the epoch."""
        return self._clock()

    def _key(self, url: str, accept: str, host: RemoteHost) -> str:
        """Return the cache key. It contains the token, because responses may depend on it."""
        who = sha256(host.token.encode()).hex() if host.token else ""
        return sha256(f"{url}\0{accept}\0{who}".encode("utf-8", "surrogatepass")).hex()

    def _cached_reply(self, stored: CachedResponse, *, stale: bool) -> HttpResponse:
        age = max(0.0, self._clock() - stored.checked)
        return HttpResponse(stored.status, stored.headers, stored.body, age, stale)

    async def _fetch(
        self,
        key: str,
        url: str,
        host: RemoteHost,
        accept: str,
        max_bytes: int,
        check: Check | None,
        stored: CachedResponse | None,
    ) -> HttpResponse:
        came = False
        try:
            reply = await self._answer(url, host, accept, max_bytes, stored)
            came = True
            if reply.status == 200 and check is not None:
                check(reply.headers, reply.body)
        except SourceFailed as error:
            if stored is not None and (came or error.code in STALE_IF_ERROR):
                return self._cached_reply(stored, stale=True)
            raise
        now = self._clock()
        if self.cache is None:
            return reply
        if reply.status == 304 and stored is not None:
            self.cache.confirm(key, now)
            return HttpResponse(stored.status, stored.headers, stored.body)
        if reply.status == 200 or reply.status in GONE:
            cached_headers = {
                name: reply.headers[name] for name in CACHED_HEADERS if name in reply.headers
            }
            body = reply.body if reply.status == 200 else b""
            self.cache.put(key, CachedResponse(reply.status, cached_headers, body, now))
        return reply

    async def _answer(
        self, url: str, host: RemoteHost, accept: str, max_bytes: int, stored: CachedResponse | None
    ) -> HttpResponse:
        """Return 200, 304 or 404 (and kin), redirects followed. Raises SourceFailed."""
        import httpx2

        origin = origin_of(url)
        try:
            async with self._rooms[origin], asyncio.timeout(self.deadline_s):
                self._quotas.check(origin, _more_requests(host))
                for hop in range(HOPS + 1):
                    async with self._send_with_retry(url, host, accept, stored) as response:
                        self._quotas.note(origin_of(url), response.headers)
                        if response.status_code not in REDIRECTS:
                            conditional = stored is not None and "etag" in stored.headers
                            reply = await self._read(
                                url, host, response, max_bytes, conditional=conditional
                            )
                            if hop:
                                reply = reply._replace(headers={**reply.headers, REDIRECTED: "1"})
                            return reply
                        url = self._next(url, response)
                raise SourceFailed("refused", f"{_without_query(url)}: more than {HOPS} redirects")
        except (TimeoutError, httpx2.TimeoutException):
            what = f"{_without_query(url)}: no answer in {self.deadline_s:g} s"
            raise SourceFailed("timeout", what, hint="try again later") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise SourceFailed(
                "unreachable",
                f"cannot reach {origin_of(url)} ({f'{type(error).__name__}: {error}'.strip(': ')})",
                hint="check the network and the proxy; SKILLYARD_OFFLINE=1 answers from the cache",
            ) from None

    @asynccontextmanager
    async def _send_with_retry(
        self, url: str, host: RemoteHost, accept: str, stored: CachedResponse | None
    ) -> AsyncIterator[Any]:
        """Send a request; once more when a reused connection turned out to be closed.

        The pool of httpx2 only knows that once the other end's word has arrived.
        """
        import httpx2

        exchange = self._send(url, host, accept, stored)
        try:
            response = await exchange.__aenter__()
        except httpx2.RemoteProtocolError:
            exchange = self._send(url, host, accept, stored)
            response = await exchange.__aenter__()
        try:
            yield response
        finally:
            await exchange.__aexit__(None, None, None)

    @asynccontextmanager
    async def _send(
        self, url: str, host: RemoteHost, accept: str, stored: CachedResponse | None
    ) -> AsyncIterator[Any]:
        headers = {"Accept": accept}
        if origin_of(url) == origin_of(host.url):
            headers |= dict(host.headers)
            if host.token:
                headers["Authorization"] = f"Bearer {host.token}"
        if stored is not None and "etag" in stored.headers and stored.status == 200:
            headers["If-None-Match"] = stored.headers["etag"]
        self.requests += 1
        extensions: dict[str, Any] = {}
        target = url
        if not host.named_by_user:
            target, extensions = await self._pin(url)
            headers["Host"] = urlsplit(url).netloc
        self._client.cookies.clear()
        async with self._client.stream(
            "GET", target, headers=headers, extensions=extensions
        ) as response:
            self._client.cookies.clear()  # nobody is followed from one request to the next
            yield response

    async def _pin(self, url: str) -> tuple[str, dict[str, Any]]:
        """Return the address with its host replaced by a checked one. Raises SourceFailed."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        addresses = await public_addresses(host, parts.port or 443)
        if not addresses:
            raise SourceFailed(
                "refused",
                f"{host} does not lie on the public internet",
                hint=f"if you know it, add {parts.scheme}://{parts.netloc.removesuffix(':443')}"
                " to sites in [sources] of your skillyard.toml",
            )
        address = f"[{addresses[0]}]" if ":" in addresses[0] else addresses[0]
        netloc = f"{address}:{parts.port}" if parts.port else address
        return parts._replace(netloc=netloc).geturl(), {"sni_hostname": host}

    def _next(self, url: str, response: Any) -> str:
        try:
            target = urljoin(url, str(response.headers.get("location", "")))
            origin = origin_of(target)
        except ValueError as error:
            raise SourceFailed("refused", f"{url} leads to no address: {error}") from None
        if origin not in self._origins:
            raise SourceFailed(
                "refused", f"{origin_of(url)} leads to {origin}, which is not among the hosts"
            )
        return target

    async def _read(
        self, url: str, host: RemoteHost, response: Any, max_bytes: int, *, conditional: bool
    ) -> HttpResponse:
        status = int(response.status_code)
        headers = {str(k).lower(): str(v) for k, v in response.headers.items()}
        if status == 304 and not conditional:
            what = f"{_without_query(url)} answered 304 to no condition"
            raise SourceFailed("bad_answer", what, status=304)
        if status in (200, 304):
            body = (
                await read_body(_without_query(url), response, max_bytes) if status == 200 else b""
            )
            return HttpResponse(status, headers, body)
        if status in GONE:
            return HttpResponse(status, headers, b"")
        reason = b""
        if status == 403:
            with suppress(SourceFailed):
                reason = await read_body(url, response, REASON_BYTES)
        wait_s = self._quotas.wait(origin_of(url), status, headers, reason)
        raise _refusal(url, host, status, wait_s)


REASON_BYTES = 65_536
"""Maximum bytes of an error response that are read to learn its reason."""
STALE_IF_ERROR = frozenset(
    {"unreachable", "timeout", "rate_limited", "denied", "status", "bad_answer", "too_large"}
)
"""Failures after which a cached response is served, with its age."""


def _refusal(url: str, host: RemoteHost, status: int, wait_s: float | None) -> SourceFailed:
    if wait_s is not None:
        return rate_limit_error(origin_of(url), wait_s, _more_requests(host), status)
    answered = f"{_without_query(url)} answered {status}"
    if status in (401, 403):
        return _denial(url, host, status, answered)
    later = "the fault is at that server; try again later" if status >= 500 else ""
    return SourceFailed("status", answered, hint=later, status=status)


def _denial(url: str, host: RemoteHost, status: int, answered: str) -> SourceFailed:
    """Return the failure for status 401 or 403, with a hint about tokens."""
    place, hint = host.token_place, ""
    if host.token:
        hint = f"the token in {place} may lack the right to read this"
    elif place:
        hint = f"if it needs a token, set {place}"
    if host.token and status == 401:
        answered = f"{origin_of(url)} rejected the token in {place} (401)"
        hint = "replace it, or unset it: public skills need none"
    return SourceFailed("denied", answered, hint=hint, status=status)


def _more_requests(host: RemoteHost) -> str:
    """Return how a user gets a higher rate limit of a host; empty if unknown."""
    if host.token or not host.token_place:
        return ""
    return f"set {host.token_place} for a higher limit"


def _without_query(url: str) -> str:
    """Return a URL without its query, which may contain the user's search text."""
    return url.partition("?")[0].partition("#")[0]
