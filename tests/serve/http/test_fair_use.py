"""One client cannot take what all share: bodies, places and time are there for the next one too."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from skillyard.serve.runtime.options import ServiceLimits
from tests.requirements import requirement
from tests.serve.http.local_server import Raw, Running, answer_of, request, running, until
from tests.serve.http.test_load import Held, held

__all__ = ["held"]

pytestmark = [
    requirement("service:fair-use"),
    # Elsewhere a machine has one loopback address, and two clients cannot be told apart.
    pytest.mark.skipif(sys.platform != "linux", reason="needs the loopback network of Linux"),
]
GREEDY, HONEST = "127.0.0.2", "127.0.0.1"
RANK = request("GET", "/rank?q=deploy&scorer=overlap", "Connection: close", host="localhost")


@contextmanager
def connected(server: Running, client: str) -> Iterator[socket.socket]:
    """Give a connection that comes from an address of this machine."""
    with socket.create_connection(("127.0.0.1", server.port), 20, (client, 0)) as sock:
        yield sock


def post(size: int, sent: int | None = None) -> bytes:
    """Return a request with a body of so many bytes, or the beginning of it."""
    body = json.dumps({"text": "x" * (size - 12)}).encode()
    head = ("Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close")
    return request("POST", "/select", *head, body=body[:sent], host="localhost")


def ask(server: Running, client: str, sent: bytes) -> Raw:
    with connected(server, client) as sock:
        sock.sendall(sent)
        return answer_of(sock)


def test_bodies_of_one_client_leave_room_for_those_of_others(tmp_path: Path) -> None:
    limits = ServiceLimits(body_bytes=100_000, bodies_bytes=100_000)
    with ExitStack() as stack:
        server = stack.enter_context(running(tmp_path / "skills", limits=limits))
        shares = server.context.guard.bodies
        for number in range(16):
            sock = stack.enter_context(connected(server, GREEDY))
            sock.sendall(post(20_000, 10_000))
            until(lambda number=number: shares.amounts[GREEDY] >= min(75_000, 10_000 * number))  # type: ignore[misc]
        assert ask(server, GREEDY, post(10_000)).status == 429
        assert ask(server, HONEST, post(10_000)).status == 200


def test_clients_behind_a_trusted_proxy_have_a_share_each(tmp_path: Path, held: Held) -> None:
    def rank(client: str) -> bytes:
        forwarded = f"X-Forwarded-For: {client}"
        return RANK.replace(b"\r\n\r\n", f"\r\n{forwarded}\r\n\r\n".encode())

    limits = ServiceLimits(at_once=1, queue=7)
    with ExitStack() as stack:
        server = stack.enter_context(
            running(tmp_path / "skills", limits=limits, trusted_proxies=("127.0.0.1",))
        )
        greedy = [stack.enter_context(connected(server, "127.0.0.1")) for _ in range(6)]
        for sock in greedy:
            sock.sendall(rank("203.0.113.1"))
        until(lambda: server.context.guard.waiting == 5)
        assert ask(server, "127.0.0.1", rank("198.51.100.9, 203.0.113.1")).status == 429
        waiting = stack.enter_context(connected(server, "127.0.0.1"))
        waiting.sendall(rank("203.0.113.2"))
        until(lambda: server.context.guard.waiting == 6)
        held.go.set()
        assert answer_of(waiting).status == 200


def test_requests_of_one_client_leave_places_for_those_of_others(
    tmp_path: Path, held: Held
) -> None:
    limits = ServiceLimits(at_once=1, queue=7)
    with ExitStack() as stack:
        server = stack.enter_context(running(tmp_path / "skills", limits=limits))
        greedy = [stack.enter_context(connected(server, GREEDY)) for _ in range(6)]
        for sock in greedy:
            sock.sendall(RANK)
        until(lambda: server.context.guard.waiting == 5)
        assert ask(server, GREEDY, RANK).status == 429
        statuses: list[int] = []
        thread = threading.Thread(target=lambda: statuses.append(ask(server, HONEST, RANK).status))
        thread.start()
        until(lambda: server.context.guard.waiting == 6)
        held.go.set()
        thread.join(30)
        assert statuses == [200]
        assert [answer_of(sock).status for sock in greedy] == [200] * 6
