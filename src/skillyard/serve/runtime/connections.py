"""Accepts connections while there is room, and closes those that stay unused.

asyncio's own server accepts without a limit, and when the process has no descriptor left it logs
two thousand tracebacks per second. Here connections are accepted one by one.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from skillyard.serve.runtime.clients import Proxies
from skillyard.serve.runtime.encoding import JSON, SAFE_HEADERS, json_bytes
from skillyard.serve.runtime.errors import Refused
from skillyard.serve.runtime.guards import HEAD_BYTES, head_too_large
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.options import ServiceLimits
from skillyard.serve.runtime.slots import SlotTable

ACCEPT_BATCH = 32
"""Number of connections accepted before the loop runs other tasks."""
PAUSE_S = 0.5
"""Pause in seconds after the system refused a connection, while idle ones are closed."""
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

OTHER_FILES = 4
"""One descriptor in this many is reserved for files, databases and remotes."""
LEAST_OTHER_FILES = 64
"""Minimum number of reserved descriptors: each thread and each remote has a few."""
LEAST = 16
"""Minimum number of connections to serve anything."""


def connections_of(descriptors: int, most: int) -> int:
    """Return the number of connections for this many descriptors, at most ``most``."""
    others = max(LEAST_OTHER_FILES, descriptors // OTHER_FILES)
    return min(most, max(LEAST, descriptors - others))


class Connection(H11Protocol):
    """uvicorn's connection, with time limits for sending requests and reading responses.

    It always uses h11, which limits the size of a request's head.
    """

    def __init__(
        self, *, limits: ServiceLimits, table: SlotTable[Connection], client: str, **of: Any
    ) -> None:
        super().__init__(**of)
        self._limits = limits
        self._table = table
        self._client_name = client
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start waiting for a request."""
        super().connection_made(transport)
        self._table.add(self, self._client_name)
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """Process received data. The time limit of a head starts with its first byte."""
        if self._deadline is None and not self._at_work:
            self._wait_for_request()
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
        self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Release everything that is held for the connection."""
        _stop(self._deadline)
        self._deadline = None
        _stop(self._unread)
        self._unread = None
        self._table.remove(self)
        super().connection_lost(exc)

    def evict(self) -> None:
        """Close at once, discarding unsent data."""
        if self.transport is not None:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Respond to invalid or endless HTTP like to any other refused request."""
        if not self._at_work:
            long = len(self.conn.trailing_data[0]) > HEAD_BYTES
            self.transport.write(_answer(head_too_large() if long else _no_http()))
        elif not self.cycle.response_started:  # the body is invalid
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self.transport.write(_answer(_no_http()))
        self.transport.close()

    @property
    def _at_work(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _note(self) -> None:
        if self._at_work:
            _stop(self._deadline)
            self._deadline = None
            self._table.set_busy(self)
        elif self.cycle is not None and self._deadline is None:
            self._table.set_idle(self)

    def _wait_for_request(self) -> None:
        self._deadline = self.loop.call_later(self._limits.header_s, self._too_slow)

    def _too_slow(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()


def _no_http() -> Refused:
    return Refused(400, "no_http", "what came is not an HTTP/1.1 request")


def _answer(refused: Refused) -> bytes:
    """Return the bytes of a refusal for invalid HTTP."""
    body = json_bytes(refused.to_dict())
    headers = {**SAFE_HEADERS, "content-type": JSON, "content-length": str(len(body))}
    head = [f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}"]
    head += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*head, "connection: close", "", ""]).encode("ascii") + body


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class Acceptor:
    """Accepts the connections of one listening socket; uvicorn treats it as one of its servers."""

    def __init__(
        self,
        sock: socket.socket,
        new_connection: Callable[[str], Connection],
        table: SlotTable[Connection],
        proxies: Proxies,
        log: Log,
    ) -> None:
        """Start accepting. ``new_connection`` returns the protocol object of a client."""
        sock.setblocking(False)
        self._sock = sock
        self._new_connection = new_connection
        self._table = table
        self._proxies = proxies
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[None]] = set()
        self._task = self._loop.create_task(self._accept())

    def is_serving(self) -> bool:
        """True until it is closed."""
        return not self._task.done()

    def close(self) -> None:
        """Stop accepting."""
        self._task.cancel()

    async def wait_closed(self) -> None:
        """Wait until accepting has stopped."""
        await asyncio.wait({self._task, *self._opening})

    async def _accept(self) -> None:
        count = 0
        while True:
            await self._table.wait_for_room()
            try:
                conn, address = await self._loop.sock_accept(self._sock)
                await self._admit(conn, self._proxies.client_of_connection(str(address[0])))
            except OSError as error:
                await self._resume_accepting(error)
            except Exception as error:  # noqa: BLE001 - one connection never ends the service
                self._log.write_failure(error)
            count += 1
            if count % ACCEPT_BATCH == 0:  # accepting pending connections does not yield
                await asyncio.sleep(0)

    async def _resume_accepting(self, error: OSError) -> None:
        """Continue after a failed accept; pause when the next one would fail too."""
        if error.errno not in EXHAUSTED:
            return  # it was closed before it was accepted
        self._log.write_throttled("connections", "no_descriptor", error=str(error.strerror))
        victim = self._table.evict()
        if victim is not None:
            victim.evict()
        await asyncio.sleep(PAUSE_S if victim is None else 0)

    async def _admit(self, conn: socket.socket, client: str) -> None:
        admitted, victim = self._table.admit(client)
        if not admitted and self._opening:  # they become idle once they are established
            await asyncio.wait(self._opening)
            admitted, victim = self._table.admit(client)
        if victim is not None:
            victim.evict()
            self._log.write_throttled("connections", "idle_closed", client=client)
        if not admitted:
            conn.close()
            self._log.write_throttled("connections", "client_refused", client=client)
            return
        task = self._loop.create_task(self._open(conn, client))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, conn: socket.socket, client: str) -> None:
        connection = self._new_connection(client)
        try:
            conn.setblocking(False)
            await self._loop.connect_accepted_socket(lambda: connection, conn)
        except OSError:  # the client has gone
            conn.close()
        finally:
            if connection.transport is None:  # it was never established
                self._table.drop(client)
