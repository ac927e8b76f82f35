"""Access control and limits: Host, Origin, fetch metadata, token, sizes, shares of clients.

The rules apply to every route. A page of another site cannot send requests through a browser:
Origin contains its own name, Host contains a name that it has bound to this machine's address (DNS
rebinding), and when a browser sends neither, as for an image, Sec-Fetch-Site shows that another
site sends the request.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from skillyard.base.io.connections import is_loopback
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.options import ServiceOptions

HEAD_BYTES = 32_768
"""Maximum bytes of a request line with its headers."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

OWN_SITES = ("", "none", "same-origin")
"""Allowed values of Sec-Fetch-Site: absent, as from programs; typed by a person; or from our own
page. Browsers send it to loopback and over HTTPS (W3C Fetch Metadata, section 3); elsewhere a token
is required, which no foreign page has."""
LINKED = re.compile(r"/|/docs|/page/skills/local/[^/]+")
"""Pages that a link on another site may open, without a query: they only read the local library and
contact no other host."""
UNKNOWN = ""
"""The unknown client, which has no share limit: over stdio."""
CLIENT: ContextVar[str] = ContextVar("client", default=UNKNOWN)
TIMES_THE_FREE = 3
"""A client's limit, as a multiple of the free amount. One client alone gets three quarters of the
total, two get three sevenths each, and some of it always stays free for the next client (the
dynamic thresholds of Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998)."""
NETWORK_BITS = 64
"""Prefix length of an IPv6 client: the network of one customer (RFC 6177)."""
_JSON = re.compile(r"application/(?:[\w.-]{1,100}\+)?json")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?")


def header_of(scope: Mapping[str, Any], name: bytes) -> str:
    """Return a header's value; of repeated ones the first, and empty when it is absent."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return ""


def busy() -> Refused:
    """Return the 429 of a busy service."""
    hint, headers = "ask again in a moment", {"Retry-After": "1"}
    return Refused(429, "busy", "too many requests at once", hint=hint, headers=headers)


class FairShare:
    """The amounts that clients hold of one total."""

    def __init__(self, total: int) -> None:
        self.free = total
        """The amount that nobody holds."""
        self.amounts: Counter[str] = Counter()

    def acquire(self, client: str, amount: int = 1) -> bool:
        """Acquire an amount for a client.

        Returns False, without acquiring any, when its share or the total does not allow it. An
        unknown client has no share.
        """
        has_share = client == UNKNOWN or self.amounts[client] < TIMES_THE_FREE * self.free
        if amount > self.free or (amount and not has_share):
            return False
        self.add(client, amount)
        return True

    def add(self, client: str, amount: int) -> None:
        """Add an amount to that of a client; a negative one is released."""
        self.free -= amount
        self.amounts[client] += amount
        if not self.amounts[client]:
            del self.amounts[client]


class Guard:
    """Decides which requests are accepted, how large their bodies are, and how many run at once."""

    def __init__(self, options: ServiceOptions) -> None:
        limits = self._limits = options.limits
        self._token = (options.token or "").encode("ascii")
        self._loopback = is_loopback(options.host)
        self._own = options.host.strip("[]").lower()
        self._hosts = frozenset(name.lower().rstrip(".") for name in options.allowed_hosts)
        self._origins = frozenset(origin.lower() for origin in options.allowed_origins)
        self.bodies = FairShare(limits.bodies_bytes)
        """The bytes of the bodies that are being read."""
        self.requests = FairShare(limits.at_once + limits.queue)
        """Those that run, and those that wait."""
        self._places = asyncio.Semaphore(limits.at_once)
        self.running = 0

    def check(self, scope: Scope) -> str:
        """Return the host and port that the client used, and set :data:`CLIENT`.

        Raises Refused for another host, and for a client that is not allowed.
        """
        CLIENT.set(client_of_address(str((scope.get("client") or (UNKNOWN,))[0])))
        _check_head(scope)
        authority = header_of(scope, b"host")
        if not self._is_ours(authority):
            raise Refused(
                403,
                "host_refused",
                "this service does not go by the name in the Host header",
                hint="call it by its address; or start the service with --allow-host NAME",
            )
        origin = header_of(scope, b"origin").lower()
        if not self.allows(origin):
            own = (f"http://{authority.lower()}", f"https://{authority.lower()}")
            if origin and origin not in own:
                raise Refused(
                    403,
                    "origin_refused",
                    "pages of this origin may not ask this service",
                    hint="if they may, start the service with --allow-origin ORIGIN",
                )
            _check_site(scope)
        if self._token and scope["method"] != "OPTIONS":
            self._check_token(header_of(scope, b"authorization"))
        return authority

    def _check_token(self, authorization: str) -> None:
        scheme, _, token = authorization.partition(" ")
        # Compared as a whole in constant time, so that timing reveals nothing.
        same = hmac.compare_digest(token.strip().encode("latin-1"), self._token)
        if scheme.lower() != "bearer" or not same:
            raise Refused(
                401,
                "token_wrong" if authorization else "token_missing",
                "this service answers only with its bearer token",
                hint="send `Authorization: Bearer …`",
                headers={"WWW-Authenticate": 'Bearer realm="skillyard"'},
            )

    def allows(self, origin: str) -> bool:
        """True for an origin whose pages were allowed in the options."""
        return origin.lower() in self._origins

    def _is_ours(self, authority: str) -> bool:
        match = _AUTHORITY.fullmatch(authority.strip().lower())
        if match is None:
            return False
        name, port = match.group(1).strip("[]").rstrip("."), match.group(2)
        if name in self._hosts or (port and f"{name}:{port}" in self._hosts):
            return True
        if self._loopback:
            return is_loopback(name)
        # Any name can be bound to any address; an address is unambiguous.
        return name in (self._own, "localhost") or _address_of(name) is not None

    async def body(self, scope: Scope, receive: Receive) -> bytes:
        """Return the JSON body of a request.

        There is a limit for each, and a budget for all of which each client has a share. Raises
        Refused: 400, 408, 413, 415 or 429.
        """
        _check_media(scope)
        limits, client = self._limits, CLIENT.get()
        length = header_of(scope, b"content-length")
        expected = int(length) if length.isdecimal() and len(length) < 20 else 0
        pieces: list[bytes] = []
        size, has_more = 0, True
        try:
            async with asyncio.timeout(limits.body_s):
                while True:
                    if max(size, expected) > limits.body_bytes:
                        what = f"the body is larger than {limits.body_bytes:,} bytes"
                        raise Refused(413, "too_large", what, hint="send less text")
                    if not has_more:
                        return b"".join(pieces)
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "gone", "the client went away")
                    piece, has_more = message.get("body", b""), message.get("more_body", False)
                    if not self.bodies.acquire(client, len(piece)):
                        raise busy()
                    size += len(piece)
                    pieces.append(piece)
        except TimeoutError:
            late = f"the body did not come within {limits.body_s:g} s"
            raise Refused(408, "too_slow", late) from None
        finally:
            self.bodies.add(client, -size)

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return self.requests.amounts.total() - self.running

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot, after waiting for it. Raises Refused (429) when too many requests wait.

        Requests wait in the order in which they come. Each client has a share of them.
        """
        client = CLIENT.get()
        if not self.requests.acquire(client):
            raise busy()
        try:
            async with self._places:
                self.running += 1
                try:
                    yield
                finally:
                    self.running -= 1
        finally:
            self.requests.add(client, -1)


