"""Clients of the service in one process: bare protocols over asyncio, which cost least.

A kept connection is not used again after four idle seconds, as every pool of connections does: the
server closes its idle ones after five.
"""

from __future__ import annotations

import asyncio
import re
import time
from typing import NamedTuple

from benchmarks.requests import Hostile

__all__ = ["HONEST", "Answer", "Client", "attack", "idle"]

HONEST = "127.0.0.1"

STALE_S = 4.0
ANSWER_S = 30.0
"""How long a client waits before it counts its connection as dropped."""
SLOW_S = 2.0
"""How long a hostile client keeps a request open that it never ends."""

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CLOSE = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)


class Answer(NamedTuple):
    """What came back."""

    status: int
    """0 where the connection ended before the whole answer was there."""
    seconds: float
    size: int = 0


class _Reader(asyncio.Protocol):
    """Reads one answer at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.open = False
        self._data = bytearray()
        self._waiting: asyncio.Future[tuple[int, int]] | None = None
        self._whole = 0
        self.last = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self.open = True

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._whole:
            gap = self._data.find(b"\r\n\r\n")
            if gap < 0:
                return
            head = bytes(self._data[: gap + 2])
            match = _LENGTH.search(head)
            self._whole = gap + 4 + (int(match[1]) if match else 0)
            if _CLOSE.search(head):
                self.open = False
        if len(self._data) >= self._whole:
            self._finish((int(self._data[9:12]), self._whole))

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        self._finish((0, 0))

    def _finish(self, answer: tuple[int, int]) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(answer)

    async def ask(self, request: bytes) -> tuple[int, int]:
        """Return status and size of the answer; status 0 where none came."""
        assert self.transport is not None
        self._data.clear()
        self._whole = 0
        self._waiting = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._waiting
        except TimeoutError:
            self.open = False
            return 0, 0
        finally:
            self.last = time.perf_counter()


class Client:
    """One client with its connection, opened when it is needed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._reader: _Reader | None = None
        self.connections = 0

    async def ask(self, request: bytes, since: float | None = None) -> Answer:
        """Return the answer and how long it took, from ``since`` where the wait began earlier."""
        start = time.perf_counter() if since is None else since
        try:
            reader = await self._connected()
        except OSError:
            return Answer(0, time.perf_counter() - start)
        status, size = await reader.ask(request)
        return Answer(status, time.perf_counter() - start, size)

    async def _connected(self) -> _Reader:
        reader = self._reader
        if reader is not None and reader.open and time.perf_counter() - reader.last < STALE_S:
            return reader
        self.close()
        self._reader = await _opened(self._port)
        self.connections += 1
        return self._reader

    def close(self) -> None:
        """End the connection."""
        if self._reader is not None and self._reader.transport is not None:
            self._reader.transport.abort()
        self._reader = None


async def _opened(port: int, address: str = HONEST) -> _Reader:
    loop = asyncio.get_running_loop()
    _, reader = await loop.create_connection(
        _Reader, "127.0.0.1", port, local_addr=(address, 0) if address != HONEST else None
    )
    return reader


async def idle(port: int, address: str, data: bytes, end: float) -> int:
    """Hold a connection that says no more than ``said``, again when it was closed; count them."""
    opened = 0
    while time.perf_counter() < end:
        try:
            reader = await _opened(port, address)
        except OSError:
            await asyncio.sleep(0.1)
            continue
        opened += 1
        assert reader.transport is not None
        reader.transport.write(data)
        while reader.open and time.perf_counter() < end:
            await asyncio.sleep(0.1)
        reader.transport.abort()
    return opened


async def attack(port: int, one: Hostile, address: str = HONEST) -> Answer:
    """Send a hostile request over a connection of its own."""
    start = time.perf_counter()
    reader = None
    try:
        reader = await _opened(port, address)
        if one.expected:
            status, size = await reader.ask(one.data)
            return Answer(status, time.perf_counter() - start, size)
        assert reader.transport is not None
        reader.transport.write(one.data)
        await asyncio.sleep(SLOW_S if "slow" in one.name else 0)
        return Answer(-1, time.perf_counter() - start)
    except OSError:
        return Answer(0, time.perf_counter() - start)
    finally:
        if reader is not None and reader.transport is not None:
            reader.transport.abort()
