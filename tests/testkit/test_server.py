"""Sockets and threads: whatever a client or a fault does, the end of the context ends them all."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from skillyard_testkit import FakeServers, Request, Response, faults
from skillyard_testkit.site import Site


def until(true: Callable[[], bool]) -> None:
    """Wait for another thread, giving way to it."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0)


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=20)


def read_to_end(client: socket.socket) -> bytes:
    """What arrives until the other side closes, however it closes."""
    data = b""
    try:
        while piece := client.recv(65_536):
            data += piece
    except ConnectionError:
        pass
    return data


GET = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n"


def test_the_context_ends_every_thread_while_a_request_hangs() -> None:
    before = set(threading.enumerate())
    arrived = threading.Event()

    def hang(site: Site, request: Request) -> Response:
        arrived.set()
        return faults.hang()(site, request)

    with FakeServers() as up:
        up.faults.add("other", "*", hang)
        client = connected(up.other)
        client.sendall(GET)
        assert arrived.wait(20)
        assert set(threading.enumerate()) > before
    assert set(threading.enumerate()) == before
    assert read_to_end(client) == b""
    client.close()


def test_the_context_ends_idle_and_silent_connections() -> None:
    before = set(threading.enumerate())
    with FakeServers() as up:
        silent, half, idle = (connected(up.other) for _ in range(3))
        half.sendall(b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nten bytes.")
        idle.sendall(GET)
        until(lambda: idle.recv(65_536).endswith(b"ok\n"))
    assert set(threading.enumerate()) == before
    for client in (silent, half, idle):
        client.close()
