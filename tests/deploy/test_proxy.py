"""The proxy's own file, read by a real HAProxy before real nodes that die and stop.

What is asked through the proxy while a node goes away is answered: by another node, and nobody
who asks sees that there was one less.
"""

from __future__ import annotations

import http.client
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.deploy.node_cluster import Node, asked, haproxy, node, proxy, until
from tests.deploy.shell import free_port

pytest.importorskip("uvicorn")

pytestmark = pytest.mark.slow

CLIENTS = 3
BEFORE, AFTER = 15, 60
"""Answers of each client before a node goes away, and after."""


class Pair(NamedTuple):
    port: int
    first: Node
    second: Node


@contextmanager
def proxied(folder: Path) -> Iterator[Pair]:
    """The proxy before two nodes, and a third that is not there."""
    haproxy()
    with ExitStack() as stack:
        first = stack.enter_context(node(folder / "1"))
        second = stack.enter_context(node(folder / "2"))
        for one in (first, second):
            until(one.port, 200)
        port = stack.enter_context(proxy(first.port, second.port, free_port()))
        until(port, 200)
        yield Pair(port, first, second)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """Two nodes that a test may end."""
    with proxied(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two nodes that every test leaves as they are."""
    with proxied(tmp_path_factory.mktemp("lasting")) as made:
        yield made


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_request_is_lost_when_a_node_goes_away(pair: Pair, how: signal.Signals) -> None:
    statuses: list[int] = []
    begun: list[int] = []
    away = threading.Barrier(CLIENTS + 1, timeout=60)

    def ask() -> None:
        for turn in range(BEFORE + AFTER):
            if turn == BEFORE:
                away.wait()
            wish = {"text": "clean a csv file"} if turn % 2 else None
            path = "/select" if wish else "/search?q=clean%20csv%20files&limit=3"
            try:
                statuses.append(asked(pair.port, path, body=wish)[0])
            except http.client.IncompleteRead:
                begun.append(turn)  # half an answer had left: nobody can take that back

    clients = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    away.wait()  # all are asking on
    pair.first.process.send_signal(how)
    for client in clients:
        client.join()
    pair.first.process.wait(timeout=30)
    assert len(statuses) + len(begun) == CLIENTS * (BEFORE + AFTER)
    assert set(statuses) == {200}
    assert len(begun) <= (CLIENTS if how == signal.SIGKILL else 0)


def test_a_session_of_mcp_stays_with_its_node(lasting: Pair) -> None:
    accepted = {"Accept": "application/json, text/event-stream"}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    status, headers, _ = asked(lasting.port, "/mcp", body=hello, **accepted)
    assert status == 200
    session = {"Mcp-Session-Id": headers["mcp-session-id"], **accepted}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert asked(lasting.port, "/mcp", body=ready, **session)[0] == 202
    for number in range(2, 10):
        listing = {"jsonrpc": "2.0", "id": number, "method": "tools/list"}
        status, _, body = asked(lasting.port, "/mcp", body=listing, **session)
        assert (status, b'"tools"' in body) == (200, True)
    # The other node does not know it: so it was the proxy that kept it where it is.
    known = [
        asked(one.port, "/mcp", body=listing, **session)[0]
        for one in (lasting.first, lasting.second)
    ]
    assert sorted(known) == [200, 404]
