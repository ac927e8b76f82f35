"""Standard input and output as the server speaks them: no line without an end, none unanswered.

The SDK's own transport reads a line whole before anybody looks at its size, drops one that is no
JSON-RPC without a word, and crosses into a thread and back for every line in and twice for every
line out. Here a line beyond the limit is dropped while it is read and answered as one that is no
JSON, and pipes and sockets are read and written by the event loop itself as they become ready.

What a loop cannot wait for (a file, a terminal, anything on Windows) is read by a thread of its
own, from the descriptor itself: it may wait in a read for ever, and must neither keep the process
from ending nor hold a lock that its end needs.
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
"""What stands for a dropped line: no JSON-RPC message, so the client hears of a parse error."""
PIECE = 65_536


class Lines:
    """The lines of a descriptor as text; what is not UTF-8 is replaced. Iterate once."""

    def __init__(self, descriptor: int, longest: int) -> None:
        self._descriptor = descriptor
        self._longest = longest

    def __aiter__(self) -> AsyncIterator[str]:
        return self._when_ready() if loop_can_wait(self._descriptor) else self._by_thread()

    async def _when_ready(self) -> AsyncIterator[str]:
        """Yield lines as they come; nothing is read while those that are held make a piece."""
        loop = asyncio.get_running_loop()
        assembly = _Assembly(self._longest)
        held: deque[str] = deque()
        more = True
        while more or held:
            if held:
                yield held.popleft()
                continue
            await _ready(loop.add_reader, loop.remove_reader, self._descriptor)
            piece = _piece(self._descriptor)
            more = bool(piece)
            held.extend(assembly.lines(piece) if more else assembly.rest())

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
        except (RuntimeError, asyncio.CancelledError):  # the loop has ended: nobody reads any more
            return


class _Assembly:
    """Lines out of pieces; at most one line beyond the piece is held."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._held = bytearray()
        self._dropping = False

    def lines(self, piece: bytes) -> list[str]:
        """Return the lines that a piece completes, without their ends."""
        first, *others = piece.split(b"\n")
        complete = []
        self._held += first
        for other in others:
            long = self._dropping or len(self._held) > self._longest
            complete.append(TOO_LONG if long else self._held.decode("utf-8", "replace"))
            self._held = bytearray(other)
            self._dropping = False
        if len(self._held) > self._longest:
            self._dropping = True
            self._held.clear()
        return complete

    def rest(self) -> list[str]:
        """Return the line that nothing ends, where there is one."""
        whole = self._held and not self._dropping
        return [self._held.decode("utf-8", "replace")] if whole else []


def lines_of(descriptor: int, longest: int) -> Iterator[str]:
    """Yield the lines of a descriptor to its end, without their ends; at most a line is held."""
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
    """Wait until the loop says that a descriptor is ready."""
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
    """A descriptor as the SDK's transport writes to it: one writer, whole lines, in order."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waits = loop_can_wait(descriptor)
        self._socket: socket.socket | None = None
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            self._socket = socket.socket(fileno=os.dup(descriptor))

    async def write(self, text: str) -> None:
        """Write all of a text. Raises BrokenPipeError where nobody reads any more."""
        rest = memoryview(text.encode("utf-8"))
        if not self._waits:
            await anyio.to_thread.run_sync(_write_all, self._descriptor, rest)
            return
        loop = asyncio.get_running_loop()
        while rest := rest[self._taken(rest) :]:
            await _ready(loop.add_writer, loop.remove_writer, self._descriptor)

    def _taken(self, data: memoryview) -> int:
        """Write what there is room for, without waiting; return how many bytes that was."""
        if self._socket is not None:
            return send_now(self._socket, data)
        # The descriptor itself may be one that the client shares, so it is not made one that
        # never waits: what there is room for is asked before.
        done = 0
        while done < len(data) and (room := pipe_room(self._descriptor)):
            done += os.write(self._descriptor, data[done : done + room])
        return done

    async def flush(self) -> None:
        """Do nothing: what was written has left."""

    def close(self) -> None:
        """Let go of what this object opened; the descriptor stays its owner's."""
        if self._socket is not None:
            self._socket.close()


def _write_all(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


@contextmanager
def own_output() -> Iterator[Output]:
    """Give standard output; meanwhile whatever else is printed goes to standard error."""
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
    """The stream of messages without what is none, which is answered here.

    The SDK drops a line that is no JSON-RPC without a word, and its sender waits. JSON-RPC has an
    error for it, with the id where one can be told.
    """

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:
        """The context in which the newest message was sent, which the SDK asks for."""
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
