"""The HTTP client of both libraries: limits time and size, and follows no redirects.

A library's own client applies ``timeout`` to each read, so a server that sends a byte now and then
can hold it open without end. It reads bodies of any size, and it follows redirects with the key in
a header.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

_MAX_BODY = 32 * 1024 * 1024
"""Maximum bytes of one response, decompressed; about a hundred times the longest answer."""
_CONNECTIONS = 256
_CONNECT_S = 10.0
_OF_WHOLE_BODY = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that no longer fit a body that is decompressed."""


class BodyTooLarge(Exception):
    """An answer has more bytes than one may have."""


def bounded_client(max_body: int = _MAX_BODY) -> httpx2.Client:
    """Return a client for many threads.

    A request's read timeout is also the time by which its whole body must have come. Raises
    BodyTooLarge where it is longer than ``max_body`` bytes.
    """
    import httpx2

    class Bounded(httpx2.Client):
        def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            limit_s = request.extensions.get("timeout", {}).get("read")
            deadline = float("inf") if limit_s is None else time.monotonic() + limit_s
            response = super().send(request, **{**options, "stream": True})
            body = bytearray()
            try:
                for piece in response.iter_bytes():
                    body += piece
                    if len(body) > max_body:
                        raise BodyTooLarge(f"the answer has more than {max_body:,} bytes")
                    if time.monotonic() > deadline:
                        raise httpx2.ReadTimeout("the body took too long", request=request)
            finally:
                response.close()
            for name in _OF_WHOLE_BODY:
                response.headers.pop(name, None)
            return httpx2.Response(
                response.status_code,
                headers=response.headers,
                content=bytes(body),
                request=response.request,
                extensions=response.extensions,
            )

    return Bounded(
        limits=httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
        timeout=httpx2.Timeout(600.0, connect=_CONNECT_S),
        follow_redirects=False,
    )
