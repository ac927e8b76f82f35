"""Requests that no client sends: each gets the status that it deserves, and never a 5xx."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard.base.io.connections import is_loopback
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.guards import Guard
from skillyard.serve.runtime.options import ServiceLimits, ServiceOptions
from tests.serve.http.local_server import Running, answer_of, raw, request, running
from tests.tables import for_each

JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"
HEALTH = request("GET", "/health", "Connection: close", host="localhost")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with short patience; every test leaves it able to answer."""
    limits = ServiceLimits(body_s=0.3, body_bytes=64 * 1024)
    with running(tmp_path_factory.mktemp("library") / "skills", limits=limits) as server:
        yield server
        assert server.get("/health").status_code == 200
        statuses = [line["status"] for line in server.lines() if line["event"] == "request"]
        assert [status for status in statuses if status >= 500] == []


def post(body: bytes, *headers: str, path: str = "/select") -> bytes:
    given = headers or (JSON, f"Content-Length: {len(body)}")
    return request("POST", path, "Connection: close", *given, body=body, host="localhost")


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


TELLING = {
    "oversized by its word": (post(b"", JSON, "Content-Length: 99999999"), 413),
    "oversized in chunks": (post(chunk(b" " * 40_000) * 2, JSON, CHUNKED), 413),
    "chunks without an end": (post(chunk(b"{"), JSON, CHUNKED), 408),
    "a slow body": (post(b'{"te', JSON, "Content-Length: 100"), 408),
    "a body that expects": (
        post(b"", JSON, "Content-Length: 99999999", "Expect: 100-continue"), 413,
    ),
    "no JSON": (post(b"{nonsense"), 422),
    "deep JSON": (post(b'{"text":' + b"[" * 50_000), 422),
    "a key twice": (post(b'{"text": "a", "text": "b"}'), 422),
    "a body of another kind": (post(b"x=y", "Content-Type: text/plain", "Content-Length: 3"), 415),
    "a huge header": (request("GET", "/health", "X-A: " + "a" * 200_000, host="localhost"), 431),
    "a long path": (request("GET", "/" + "a" * 200_000, host="localhost"), 431),
    "a whole address of somebody else": (
        request("GET", "http://evil.example/health", "Connection: close", host="localhost"), 404,
    ),
    "no path": (request("GET", "health", "Connection: close", host="localhost"), 404),
    "a tunnel": (request("CONNECT", "evil.example:80", "Connection: close", host="localhost"), 404),
    "another's name": (request("GET", "/health", "Connection: close", host="evil.example"), 403),
    "a name with a login": (
        request("GET", "/health", "Connection: close", host="localhost@evil.example"), 403,
    ),
    "no Host": (request("GET", "/health", "Connection: close", host=""), 400),
    "another's origin": (
        request("GET", "/nothing", "Origin: http://evil.example", "Connection: close",
                host="localhost"), 403,
    ),
    "an encoded way up": (
        request("GET", "/skill/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "Connection: close",
                host="localhost"), 404,
    ),
    "an unknown method": (request("BREW", "/search", "Connection: close", host="localhost"), 405),
    "HTTP/1.0": (b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n", 200),
    "HTTP/1.0 without Host": (b"GET /health HTTP/1.0\r\n\r\n", 403),
    "a length and chunks": (
        post(b"0\r\n\r\n", JSON, CHUNKED, "Content-Length: 5"), 400,
    ),
    "broken chunks": (post(b"zz\r\n{}\r\n0\r\n\r\n", JSON, CHUNKED), 400),
}  # fmt: skip


@for_each("name", TELLING)
def test_a_hostile_request_gets_its_status(attacked: Running, name: str) -> None:
    sent, status = TELLING[name]
    answer = raw(attacked.port, sent)
    # A head that comes in many pieces is refused by the reader of the protocol, before our guard.
    assert answer.status in ((400, 431) if status == 431 else (status,))
    assert b"Traceback" not in answer.body
    assert b"root:" not in answer.body
    if status >= 400 and "application/json" in answer.head:
        assert json.loads(answer.body)["error"]["code"]
    assert raw(attacked.port, HEALTH).status == 200


def test_a_body_that_nobody_reads_ends_the_connection(attacked: Running) -> None:
    # Without "Connection: close" from the client: otherwise it could go on sending for ever.
    for sent in (
        request("POST", "/select", JSON, CHUNKED, body=chunk(b" " * 40_000) * 2, host="localhost"),
        request("POST", "/nothing", JSON, CHUNKED, body=chunk(b"{}"), host="localhost"),
        request("POST", "/select", JSON, "Content-Length: 9", body=b"{", host="evil.example"),
    ):
        with socket.create_connection(("127.0.0.1", attacked.port), timeout=20) as sock:
            sock.sendall(sent)
            answer = answer_of(sock)
            assert answer.status in (403, 404, 413)
            assert "connection: close" in answer.head
            try:
                assert sock.recv(1) == b""
            except ConnectionResetError:
                pass  # closed with our bytes unread: also an end


def test_a_connection_without_a_request_is_closed(tmp_path: Path) -> None:
    with running(tmp_path / "skills", limits=ServiceLimits(header_s=0.2)) as server:
        for sent in (b"", b"GET /health HTTP/1.1\r\nHost: local"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as sock:
                sock.sendall(sent)
                assert sock.recv(1) == b""


TOKENS = {
    "none": ((), 401),
    "right": (("Authorization: Bearer secret",), 200),
    "right, in another case": (("Authorization: bearer secret",), 200),
    "wrong": (("Authorization: Bearer secres",), 401),
    "a beginning": (("Authorization: Bearer secre",), 401),
    "longer": (("Authorization: Bearer secretsecret",), 401),
    "empty": (("Authorization: Bearer ",), 401),
    "no scheme": (("Authorization: secret",), 401),
    "another scheme": (("Authorization: Basic secret",), 401),
    "beyond ASCII": (("Authorization: Bearer s\xe9cret",), 401),
}


def test_a_token_is_wanted_on_every_route_and_nothing_else_does(tmp_path: Path) -> None:
    with running(tmp_path / "skills", token="secret") as server:
        for name, (headers, status) in TOKENS.items():
            sent = request("GET", "/skill/deploy", "Connection: close", *headers, host="localhost")
            answer = raw(server.port, sent)
            assert answer.status == status, name
            if status == 401:
                assert "www-authenticate: bearer" in answer.head
        for route in server.context.routes:
            assert server.client.request(route.method, route.path).status_code == 401
        assert server.get("/nothing").status_code == 401
        assert server.client.options("/search").status_code == 204


def may(options: ServiceOptions, host: str, origin: str = "") -> bool:
    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])
    try:
        Guard(options).check(
            {"path": "/", "query_string": b"", "method": "OPTIONS", "headers": headers}
        )
    except Refused as error:
        refused = error
    else:
        return True
    assert refused.status == 403
    return False


