"""Real nodes, the real proxy before them, and somebody who asks."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.deploy.files import DEPLOY
from tests.deploy.shell import free_port
from tests.shared_data import PACKAGES, REPOSITORY

__all__ = ["PROXY_FILE", "TOKEN", "Node", "asked", "haproxy", "node", "proxy", "running", "until"]

TOKEN = "of-the-test"
PROXY_FILE = DEPLOY / "compose" / "proxy" / "haproxy.cfg"


def haproxy() -> str:
    """Return HAProxy; skip where there is none, with a plain message, and fail there on CI."""
    return need("haproxy", "haproxy 2.6 or newer")


def need(program: str, package: str = "") -> str:
    """Return a program; skip where there is none, with a plain message, and fail there on CI."""
    found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        missing = f"there is no {program} here: install {package or program}"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


class Node(NamedTuple):
    process: subprocess.Popen[str]
    port: int


@contextmanager
def node(cache: Path) -> Iterator[Node]:
    """Run a node over the examples, with a token, on a free port."""
    arguments = "serve --http examples/skills --local-only --port 0"
    environment = {"SKILLYARD_HTTP_TOKEN": TOKEN, "SKILLYARD_CACHE": str(cache)}
    command = [sys.executable, "-m", "skillyard", *arguments.split()]
    with running(command, environment) as started:
        yield started


@contextmanager
def running(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[Node]:
    """Run a service, and give it with its port as soon as it listens."""
    with subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(PACKAGES), **environment},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        # Whoever writes into a pipe that nobody reads stops at some time.
        reader = threading.Thread(target=process.stderr.read)
        try:
            url = ""
            while not url:
                line = process.stderr.readline()
                assert line, f"it ended: {command}"
                url = json.loads(line).get("url", "")
            reader.start()
            yield Node(process, int(url.rpartition(":")[2]))
        finally:
            process.kill()
            if reader.ident is not None:
                reader.join()


@contextmanager
def proxy(*nodes: int) -> Iterator[int]:
    """Run HAProxy with the file as it stands before these ports, and give its own."""
    port = free_port()
    names = ("NODE_1", "NODE_2", "NODE_3")
    environment = {
        **os.environ,
        **dict(zip(names, (f"127.0.0.1:{node}" for node in nodes), strict=True)),
        "BIND": f"127.0.0.1:{port}",
    }
    checked = subprocess.run(
        [haproxy(), "-c", "-f", str(PROXY_FILE)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env=environment,
    )
    assert checked.returncode == 0, checked.stderr
    assert "warning" not in checked.stderr.lower(), checked.stderr
    with subprocess.Popen(
        [haproxy(), "-db", "-f", str(PROXY_FILE)], env=environment, stdout=subprocess.DEVNULL
    ) as process:
        try:
            yield port
        finally:
            process.kill()


def asked(
    port: int, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of one request on a connection of its own.

    With a body it is a POST.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        sent = {"Authorization": f"Bearer {TOKEN}", **headers}
        data = None
        if body is not None:
            data = json.dumps(body)
            sent["Content-Type"] = "application/json"
        connection.request("POST" if data else "GET", path, body=data, headers=sent)
        answer = connection.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, told, answer.read()
    finally:
        connection.close()


def until(port: int, status: int) -> None:
    """Return when the proxy answers with this status; fail after a while."""
    for _ in range(2_000):
        try:
            if asked(port, "/readyz")[0] == status:
                return
        except OSError:  # it does not listen yet
            pass
        threading.Event().wait(0.02)
    raise AssertionError(f"never answered {status}")
