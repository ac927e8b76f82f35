"""Who may ask, and how much at a time: Host, Origin, fetch metadata, token, sizes, places.

The rules hold on every route. A page of another site cannot ask through a browser: its own name
is in Origin, a name that it has bound to this machine's address is in Host, and where a browser
sends neither, as for an image, Sec-Fetch-Site says that another site asks.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from skillyard.serving.runtime.clients import CLIENT, FairShare, Proxies
from skillyard.serving.runtime.errors import Refused
from skillyard.serving.runtime.options import ServiceLimits, ServiceOptions, is_loopback

__all__ = [
    "FORM",
    "HEAD_BYTES",
    "BodyReader",
    "ConcurrencyLimiter",
    "Guard",
    "head_too_large",
    "header_of",
]

FORM = "application/x-www-form-urlencoded"
"""What a browser sends a form as."""
HEAD_BYTES = 32_768
"""A request line with its headers."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

OWN_SITES = ("", "none", "same-origin")
"""What Sec-Fetch-Site may say: nothing, as programs do; that a person typed the address; or that
our own page asks. Browsers send it to loopback and over HTTPS (W3C Fetch Metadata, section 3);
elsewhere a token is needed, which no foreign page has."""
LINKED = re.compile(r"/|/docs|/page/skills(?:/local/[^/]+)?")
"""Pages that a link on another site may open, without a query: they read the library that is here,
and nobody else is asked for anything."""
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?")


