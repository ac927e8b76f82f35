"""A real server on loopback for one test, and bare requests for what no client would send."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from skillyard.install.sources.settings import Settings
from skillyard.serve.http.app import create_app
from skillyard.serve.http.routes.table import ROUTES
from skillyard.serve.runtime.app_context import AppContext, HttpRoute
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.server import Server, listening_socket
from tests.parity.trees import write_tree
from tests.worked_examples.making import document

LIBRARY = {
    "pdf-tables/SKILL.md": document("pdf-tables", "Extract tables from PDF files.", "Use a ruler."),
    "pdf-tables/references/layout.md": "Columns first.\n",
    "deploy/SKILL.md": document("deploy", "Deploy the app to production.", "Ship it."),
    "unit-tests/SKILL.md": document("unit-tests", "Write unit tests with pytest.", "Arrange, act."),
}
NOWHERE = Settings(enabled=(), shipped_registry=False)


class Running(NamedTuple):
    base: str
    port: int
    client: httpx2.Client
    context: AppContext
    server: Server
    lines: Callable[[], list[dict[str, Any]]]
    """What was logged so far."""

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.client.get(path, **options)

    def post(self, path: str, body: Any, **options: Any) -> httpx2.Response:
        return self.client.post(path, json=body, **options)


def until(true: Callable[[], bool]) -> None:
    """Wait for another thread, giving way to it."""
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0)


def options_of(root: Path, **changes: Any) -> ServiceOptions:
    given: dict[str, Any] = {
        "roots": (str(root),), "port": 0, "settings": NOWHERE, "token": "", **changes,
    }  # fmt: skip
    return ServiceOptions(**given)


@contextmanager
def running(
    root: Path,
    files: Mapping[str, str | bytes] | None = None,
    *,
    ready: bool = True,
    routes: Sequence[HttpRoute] = ROUTES,
    **changes: Any,
) -> Iterator[Running]:
    """Serve a library until the context ends; every thread has ended then.

    Unless it is to be ``ready``, nobody waits until it has read the library.
    """
    if files is not None or not root.exists():
        write_tree(root, LIBRARY if files is None else files)
    stream = io.StringIO()

    def lines() -> list[dict[str, Any]]:
        return [json.loads(line) for line in stream.getvalue().splitlines()]

    options = options_of(root, **changes)
    log = Log("json", stream)
    server = Server(create_app(options, log=log, routes=routes), options, log)
    context: AppContext = server.config.app.state.context  # type: ignore[union-attr]
    with listening_socket(options) as sock:
        host, port = sock.getsockname()[:2]
        thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
        thread.start()
        base = f"http://{host}:{port}"
        try:
            with httpx2.Client(base_url=base, timeout=30, trust_env=False) as client:
                until(
                    lambda: server.started and (context.follower.snapshot is not None or not ready)
                )
                yield Running(base, port, client, context, server, lines)
        finally:
            server.should_exit = True
            thread.join(30)
            assert not thread.is_alive()


class Raw(NamedTuple):
    status: int
    """0 when nothing was answered."""
    head: str
    body: bytes


def raw(port: int, *pieces: bytes, shut: bool = False, timeout: float = 20.0) -> Raw:
    """Send bytes as they are; return the first answer, read until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as sock:
        try:
            for piece in pieces:
                sock.sendall(piece)
            if shut:
                sock.shutdown(socket.SHUT_WR)
        except ConnectionError:
            pass  # refused in the middle: the answer is there to read
        return answer_of(sock)


def answer_of(sock: socket.socket) -> Raw:
    data = b""
    try:
        while piece := sock.recv(65_536):
            data += piece
            head, gap, body = data.partition(b"\r\n\r\n")
            length = _length(head)
            if gap and length is not None and len(body) >= length:
                break
    except ConnectionError:
        pass
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1]) if head.startswith(b"HTTP/") else 0
    return Raw(status, head.decode("latin-1").lower(), body)


def _length(head: bytes) -> int | None:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return None


def request(method: str, target: str, *headers: str, body: bytes = b"", host: str = "x") -> bytes:
    """Return the bytes of a request; ``host`` empty leaves the header out."""
    lines = [f"{method} {target} HTTP/1.1", *([f"Host: {host}"] if host else []), *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
