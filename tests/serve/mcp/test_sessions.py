"""Sessions of the older era: whoever opens them all keeps nobody out."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from skillyard.serve.runtime.options import ServiceLimits
from tests.requirements import requirement
from tests.serve.http.local_server import Raw, answer_of
from tests.serve.mcp.local_servers import Serving, serving
from tests.serve.mcp.messages import INITIALIZE, INITIALIZED, line

pytestmark = [
    requirement("service:fair-use"),
    # The SDK leaves the streams of a session that was ended to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def send(server: Serving, message: object, session: str = "", client: str = "127.0.0.1",
         method: str = "POST") -> Raw:  # fmt: skip
    body = line(message)
    head = [
        f"{method} /mcp HTTP/1.1", "Host: localhost", "Connection: close",
        "Content-Type: application/json", "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}", *([f"Mcp-Session-Id: {session}"] if session else []),
    ]  # fmt: skip
    address = ("127.0.0.1", server.port)
    with socket.create_connection(address, 20, (client, 0)) as sock:
        sock.sendall("\r\n".join([*head, "", ""]).encode() + body)
        return answer_of(sock)


def opened(server: Serving, client: str = "127.0.0.1") -> str:
    """Open a session; return its id, empty where it was refused."""
    answer = send(server, INITIALIZE, client=client)
    for header in answer.head.split("\r\n"):
        if header.startswith("mcp-session-id:"):
            session = header.partition(":")[2].strip()
            assert send(server, INITIALIZED, session).status == 202
            return session
    return ""


def works(server: Serving, session: str) -> bool:
    return send(server, LIST, session).status == 200


def test_a_new_session_takes_the_place_of_the_longest_idle_one(tmp_path: Path) -> None:
    with serving(tmp_path / "skills", limits=ServiceLimits(sessions=4)) as server:
        first, second, third = (opened(server) for _ in range(3))
        assert works(server, first)
        last = opened(server)
        assert last
        assert [works(server, each) for each in (first, second, third, last)] == [
            True, False, True, True,
        ]  # fmt: skip


def test_a_request_that_opens_nothing_holds_nothing(tmp_path: Path) -> None:
    with serving(tmp_path / "skills", limits=ServiceLimits(sessions=4)) as server:
        session = opened(server)
        for _ in range(20):
            assert send(server, LIST).status == 400
        assert works(server, session)
        assert works(server, opened(server))


@pytest.mark.skipif(sys.platform != "linux", reason="needs the loopback network of Linux")
def test_sessions_of_one_client_end_before_those_of_others(tmp_path: Path) -> None:
    with serving(tmp_path / "skills", limits=ServiceLimits(sessions=8)) as server:
        honest = opened(server)
        greedy = [opened(server, "127.0.0.2") for _ in range(30)]
        assert all(greedy)
        another = opened(server, "127.0.0.3")
        assert works(server, honest)
        assert works(server, another)
        assert not works(server, greedy[0])
        assert works(server, greedy[-1])