def header_of(scope: Mapping[str, Any], name: bytes) -> str:
    """Return a header's value, the first one where it stands twice; empty where it is not."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return ""


class Guard:
    """Decides from the head of a request whether it is answered at all."""

    def __init__(self, options: ServiceOptions) -> None:
        self._token = (options.token or "").encode("ascii")
        self._loopback = is_loopback(options.host)
        self._own = options.host.strip("[]").lower()
        self._hosts = frozenset(name.lower().rstrip(".") for name in options.allowed_hosts)
        self._origins = frozenset(origin.lower() for origin in options.allowed_origins)
        self._proxies = Proxies(options.trusted_proxies)

    def check(self, scope: Scope) -> str:
        """Return the host and port by which we were called; from now on :data:`CLIENT` asks.

        Raises Refused for a request that is not for us, or from somebody else.
        """
        CLIENT.set(self._proxies.client_of(scope))
        _check_head(scope)
        authority = self._authority(scope)
        if not self._is_ours(authority):
            raise Refused(
                403,
                "host_refused",
                "this service does not go by the name in the Host header",
                hint="call it by its address; or start the service with --allow-host NAME",
            )
        origin = header_of(scope, b"origin")
        if origin and not self._may_ask(origin, authority):
            raise Refused(
                403,
                "origin_refused",
                "pages of this origin may not ask this service",
                hint="if they may, start the service with --allow-origin ORIGIN",
            )
        if not self.allows(origin):
            _check_site(scope)
        if self._token and scope["method"] != "OPTIONS":
            self._check_token(header_of(scope, b"authorization"))
        return authority

    def allows(self, origin: str) -> bool:
        """True for an origin that was named as one whose pages may ask."""
        return origin.lower() in self._origins

    def _authority(self, scope: Scope) -> str:
        """Return host and port as the client named them; of a whole address, its own.

        A request line with a whole address is taken apart: its path is what is asked for.
        """
        hosts = [value for key, value in scope["headers"] if key == b"host"]
        target = scope["path"]
        if target.startswith(("http://", "https://")):
            try:
                parts = urlsplit(target)
            except ValueError:
                raise _no_path() from None
            scope["path"] = parts.path or "/"
            return parts.netloc
        if not target.startswith("/") and not (target == "*" and scope["method"] == "OPTIONS"):
            raise _no_path()
        if len(hosts) > 1:
            raise Refused(400, "host_twice", "the Host header stands twice")
        return hosts[0].decode("latin-1") if hosts else ""

    def _is_ours(self, authority: str) -> bool:
        match = _AUTHORITY.fullmatch(authority.strip().lower())
        if match is None:
            return False
        name = match.group(1).strip("[]").rstrip(".")
        port = match.group(2)
        if name in self._hosts or (port and f"{name}:{port}" in self._hosts):
            return True
        if self._loopback:
            return is_loopback(name)
        # A name can be bound to any address by a stranger; an address is only ever itself.
        return name == self._own or _is_address(name) or name == "localhost"

    def _may_ask(self, origin: str, authority: str) -> bool:
        lowered = origin.lower()
        if self.allows(lowered):
            return True
        return lowered in (f"http://{authority.lower()}", f"https://{authority.lower()}")

    def _check_token(self, authorization: str) -> None:
        scheme, _, given = authorization.partition(" ")
        # Compared whole and in constant time, so that no answer tells how much was right.
        same = hmac.compare_digest(given.strip().encode("latin-1"), self._token)
        if scheme.lower() != "bearer" or not same:
            raise Refused(
                401,
                "token_wrong" if authorization else "token_missing",
                "this service answers only with its bearer token",
                hint="send `Authorization: Bearer …`",
                headers={"WWW-Authenticate": 'Bearer realm="skillyard"'},
            )


def _check_head(scope: Scope) -> None:
    size = len(scope["path"]) + len(scope["query_string"])
    size += sum(len(name) + len(value) for name, value in scope["headers"])
    if size > HEAD_BYTES:
        raise head_too_large()
    if header_of(scope, b"transfer-encoding") and header_of(scope, b"content-length"):
        # Whoever stands before us may have believed the other one.
        raise Refused(
            400,
            "two_lengths",
            "the body has a length and a transfer coding",
            headers={"Connection": "close"},
        )


def head_too_large() -> Refused:
    """Return the 431 of a request line and headers beyond the limit."""
    return Refused(
        431,
        "head_too_large",
        f"the request line and headers are larger than {HEAD_BYTES:,} bytes",
        hint="POST takes long requests",
        headers={"Connection": "close"},
    )


def _check_site(scope: Scope) -> None:
    """Refuse what a browser asks for another site, but for links to pages that only read here.

    This is the resource isolation policy of web.dev/articles/fetch-metadata.
    """
    if header_of(scope, b"sec-fetch-site") in OWN_SITES:
        return
    followed = (
        scope["method"] == "GET"
        and header_of(scope, b"sec-fetch-mode") == "navigate"
        and header_of(scope, b"sec-fetch-dest") == "document"
    )
    if followed and not scope["query_string"] and LINKED.fullmatch(scope["path"]):
        return
    raise Refused(
        403,
        "cross_site",
        "pages of other sites may not make this service do anything",
        hint="open the address yourself; if pages of another origin may ask, start the service"
        " with --allow-origin ORIGIN",
    )


def _no_path() -> Refused:
    return Refused(400, "no_path", "the request line names no path")


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class BodyReader:
    """Reads request bodies, none beyond its size and all of them within one budget.

    Of the budget each client has its share, and a body that comes too slowly is not waited for.
    """

    def __init__(self, limits: ServiceLimits) -> None:
        self._limits = limits
        self._shares = FairShare(limits.bodies_bytes)

    async def read(
        self, scope: Mapping[str, Any], receive: Receive, *, form: bool = False
    ) -> bytes:
        """Return the body of a request, which is JSON, or with ``form`` what a form sends.

        Raises Refused: 400, 408, 413, 415 or 429.
        """
        self._check_head(scope, form)
        client = CLIENT.get()
        start = asyncio.get_running_loop().time()
        held: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout_at(start + self._patience_s(0)) as deadline:
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "gone", "the client went away")
                    piece = message.get("body", b"")
                    self._check_size(size + len(piece))
                    if not self._shares.take(client, len(piece)):
                        raise busy()
                    size += len(piece)
                    held.append(piece)
                    if not message.get("more_body", False):
                        return b"".join(held)
                    deadline.reschedule(start + self._patience_s(size))
        except TimeoutError:
            limits = self._limits
            raise Refused(
                408,
                "too_slow",
                f"the body did not come within {limits.body_s:g} s, or at less than"
                f" {limits.body_rate:,} bytes a second",
            ) from None
        finally:
            self._shares.give_back(client, size)

    def _patience_s(self, size: int) -> float:
        """Return how long after its begin a body of which so much has come is waited for.

        This is how Apache's mod_reqtimeout counts (RequestReadTimeout body=…,MinRate=…).
        """
        limits = self._limits
        return min(limits.body_s, limits.body_start_s + size / limits.body_rate)

    def _check_head(self, scope: Mapping[str, Any], form: bool) -> None:
        media = header_of(scope, b"content-type").partition(";")[0].strip().lower()
        if form:
            if media != FORM:
                raise Refused(
                    415,
                    "media_type",
                    "the body must be that of a form",
                    hint=f"send `Content-Type: {FORM}`",
                    headers={"Accept": FORM},
                )
        elif media != "application/json" and not re.fullmatch(
            r"application/[\w.-]{1,100}\+json", media
        ):
            raise Refused(
                415,
                "media_type",
                "the body must be JSON",
                hint="send `Content-Type: application/json`",
                headers={"Accept": "application/json"},
            )
        if header_of(scope, b"content-encoding").strip().lower() not in ("", "identity"):
            raise Refused(
                415,
                "content_encoding",
                "the body must not be compressed",
                headers={"Accept-Encoding": "identity"},
            )
        length = header_of(scope, b"content-length")
        if length.isdecimal() and len(length) < 20:
            self._check_size(int(length))

    def _check_size(self, size: int) -> None:
        if size > self._limits.body_bytes:
            raise Refused(
                413,
                "too_large",
                f"the body is larger than {self._limits.body_bytes:,} bytes",
                hint="send less text",
            )


def busy() -> Refused:
    """Return the 429 of a service that has enough to do."""
    return Refused(
        429,
        "busy",
        "too many requests at once",
        hint="ask again in a moment",
        headers={"Retry-After": "1"},
    )


class ConcurrencyLimiter:
    """A number of requests run at once, a number wait, one more is refused.

    Those who wait are served in turn, one request of each client after the other, so that nobody
    waits for all the requests of somebody else.
    """

    def __init__(self, limits: ServiceLimits) -> None:
        self._shares = FairShare(limits.at_once + limits.queue)
        self._free = limits.at_once
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        """Who waits, by client, in the order of their turns."""
        self.waiting = 0
        self.taken = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot, after waiting for it. Raises Refused (429) where the queue is full."""
        client = CLIENT.get()
        if not self._shares.take(client):
            raise busy()
        try:
            if self._free:
                self._free -= 1
            else:
                await self._wait_for_turn(client)
            self.taken += 1
            try:
                yield
            finally:
                self.taken -= 1
                self._pass_on()
        finally:
            self._shares.give_back(client)

    async def _wait_for_turn(self, client: str) -> None:
        """Wait for a place that another request leaves."""
        turn = asyncio.get_running_loop().create_future()
        self._queues.setdefault(client, deque()).append(turn)
        self.waiting += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()  # it came, and nobody is there to take it
            raise
        finally:
            self.waiting -= 1

    def _pass_on(self) -> None:
        """Hand a place on to the client whose turn it is."""
        while self._queues:
            client = next(iter(self._queues))
            queue = self._queues.pop(client)
            turn = queue.popleft()
            if queue:
                self._queues[client] = queue  # behind all the others
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
