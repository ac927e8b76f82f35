"""The bytes of requests that clients send, valid and hostile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["JSON", "Hostile", "get", "length", "malformed", "post"]

JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"
CLOSE = "Connection: close"


class Hostile(NamedTuple):
    """A hostile request, with the expected statuses."""

    name: str
    expected: tuple[int, ...]
    """Statuses; empty for a request that never ends, which its client gives up."""
    data: bytes


def request(method: str, path: str, *headers: str, host: str = "127.0.0.1") -> bytes:
    """Return the bytes of a request; ``host`` empty leaves the header out."""
    named = [f"Host: {host}"] if host else []
    return "\r\n".join([f"{method} {path} HTTP/1.1", *named, *headers, "", ""]).encode("latin-1")


def get(path: str, *headers: str, host: str = "127.0.0.1") -> bytes:
    """Return the bytes of a GET."""
    return request("GET", path, *headers, host=host)


def post(path: str, body: bytes, *headers: str) -> bytes:
    """Return the bytes of a request with a JSON body; headers stand in place of its own."""
    return request("POST", path, *(headers or (JSON, length(len(body))))) + body


def length(count: int) -> str:
    """Return the header that says how long a body is."""
    return f"Content-Length: {count}"


def _headers(count: int) -> Sequence[str]:
    return [f"X-{number}: {number}" for number in range(count)]


def malformed() -> list[Hostile]:
    """Return requests that no client of good will sends."""
    select = "/select"
    up = "/skill/%2e%2e%2f%2e%2e%2fetc%2fpasswd"
    return [
        Hostile("oversized by its word", (413,), post(select, b"", JSON, length(99_999_999))),
        Hostile("no JSON", (422,), post(select, b"{nonsense")),
        Hostile("deep JSON", (422,), post(select, b'{"text":' + b"[" * 20_000)),
        Hostile("wrong types", (422,), post(select, b'{"text": {"a": 1}, "top_k": "five"}')),
        Hostile("a key twice", (422,), post(select, b'{"text": "a", "text": "b"}')),
        Hostile("no kind", (415,), post(select, b"{}", length(2))),
        Hostile(
            "compressed",
            (415,),
            post(select, b"\x1f\x8b", JSON, length(2), "Content-Encoding: gzip"),
        ),
        Hostile("broken chunks", (400,), post(select, b"zz\r\n{}\r\n0\r\n\r\n", JSON, CHUNKED)),
        Hostile(
            "a length and chunks", (400,), post(select, b"0\r\n\r\n", JSON, CHUNKED, length(5))
        ),
        Hostile("two lengths", (400,), post(select, b"{}", JSON, length(2), length(3))),
        Hostile("a huge header", (400, 431), get("/health", "X-A: " + "a" * 100_000)),
        Hostile("many headers", (400, 431), get("/health", *_headers(5_000))),
        Hostile("a long query", (422,), get("/search?q=" + "a" * 20_000)),
        Hostile("a limit of a million", (422,), get("/search?q=pdf&limit=1000000", CLOSE)),
        Hostile("another's name", (403,), get("/health", CLOSE, host="evil.example")),
        Hostile("no Host", (400,), get("/health", CLOSE, host="")),
        Hostile("an opaque origin", (403,), get("/health", "Origin: null", CLOSE)),
        Hostile("an encoded way up", (404,), get(up, CLOSE)),
        Hostile("an unknown method", (405,), request("BREW", "/search", CLOSE)),
        Hostile("a tunnel", (404,), request("CONNECT", "evil.example:80", CLOSE)),
        Hostile("another protocol", (400,), b"\x16\x03\x01\x02\x00\x01" + b"\0" * 50),
        Hostile("a slow body", (), post(select, b'{"te', JSON, length(100))),
        Hostile("a slow head", (), b"GET /health HTTP/1.1\r\nHost: 127.0."),
        Hostile("gone at once", (), get("/search?q=extract+tables")),
    ]