def _check_head(scope: Scope) -> None:
    close = {"Connection": "close"}
    size = len(scope["path"]) + len(scope["query_string"])
    size += sum(len(name) + len(value) for name, value in scope["headers"])
    if size > HEAD_BYTES:
        what = f"the request line and headers are larger than {HEAD_BYTES:,} bytes"
        raise Refused(431, "head_too_large", what, hint="POST takes long requests", headers=close)
    if header_of(scope, b"transfer-encoding") and header_of(scope, b"content-length"):
        # A proxy in front may have used the other one.
        what = "the body has a length and a transfer coding"
        raise Refused(400, "two_lengths", what, headers=close)


def _check_site(scope: Scope) -> None:
    """Refuse requests that a browser sends for another site, except for links to local pages.

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


def _check_media(scope: Scope) -> None:
    if not _JSON.fullmatch(header_of(scope, b"content-type").partition(";")[0].strip().lower()):
        raise Refused(
            415,
            "media_type",
            "the body must be JSON",
            hint="send `Content-Type: application/json`",
            headers={"Accept": "application/json"},
        )
    if header_of(scope, b"content-encoding").strip().lower() not in ("", "identity"):
        what, headers = "the body must not be compressed", {"Accept-Encoding": "identity"}
        raise Refused(415, "content_encoding", what, headers=headers)


def _address_of(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def client_of_address(text: str) -> str:
    """Return the client of an address: the IPv4 address, or the IPv6 network."""
    address = _address_of(text.partition("%")[0])
    if not isinstance(address, IPv6Address):
        return text
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ip_network((address, NETWORK_BITS), strict=False))
