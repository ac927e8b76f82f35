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

__all__ = ["MAX_BODY", "BodyTooLarge", "bounded_client"]

MAX_BODY = 32 * 1024 * 1024
"""Maximum bytes of one response, decompressed; about a hundred times the longest answer."""
_CONNECTIONS = 256
_CONNECT_S = 10.0


class BodyTooLarge(Exception):
    """An answer has more bytes than one may have."""


def bounded_client(max_body: int = MAX_BODY) -> httpx2.Client:
    """Return a client for many threads.

    A request's read timeout is also the time by which its whole body must have come. Raises
    BodyTooLarge where it is longer than ``max_body`` bytes.
    """
    import httpx2

    class Bounded(httpx2.Client):
        def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            limit = request.extensions.get("timeout", {}).get("read")
            deadline = None if limit is None else time.monotonic() + limit
            options["stream"] = True
            response = super().send(request, **options)
            try:
                body = _read_body(response, deadline, max_body)
            finally:
                response.close()
            return _with_body(response, body)

        def __del__(self) -> None:  # closed here, because a ChatModel has no close()
            if not self.is_closed:
                self.close()

    limits = httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
    return Bounded(
        limits=limits,
        timeout=httpx2.Timeout(600.0, connect=_CONNECT_S),
        follow_redirects=False,
    )


def _read_body(response: httpx2.Response, deadline: float | None, max_body: int) -> bytes:
    import httpx2

    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_bytes():
        size += len(piece)
        if size > max_body:
            raise BodyTooLarge(f"the answer has more than {max_body:,} bytes")
        if deadline is not None and time.monotonic() > deadline:
            raise httpx2.ReadTimeout("the body took too long", request=response.request)
        pieces.append(piece)
    return b"".join(pieces)


def _with_body(response: httpx2.Response, body: bytes) -> httpx2.Response:
    """Return the response with its body, which is unpacked now."""
    import httpx2

    dropped_headers = {"content-encoding", "content-length", "transfer-encoding"}
    headers = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name not in dropped_headers
    ]
    return httpx2.Response(
        response.status_code,
        headers=headers,
        content=body,
        request=response.request,
        extensions=response.extensions,
    )
