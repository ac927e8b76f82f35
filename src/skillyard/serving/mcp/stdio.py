"""Standard input and output of the server: bounded lines, and a response to every line.

The SDK's own transport reads a whole line before its size is checked, silently drops a line that is
not JSON-RPC, and switches threads for every line. Here a line beyond the limit is dropped while it
is read and answered with a parse error, and the event loop reads and writes pipes and sockets as
they become ready. Descriptors that the loop cannot wait for (a file, a terminal, anything on
Windows) are read in a thread of their own with raw reads, because a blocked read must neither
prevent the process from ending nor hold a lock that the shutdown needs.
"""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError
from pydantic import ValidationError

from skillyard.io.pipes import copy_of, loop_can_wait, pipe_room, send_now
from skillyard.serving.mcp.messages import refusal_of

__all__ = ["Answering", "Lines", "Output", "lines_of", "own_output"]

TOO_LONG = "\0"
"""Replaces a dropped line: not a JSON-RPC message, so the client gets a parse error."""
PIECE = 65_536


class Lines:
    """The lines of a descriptor as text; invalid UTF-8 is replaced. Iterate once."""

    def __init__(self, descriptor: int, longest: int) -> None:
        self._descriptor = descriptor
        self._longest = longest

    def __aiter__(self) -> AsyncIterator[str]:
        return self._when_ready() if loop_can_wait(self._descriptor) else self._by_thread()

    async def _when_ready(self) -> AsyncIterator[str]:
        """Yield lines as they arrive. Nothing is read while a piece of unread lines is buffered."""
        loop = asyncio.get_running_loop()
        assembly = _Assembly(self._longest)
        lines: deque[str] = deque()
        more = True
        while more or lines:
            if lines:
                yield lines.popleft()
                continue
            await _ready(loop.add_reader, loop.remove_reader, self._descriptor)
            piece = _piece(self._descriptor)
            more = bool(piece)
            lines.extend(assembly.lines(piece) if more else assembly.rest())

    async def _by_thread(self) -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[str | None] = asyncio.Queue(1)
        Thread(target=self._read, args=(loop, queue), name="skillyard-stdin", daemon=True).start()
        while (line := await queue.get()) is not None:
            yield line

    def _read(self, loop: asyncio.AbstractEventLoop, queue: asyncio.Queue[str | None]) -> None:
        try:
            for line in lines_of(self._descriptor, self._longest):
                asyncio.run_coroutine_threadsafe(queue.put(line), loop).result()
            asyncio.run_coroutine_threadsafe(queue.put(None), loop).result()
        except (RuntimeError, asyncio.CancelledError):  # the loop has ended
            return


class _Assembly:
    """Assembles lines from pieces; buffers at most one line besides the piece."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._line = bytearray()
        self._dropping = False

    def lines(self, piece: bytes) -> list[str]:
        """Return the lines that a piece completes, without their ends."""
        first, *others = piece.split(b"\n")
        complete = []
        self._line += first
        for other in others:
            long = self._dropping or len(self._line) > self._longest
            complete.append(TOO_LONG if long else self._line.decode("utf-8", "replace"))
            self._line = bytearray(other)
            self._dropping = False
        if len(self._line) > self._longest:
            self._dropping = True
            self._line.clear()
        return complete

    def rest(self) -> list[str]:
        """Return the unterminated last line, if any."""
        whole = self._line and not self._dropping
        return [self._line.decode("utf-8", "replace")] if whole else []


def lines_of(descriptor: int, longest: int) -> Iterator[str]:
    """Yield the lines of a descriptor until its end, without line ends; buffers one line."""
    assembly = _Assembly(longest)
    while piece := _piece(descriptor):
        yield from assembly.lines(piece)
    yield from assembly.rest()


def _piece(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, PIECE)
    except OSError:
        return b""


async def _ready(add: Callable[..., None], remove: Callable[[int], bool], descriptor: int) -> None:
    """Wait until the loop reports that a descriptor is ready."""
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def tell() -> None:
        if not ready.done():
            ready.set_result(None)

    add(descriptor, tell)
    try:
        await ready
    finally:
        remove(descriptor)


class Output:
    """A descriptor for the SDK's transport: one writer, whole lines, in order."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waits = loop_can_wait(descriptor)
        self._socket: socket.socket | None = None
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            self._socket = socket.socket(fileno=os.dup(descriptor))

    async def write(self, text: str) -> None:
        """Write the whole text. Raises BrokenPipeError when nobody reads any more."""
        rest = memoryview(text.encode("utf-8"))
        if not self._waits:
            await anyio.to_thread.run_sync(_write_all, self._descriptor, rest)
            return
        loop = asyncio.get_running_loop()
        while rest := rest[self._write_available(rest) :]:
            await _ready(loop.add_writer, loop.remove_writer, self._descriptor)

    def _write_available(self, data: memoryview) -> int:
        """Write as much as possible without blocking; return the number of bytes."""
        if self._socket is not None:
            return send_now(self._socket, data)
        # The descriptor may be shared with the client, so it is not made non-blocking. Instead
        # the free space is queried first.
        written = 0
        while written < len(data) and (room := pipe_room(self._descriptor)):
            written += os.write(self._descriptor, data[written : written + room])
        return written

    async def flush(self) -> None:
        """Do nothing: writes are not buffered."""

    def close(self) -> None:
        """Close what this object opened; the descriptor stays open."""
        if self._socket is not None:
            self._socket.close()


def _write_all(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


@contextmanager
def own_output() -> Iterator[Output]:
    """Yield standard output; meanwhile everything else that is printed goes to standard error."""
    sys.stdout.flush()
    stdout_copy = copy_of(1)
    os.dup2(2, 1)
    output = Output(stdout_copy)
    try:
        yield output
    finally:
        output.close()
        os.dup2(stdout_copy, 1)
        os.close(stdout_copy)


class Answering:
    """The stream of valid messages; invalid ones are answered here.

    The SDK silently drops a line that is not JSON-RPC, and its sender waits. This class sends the
    JSON-RPC error, with the id if it is known.
    """

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:
        """The context of the newest message, which the SDK reads."""
        return self._incoming.last_context

    def __aiter__(self) -> Answering:
        return self

    async def __anext__(self) -> SessionMessage:
        while isinstance(item := await anext(self._incoming), Exception):
            try:
                await self._outgoing.send(SessionMessage(_refusal(item)))
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                raise StopAsyncIteration from None  # the client has gone
        message: SessionMessage = item
        return message

    async def aclose(self) -> None:
        """Take no more."""
        await self._incoming.aclose()


def _refusal(error: Exception) -> JSONRPCError:
    errors = error.errors() if isinstance(error, ValidationError) else []
    if all(each["type"] == "json_invalid" for each in errors):
        return refusal_of(str(errors[0]["input"]) if errors else "")
    failure = ErrorData(code=INVALID_REQUEST, message="the line is no JSON-RPC message")
    return JSONRPCError(jsonrpc="2.0", id=None, error=failure)
