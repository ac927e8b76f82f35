"""Connections that nothing comes of: the service stays up, and says so in a line of its log."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from skillyard.serve.runtime.options import ServiceLimits
from skillyard.serve.runtime.server import LEAST, connections_of
from tests.deploy.node_cluster import Node
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.serve.http.local_server import LIBRARY, answer_of, raw, request, running
from tests.serve.http.local_server import until as until_true
from tests.serve.http.test_load import Held, held
from tests.shared_data import PACKAGES
from tests.tables import for_each

__all__ = ["held"]

pytestmark = requirement("service:connections")
HEALTH = request("GET", "/health", host="localhost")


@contextmanager
def started(folder: Path, descriptors: int) -> Iterator[tuple[Node, Path]]:
    """Run the service as users do, with so many descriptors; its log goes into a file."""
    pytest.importorskip("resource")
    root = write_tree(folder / "skills", LIBRARY)
    limit = f"resource.setrlimit(resource.RLIMIT_NOFILE, ({descriptors}, {descriptors}))"
    launcher = f"import os, resource, sys; {limit}; os.execv(sys.executable, sys.argv[1:])"
    words = ["-m", "skillyard", "serve", str(root), "--local-only", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES), "SKILLYARD_CACHE": str(folder / "c")}
    log = folder / "log"
    with log.open("wb") as stream:
        command = [sys.executable, "-c", launcher, sys.executable, *words]
        process = subprocess.Popen(command, env=environment, stderr=stream, text=True)
    try:
        until_true(lambda: '"catalog"' in log.read_text(encoding="utf-8"))
        url = json.loads(log.read_text(encoding="utf-8").splitlines()[0])["url"]
        yield Node(process, int(url.rpartition(":")[2])), log
    finally:
        process.terminate()
        process.wait(30)


def idle(stack: ExitStack, port: int, count: int, sent: bytes = b"") -> list[socket.socket]:
    """Open so many connections that ask for nothing."""
    found = []
    for _ in range(count):
        sock = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        sock.sendall(sent)
        found.append(sock)
    return found


def probe(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.slow
@for_each("sent", [b"", b"GET /health HTTP/1.1\r\nHost: local"])
def test_more_idle_sockets_than_descriptors_stop_nothing_and_flood_no_log(
    tmp_path: Path, sent: bytes
) -> None:
    with ExitStack() as stack:
        folder = tmp_path / str(len(sent))
        folder.mkdir()
        node, log = stack.enter_context(started(folder, 128))
        idle(stack, node.port, 300, sent)
        for _ in range(20):
            assert probe(node.port) == 200
        stack.close()
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    told = [line for line in lines if line["event"] == "connections"]
    assert [(line["code"], "times" in line) for line in told] == [
        ("idle_closed", False), ("idle_closed", True),
    ]  # fmt: skip
    assert sum(line.get("times", 1) for line in told) > 200
    assert len(lines) < 12


@for_each(
    ("descriptors", "most", "count"),
    [(1_024, 8_192, 768), (65_536, 8_192, 8_192), (256, 8_192, 192), (40, 8_192, LEAST),
     (1_024, 100, 100)],
)  # fmt: skip
def test_files_have_their_descriptors_too(descriptors: int, most: int, count: int) -> None:
    assert connections_of(descriptors, most) == count


def test_the_oldest_idle_connection_makes_room_and_one_at_work_never_does(
    tmp_path: Path, held: Held
) -> None:
    limits = ServiceLimits(connections=3)
    with ExitStack() as stack:
        server = stack.enter_context(running(tmp_path / "skills", limits=limits))
        (working,) = idle(stack, server.port, 1)
        working.sendall(request("GET", "/rank?q=deploy&scorer=overlap", host="localhost"))
        until_true(lambda: held.inside == 1)
        first, second = idle(stack, server.port, 2)
        assert raw(server.port, request("GET", "/livez", "Connection: close")).status == 200
        assert is_closed(first)
        second.sendall(HEALTH)
        assert answer_of(second).status == 200
        held.go.set()
        assert answer_of(working).status == 200


def is_closed(sock: socket.socket) -> bool:
    try:
        return sock.recv(1) == b""
    except ConnectionError:
        return True


def test_an_answer_that_nobody_reads_is_not_kept(tmp_path: Path) -> None:
    limits = ServiceLimits(send_s=0.2)
    with ExitStack() as stack:
        server = stack.enter_context(running(tmp_path / "skills", limits=limits))
        open_: set[Any] = server.server.server_state.connections
        (sock,) = idle(stack, server.port, 1)
        until_true(lambda: len(open_) == 1)
        sock.sendall(request("GET", "/openapi.json", host="localhost") * 400)
        until_true(lambda: not open_)
