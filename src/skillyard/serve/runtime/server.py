"""The socket, uvicorn with our limits, and a shutdown that lets running requests finish."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from skillyard.base.errors import InvalidInput
from skillyard.base.io.connections import own_address
from skillyard.base.io.platforms import ENDING, raise_descriptor_limit
from skillyard.serve.runtime.guards import HEAD_BYTES
from skillyard.serve.runtime.logging import Log, redirect
from skillyard.serve.runtime.options import ServiceLimits, ServiceOptions

BACKLOG = 256
OTHER_FILES = 4
"""One descriptor in this many is reserved for files, databases and remotes."""
LEAST_OTHER_FILES = 64
"""Minimum number of reserved descriptors: each thread and each remote has a few."""
LEAST = 16
"""Minimum number of connections to serve anything."""


def announce(log: Log, sock: socket.socket, options: ServiceOptions, path: str = "") -> None:
    """Log the address for clients and the served library."""
    host, port = sock.getsockname()[:2]
    address = f"[{host}]" if ":" in host else host
    url = f"http://{address}:{port}{path}"
    log.write("listening", url=url, library=options.library, token=bool(options.token))


@contextmanager
def listening_socket(options: ServiceOptions) -> Iterator[socket.socket]:
    """Yield the socket of the service. Raises InvalidInput when it cannot be opened."""
    host = options.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY, which sends small responses at once, only with an explicit
    # protocol.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        own_address(sock)
        sock.bind((host, options.port))
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise InvalidInput(_not_listening(error, options.host, options.port)) from None
    with sock:
        yield sock


def _not_listening(error: OSError, host: str, port: int) -> str:
    """Return the reason why an address cannot be listened on, and a hint."""
    if isinstance(error, socket.gaierror):
        known = "is not a name or address that this machine knows"
        return f"host {host!r} {known}; use 127.0.0.1, or 0.0.0.0 for all addresses"
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use: stop the program that uses it, or choose another"
            " port (--port; 0 takes a free one)"
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is no address of this machine; use 127.0.0.1, or 0.0.0.0 for all of them"
    return f"cannot listen on {host} port {port}: {error.strerror or error}"


def connections_of(descriptors: int, most: int) -> int:
    """Return the number of connections for this many descriptors, at most ``most``."""
    others = max(LEAST_OTHER_FILES, descriptors // OTHER_FILES)
    return min(most, max(LEAST, descriptors - others))


class Connection(H11Protocol):
    """uvicorn's connection, with what uvicorn does not limit.

    uvicorn waits for the head of a request, and for the reader of a response, without end, and
    holds any number of connections. Here both have a time limit, and the connection that has been
    idle longest is closed when there are too many. It is h11's, which limits the size of a head.
    """

    def __init__(
        self, *, limits: ServiceLimits, idle: dict[Connection, None], log: Log, **of: Any
    ) -> None:
        """``idle`` are the connections without a request, in the order in which they became so."""
        super().__init__(**of)
        self._limits = limits
        self._idle = idle
        self._log = log
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start waiting for a request, in the place of the oldest idle connection if need be."""
        super().connection_made(transport)
        self._idle[self] = None
        self._deadline = self.loop.call_later(self._limits.header_s, self.evict)
        if len(self.connections) > self._limits.connections:
            next(iter(self._idle)).evict()  # this one, when all others are at work
            self._log.write_throttled("connections", "idle_closed")

    def data_received(self, data: bytes) -> None:
        """Process received data. The time limit of a head starts with its first byte."""
        if self._deadline is None and not self._at_work:
            self._deadline = self.loop.call_later(self._limits.header_s, self.evict)
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        """Become idle, unless the next request has already arrived."""
        super().on_response_complete()
        self._note()

    def pause_writing(self) -> None:
        """Start the time limit for the client to read the response."""
        super().pause_writing()
        self._unread = self.loop.call_later(self._limits.send_s, self.evict)

    def resume_writing(self) -> None:
        """Stop that time limit."""
        super().resume_writing()
        _stop(self._unread)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release everything that is held for the connection."""
        _stop(self._deadline, self._unread)
        self._idle.pop(self, None)
        super().connection_lost(exc)

    def evict(self) -> None:
        """Close at once, discarding unsent data."""
        self._idle.pop(self, None)
        self.transport.abort()

    @property
    def _at_work(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _note(self) -> None:
        if self._at_work:
            _stop(self._deadline)
            self._deadline = None
            self._idle.pop(self, None)
        elif self.cycle is not None and self._deadline is None and not self.transport.is_closing():
            self._idle[self] = None


def _stop(*timers: asyncio.TimerHandle | None) -> None:
    for timer in timers:
        if timer is not None:
            timer.cancel()


class Server(uvicorn.Server):
    """uvicorn with our log and limits, and an ordinary return after a signal."""

    def __init__(self, app: Any, options: ServiceOptions, log: Log) -> None:
        redirect(log, "uvicorn.error", "mcp")
        most = connections_of(raise_descriptor_limit(), options.limits.connections)
        limits = options.limits._replace(connections=most)
        http: Any = partial(Connection, limits=limits, idle={}, log=log)
        config = uvicorn.Config(
            app,
            http=http,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=bool(options.trusted_proxies),
            forwarded_allow_ips=list(options.trusted_proxies),
            workers=1,  # without it, uvicorn parses WEB_CONCURRENCY
            backlog=BACKLOG,
            timeout_graceful_shutdown=max(1, round(options.limits.drain_s)),
            h11_max_incomplete_event_size=HEAD_BYTES,
        )
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop serving on signals, without raising them again afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in ENDING}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
