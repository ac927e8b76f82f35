"""The service as a process: it says where it listens, and a signal ends it after its answers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx2
import pytest

from skillyard.serve.runtime.logging import Log
from tests.parity.trees import write_tree
from tests.serve.http.local_server import LIBRARY, answer_of, request, until
from tests.shared_data import PACKAGES
from tests.tables import for_each

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from skillyard.serve.http.app import serve
from skillyard.serve.runtime.options import ServiceOptions
serve(ServiceOptions(roots=[sys.argv[2]], port=0, local_only=True))
print("returned")
"""


@contextmanager
def process(root: Path) -> Iterator[tuple[subprocess.Popen[str], int, IO[str]]]:
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(PACKAGES), str(root)]
    environment = {**os.environ, "SKILLYARD_HTTP_TOKEN": ""}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as running:
        try:
            assert running.stderr is not None
            yield running, port_of(running.stderr), running.stderr
        finally:
            running.kill()


def port_of(log: IO[str]) -> int:
    line: dict[str, Any] = json.loads(log.readline())
    assert line["event"] == "listening"
    return int(line["url"].rpartition(":")[2])


@pytest.mark.slow
@for_each("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_a_running_request_finish_and_ends_with_zero(
    tmp_path: Path, number: signal.Signals
) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)
    with process(root) as (running, port, log):
        body = b'{"text": "deploy the app"}'
        headers = ("Content-Type: application/json", f"Content-Length: {len(body)}")
        with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
            sock.sendall(request("POST", "/select", *headers, body=body[:5], host="localhost"))
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
                until(lambda: "skillyard_http_in_flight 2.0" in client.get("/metrics").text)
                running.send_signal(number)
                until(lambda: not connects(port))
            sock.sendall(body[5:])
            answer = answer_of(sock)
        assert answer.status == 200
        assert json.loads(answer.body)["selected"][0]["name"] == "deploy"
        assert running.wait(20) == 0
        assert running.stdout is not None
        assert running.stdout.read() == "returned\n"
        events = [json.loads(line)["event"] for line in log.read().splitlines()]
        assert events[-1] == "stopped"


def connects(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=20).close()
    except OSError:
        return False
    return True


def test_a_log_that_nobody_reads_stops_nothing(tmp_path: Path) -> None:
    with open(tmp_path / "log", "w", encoding="utf-8") as stream:
        log = Log("json", stream)
    log.write("event", a=1)  # the stream is closed
