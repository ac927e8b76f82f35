"""Standard input as lines of a bounded length, for the SDK's stdio transport.

The SDK reads whole lines however long they are. A client on this machine is trusted with much,
but not with the memory of the server: a line beyond the limit is dropped while it is read, and
answered as one that is no JSON.

A thread of its own reads, from the descriptor itself: it may wait in a read for ever, and must
neither keep the process from ending nor hold a lock that its end needs.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from threading import Thread
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

__all__ = ["Lines", "answering", "lines_of"]

TOO_LONG = "\0"
"""What stands for a dropped line: no JSON-RPC message, so the client hears of a parse error."""
PIECE = 65_536


class Lines:
    """The lines of a descriptor as text; what is not UTF-8 is replaced. Iterate once."""

    def __init__(self, descriptor: int, longest: int) -> None:
        self._descriptor = descriptor
        self._longest = longest

    async def __aiter__(self) -> AsyncIterator[str]:
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


def lines_of(descriptor: int, longest: int) -> Iterator[str]:
    """Yield the lines of a descriptor to its end, without their ends; at most a line is held."""
    held = bytearray()
    dropping = False
    while piece := _piece(descriptor):
        first, *others = piece.split(b"\n")
        held += first
        for other in others:
            yield TOO_LONG if dropping or len(held) > longest else held.decode("utf-8", "replace")
            held = bytearray(other)
            dropping = False
        if len(held) > longest:
            dropping = True
            held.clear()
    if held and not dropping:
        yield held.decode("utf-8", "replace")


def _piece(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, PIECE)
    except OSError:
        return b""


@asynccontextmanager
async def answering(incoming: Any, outgoing: Any) -> AsyncIterator[Any]:
    """Give the stream of messages without what is none, which is answered here.

    The SDK drops a line that is no JSON-RPC without a word, and its sender waits. JSON-RPC has an
    error for it, without an id since none can be told.
    """
    send, receive = anyio.create_memory_object_stream[SessionMessage](0)

    async def relay() -> None:
        async with send:
            async for item in incoming:
                if isinstance(item, Exception):
                    await outgoing.send(SessionMessage(_refusal(item)))
                else:
                    await send.send(item)

    try:
        async with receive, anyio.create_task_group() as tasks:
            tasks.start_soon(_until_closed, relay)
            yield receive
            tasks.cancel_scope.cancel()
    finally:
        await incoming.aclose()


async def _until_closed(relay: Any) -> None:
    try:
        await relay()
    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
        return  # the server has ended


def _refusal(error: Exception) -> JSONRPCError:
    told = error.errors(include_input=False) if isinstance(error, ValidationError) else []
    if all(each["type"] == "json_invalid" for each in told):
        failure = ErrorData(code=PARSE_ERROR, message="the line is not JSON of a moderate size")
    else:
        failure = ErrorData(code=INVALID_REQUEST, message="the line is no JSON-RPC message")
    return JSONRPCError(jsonrpc="2.0", id=None, error=failure)
