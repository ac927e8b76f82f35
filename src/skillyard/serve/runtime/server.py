"""The socket, uvicorn with our limits, and a shutdown that lets running requests finish."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from skillyard.base.errors import InvalidInput
from skillyard.base.io.descriptors import raise_descriptor_limit
from skillyard.base.io.signals import ENDING
from skillyard.base.io.sockets import own_address
from skillyard.serve.runtime.clients import Proxies
from skillyard.serve.runtime.connections import Acceptor, Connection, connections_of
from skillyard.serve.runtime.guards import HEAD_BYTES
from skillyard.serve.runtime.logging import Log, redirect
from skillyard.serve.runtime.options import ServiceOptions
from skillyard.serve.runtime.slots import SlotTable

BACKLOG = 2_048


def announce(log: Log, sock: socket.socket, options: ServiceOptions, path: str = "") -> None:
    """Log the address for clients and the served library."""
    host, port = sock.getsockname()[:2]
    address = f"[{host}]" if ":" in host else host
    url = f"http://{address}:{port}{path}"
    log.write("listening", url=url, library=library_of(options), token=bool(options.token))


def library_of(options: ServiceOptions) -> str:
    """Return the served library as text: the store's address, or the folders."""
    return options.store or ", ".join(options.roots)


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
    if error.errno == errno.EACCES:
        return f"this user may not listen on port {port} of {host}; choose a port from 1024 up"
    return f"cannot listen on {host} port {port}: {error.strerror or error}"


def server_config(app: Any, options: ServiceOptions) -> uvicorn.Config:
    """Return uvicorn's configuration for one of our applications: our log and limits."""
    return uvicorn.Config(
        app,
        http=H11Protocol,  # Server creates each connection with further arguments
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        workers=1,  # without it, uvicorn parses WEB_CONCURRENCY
        timeout_graceful_shutdown=max(1, round(options.limits.drain_s)),
        h11_max_incomplete_event_size=HEAD_BYTES,
    )


class Server(uvicorn.Server):
    """uvicorn with our log and time limits, and an ordinary return after a signal."""

    def __init__(self, app: Any, options: ServiceOptions, log: Log) -> None:
        redirect(log, "uvicorn.error", "mcp")
        super().__init__(server_config(app, options))
        self._limits = options.limits
        self._proxies = Proxies(options.trusted_proxies)
        self._log = log

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, then accept connections."""
        await super().startup(sockets=[])
        most = connections_of(raise_descriptor_limit(), self._limits.connections)
        table: SlotTable[Connection] = SlotTable(most)

        def new_connection(client: str) -> Connection:
            return Connection(
                limits=self._limits,
                table=table,
                client=client,
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
                _loop=asyncio.get_running_loop(),
            )

        acceptors: list[Any] = [
            Acceptor(each, new_connection, table, self._proxies, self._log)
            for each in sockets or ()
        ]
        self.servers = acceptors

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
