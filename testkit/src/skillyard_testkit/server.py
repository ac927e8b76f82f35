"""One HTTP server on the loopback address that sends the responses it is given.

Every thread and every connection belongs to the server: closing it ends those that hang, those
that wait for a client's next request, and those that send without end.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from sys import exc_info
from threading import Event, Lock, Thread
from typing import Any

from skillyard_testkit.messages import Request, Response

__all__ = ["MAX_BODY_BYTES", "LoopbackServer"]

MAX_BODY_BYTES = 32 * 1024 * 1024
"""A longer body of a request is truncated to one byte more."""
_PIECE = 64 * 1024
_DRIP_S = 0.02
"""Pause after each byte of a dripping body."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "skillyard-testkit"
    sys_version = ""
    disable_nagle_algorithm = True  # headers and body are two writes; a delay would be 40 ms
    server: LoopbackServer

    def _serve(self) -> None:
        content = self._read_body()
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            name = name.lower()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        response = self.server.respond(Request(self.command, self.path, headers, content))
        if response.then == "reset":
            self._reset()
            return
        if response.status == 0:
            self._hang()
            return
        self._send_head(response)
        if self.command != "HEAD" and response.status not in (204, 304):
            self._send_body(response)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve  # noqa: N815

    def _read_body(self) -> bytes:
        """Return the body, truncated behind the limit.

        The rest is read too: closing a connection with unread bytes would reset it before the
        client has the response.
        """
        try:
            size = int(self.headers.get("content-length", "0"))
        except ValueError:
            size = 0
        if self.headers.get("transfer-encoding") or size < 0:
            self.close_connection = True
            return b""
        content = self.rfile.read(min(size, MAX_BODY_BYTES + 1))
        if size > MAX_BODY_BYTES:
            self.close_connection = True
            rest = min(size - len(content), MAX_BODY_BYTES)
            while rest > 0 and (piece := self.rfile.read(min(rest, _PIECE))):
                rest -= len(piece)
        return content

    def _send_head(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.then == "endless":
            self.send_header("transfer-encoding", "chunked")
        elif response.status not in (204, 304):
            claimed = len(response.body) if response.length is None else response.length
            self.send_header("content-length", str(claimed))
            if claimed != len(response.body):
                self.close_connection = True
        self.end_headers()

    def _send_body(self, response: Response) -> None:
        if response.then == "endless":
            self._send_endlessly(response.body)
            return
        if response.then == "drip":
            self._send_slowly(response.body)
            return
        self.wfile.write(response.body)
        if response.then == "hang":
            self._hang()

    def _send_endlessly(self, body: bytes) -> None:
        self.close_connection = True
        piece = body * max(1, _PIECE // len(body))
        chunk = b"%x\r\n%s\r\n" % (len(piece), piece)
        while not self.server.closing.is_set():
            self.wfile.write(chunk)

    def _send_slowly(self, body: bytes) -> None:
        for place in range(len(body)):
            self.wfile.write(body[place : place + 1])
            if self.server.closing.wait(_DRIP_S):
                self.close_connection = True
                return

    def _hang(self) -> None:
        self.server.closing.wait()
        self.close_connection = True

    def _reset(self) -> None:
        """Reset the connection instead of closing it."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: ``RequestLog`` is the log."""


class LoopbackServer(ThreadingHTTPServer):
    """Listens on a free port of 127.0.0.1 from construction on; ``start`` responds, ``close`` ends.

    ``respond`` gets each request, in a thread of its connection. ``closing`` is set by ``close``;
    whatever waits inside ``respond`` should wait for it.
    """

    daemon_threads = False  # they are joined when the server closes
    block_on_close = True
    request_queue_size = 128

    def __init__(self, respond: Callable[[Request], Response], closing: Event) -> None:
        self.respond = respond
        self.closing = closing
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        super().__init__(("127.0.0.1", 0), _Handler)
        self._thread = Thread(target=self._accept, name="testkit-accept")

    def server_bind(self) -> None:
        """Bind without asking for the machine's name, which may go to a name server."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    @property
    def url(self) -> str:
        """The base URL, without a slash at its end."""
        return f"http://127.0.0.1:{self.server_port}"

    def start(self) -> None:
        """Start to respond."""
        self._thread.start()

    def _accept(self) -> None:
        while not self.closing.is_set():
            self.handle_request()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Take no connection once the server closes: that one only wakes the accepting thread."""
        return not self.closing.is_set()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread, and remember it until it is closed."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; report anything else."""
        if not isinstance(exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        """End every connection and thread, then give the port back. Returns when all are gone."""
        self.closing.set()
        if self._thread.is_alive():
            socket.create_connection(("127.0.0.1", self.server_port)).close()
            self._thread.join()
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:  # the other side was first
                    pass
        self.server_close()
