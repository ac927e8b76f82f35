"""Ways in which a server fails, and the queue that assigns them to requests.

A fault is a function of the site and the request that returns the response.
``site.respond(request)`` is the regular response.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from zlib import crc32

from skillyard.base.errors import InvalidInput
from skillyard_testkit.fault_queue import PendingFaults
from skillyard_testkit.messages import Request, Response, text_response
from skillyard_testkit.rate_limits import RateLimitState
from skillyard_testkit.site import Site

__all__ = [
    "Fault",
    "FaultQueue",
    "endless",
    "gzip_bomb",
    "hang",
    "html",
    "lfs_pointer",
    "modify_response",
    "rate_limited",
    "redirect",
    "respond_with",
    "secondary_limited",
    "status",
    "truncated_json",
    "truncated_tree",
    "wrong_digest",
    "wrong_length",
]

Fault = Callable[[Site, Request], Response]


def status(code: int, message: str = "", *, retry_after: int | None = None) -> Fault:
    """An error status, in the shape of the server that it happens to."""

    def fault(site: Site, request: Request) -> Response:
        response = site.error(request, code, message)
        return (
            response if retry_after is None else response.with_headers(retry_after=str(retry_after))
        )

    return fault


def respond_with(response: Response) -> Fault:
    """Exactly the given response."""
    return lambda site, request: response


def redirect(url: str, code: int = 301) -> Fault:
    """A redirect to ``url``, on this host or another. Raises InvalidInput for another status."""
    if code not in (301, 302, 303, 307, 308):
        raise InvalidInput(f"{code} is no redirect: give 301, 302, 303, 307 or 308")
    return respond_with(text_response("", code, location=url))


def rate_limited(code: int = 403, wait_s: int = 60) -> Fault:
    """The primary rate limit, exceeded until ``wait_s`` seconds from now."""

    def fault(site: Site, request: Request) -> Response:
        state = RateLimitState(60, 60, site.clock() + wait_s, wait_s, False)
        response = site.rate_limited_response(request, code, wait_s)
        return replace(response, headers={**site.rate_limit_headers(state), **response.headers})

    return fault


def secondary_limited(code: int = 403, retry_after: int | None = 60) -> Fault:
    """The secondary rate limit, with or without ``Retry-After``."""
    return lambda site, request: site.secondary_limit_response(request, code, retry_after)


def html(title: str = "Just a moment") -> Fault:
    """A web page with status 200 where data was expected."""
    page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body></body></html>\n"
    return respond_with(text_response(page, kind="text/html; charset=utf-8"))


def hang(after: int | None = None) -> Fault:
    """No response until the server closes, or only ``after`` bytes of the regular body."""
    if after is None:
        return respond_with(Response(0, then="hang"))
    return modify_response(
        lambda response: replace(
            response, body=response.body[:after], length=len(response.body), then="hang"
        )
    )


def modify_response(change: Callable[[Response], Response]) -> Fault:
    """The regular response, changed; errors stay as they are.

    The entity tag is removed and ``If-None-Match`` ignored, as the tag does not fit a changed body.
    """

    def fault(site: Site, request: Request) -> Response:
        response = site.respond(request.unconditional())
        if response.status != 200:
            return response
        headers = {name: value for name, value in response.headers.items() if name != "etag"}
        return change(replace(response, headers=headers))

    return fault


def truncated_json() -> Fault:
    """The first half of the body, with a length that agrees: good HTTP, broken JSON."""
    return modify_response(
        lambda response: replace(response, body=response.body[: len(response.body) // 2])
    )


def truncated_tree(keep: int | None = None) -> Fault:
    """A tree with its first entries, half of them or ``keep``, marked as truncated."""

    def cut(response: Response) -> Response:
        document = response.document()
        entries = document.get("tree") if isinstance(document, dict) else None
        if entries is None:  # another route that the pattern matches
            return response
        document["tree"] = entries[: len(entries) // 2 if keep is None else keep]
        document["truncated"] = True
        return replace(response, body=json.dumps(document).encode())

    return modify_response(cut)


def wrong_length(difference: int = 100) -> Fault:
    """A ``Content-Length`` that is larger, or smaller, than the body by ``difference``."""
    return modify_response(
        lambda response: replace(response, length=max(0, len(response.body) + difference))
    )


def endless() -> Fault:
    """The regular body again and again, in chunks, until the client disconnects."""
    return modify_response(
        lambda response: replace(response, body=response.body or b" " * 1024, then="endless")
    )


def lfs_pointer() -> Fault:
    """The pointer that Git LFS keeps in place of a large file."""

    def pointer(response: Response) -> Response:
        text = (
            "version https://git-lfs.github.com/spec/v1\n"
            f"oid sha256:{sha256(response.body).hexdigest()}\n"
            f"size {len(response.body)}\n"
        )
        return replace(response, body=text.encode())

    return modify_response(pointer)


_DIGEST = re.compile(rb'(sha256:|"hash":\s*")([0-9a-f]{64})')


def wrong_digest() -> Fault:
    """Bytes that do not match their digest: an index with other digests, or another file."""

    def change(response: Response) -> Response:
        if "json" not in response.headers.get("content-type", ""):
            return replace(response, body=response.body + b"\nchanged on the way\n")
        other = sha256(response.body).hexdigest().encode()
        return replace(response, body=_DIGEST.sub(rb"\g<1>" + other, response.body))

    return modify_response(change)


def gzip_bomb(size: int = 256 * 1024 * 1024) -> Fault:
    """A small body that unpacks to ``size`` bytes of spaces, rounded up to a megabyte."""

    def bomb(response: Response) -> Response:
        packed = _packed_spaces(-(-size // _BLOCK))
        return replace(response, body=packed).with_headers(content_encoding="gzip")

    return modify_response(bomb)


_BLOCK = 1024 * 1024


@cache
def _packed_spaces(blocks: int) -> bytes:
    """Return a gzip stream of so many megabytes; every block is packed alike, so one is."""
    spaces = b" " * _BLOCK
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(spaces) + packer.flush(zlib.Z_FULL_FLUSH)
    end = packer.flush()
    check = 0
    for _ in range(blocks):
        check = crc32(spaces, check)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return head + block * blocks + end + struct.pack("<II", check, blocks * _BLOCK & 0xFFFFFFFF)


class FaultQueue:
    """Pending faults by server and path, in the order in which they were added. Thread-safe."""

    def __init__(self, servers: Mapping[str, object]) -> None:
        self._servers = servers
        self._pending: PendingFaults[Fault, tuple[str, str]] = PendingFaults()

    def add(self, server: str, pattern: str, fault: Fault, *, times: int | None = 1) -> None:
        """Apply ``fault`` to the next ``times`` requests, or to all with None, whose path matches.

        ``server`` is a name, or ``*`` for all; ``pattern`` is a glob over the path as sent,
        without the query, in which ``*`` also matches ``/``. Raises InvalidInput for an unknown
        server and for ``times`` below 1.
        """
        if server != "*" and server not in self._servers:
            raise InvalidInput(f"no server {server!r}: give one of {', '.join(self._servers)}")

        def applies_to(key: tuple[str, str]) -> bool:
            return server in ("*", key[0]) and fnmatchcase(key[1], pattern)

        self._pending.append(applies_to, fault, times)

    def take(self, server: str, path: str) -> Fault | None:
        """Return the first pending fault for such a request, and count it."""
        return self._pending.take((server, path))

    def clear(self) -> None:
        """Remove every pending fault."""
        self._pending.clear()