@given(st.text(max_size=40) | st.from_regex(r"[a-z0-9.:\[\]-]{1,40}", fullmatch=True))
def test_no_host_but_this_machine_gets_through_whatever_it_looks_like(host: str) -> None:
    options = ServiceOptions(token="")
    headers = [(b"host", host.encode("utf-8", "replace"))]
    scope = {"path": "/", "query_string": b"", "method": "GET", "headers": headers}
    refused: Refused | None = None
    try:
        Guard(options).check(scope)
    except Refused as error:
        refused = error
    if refused is None:
        name = host.strip().lower().rpartition(":")[0] if ":" in host else host.strip().lower()
        name = host.strip().lower() if host.strip().endswith("]") else name
        assert is_loopback(name.rstrip("."))
    else:
        assert refused.status == 403


def test_hosts_and_origins_that_may_ask() -> None:
    here = ServiceOptions(token="")
    for host in (
        "127.0.0.1",
        "127.0.0.1:8765",
        "localhost:1",
        "LOCALHOST",
        "[::1]:80",
        "localhost.",
    ):
        assert may(here, host)
    for host in ("", "evil.example", "10.0.0.1", "127.0.0.1:x", "localhost:123456", "a b", "[::1"):
        assert not may(here, host)
    named = ServiceOptions(
        token="t", host="0.0.0.0", allowed_hosts=("Skills.example", "b.example:1")
    )
    for host in ("skills.example", "skills.example:9", "b.example:1", "10.0.0.1:80", "[fe80::1]"):
        assert may(named, host)
    for host in ("b.example", "b.example:2", "evil.example", "skills.example.evil.example"):
        assert not may(named, host)
    pages = ServiceOptions(token="", allowed_origins=("https://ok.example",))
    for origin in ("http://localhost:5", "https://localhost:5", "https://OK.example"):
        assert may(pages, "localhost:5", origin)
    for origin in ("null", "http://localhost:6", "http://ok.example", "https://ok.example.evil"):
        assert not may(pages, "localhost:5", origin)
