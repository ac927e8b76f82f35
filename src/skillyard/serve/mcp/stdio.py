"""Runs the server over standard input and output, and answers what the SDK does not.

Without these answers the sender would wait for ever. Over stdio the SDK drops a line that is no
message, and requests in progress when the input ends. Over HTTP it refuses one with half a
character (an unpaired surrogate such as U+D800, which JSON's grammar allows and RFC 8259, section
8.2, calls unpredictable) without the id of the request. ``tests/serve/mcp/test_half_characters.py``
and ``test_stdio.py`` fail with the SDK alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError

from skillyard.base.io.platforms import on_signals
from skillyard.serve.mcp.server import SkillServer
from skillyard.serve.runtime.app_context import AppContext
from skillyard.serve.runtime.logging import STDIO, Log, redirect
from skillyard.serve.runtime.options import ServiceOptions


def serve_stdio(options: ServiceOptions | None = None) -> None:
    """Serve one client on standard input until it closes, or until SIGTERM or SIGINT.

    Only JSON-RPC is written to standard output; the log goes to standard error. Raises
    InvalidSkillsRoot for a root that is not a folder, and SkillyardError for invalid settings.
    """
    options = options or ServiceOptions()
    options.check_roots()
    log = Log(options.log_format)
    redirect(log, "mcp")
    context = AppContext(options, (), log, show_folders=True)
    log.write("listening", url=STDIO, library=options.library, token=False)
    anyio.run(_stdio, context)


async def _stdio(context: AppContext) -> None:
    try:
        await _serve_stdio(context)
    except* (BrokenPipeError, anyio.BrokenResourceError):
        pass  # the client is gone
    finally:
        await context.close()


async def _serve_stdio(context: AppContext) -> None:
    server = SkillServer(context)
    # A thread of the SDK waits for input and cannot be cancelled, so a signal ends the process.
    with on_signals(partial(os._exit, 0)):
        async with stdio_server() as (incoming, outgoing):
            replies: Any = _Replies(outgoing)
            messages: Any = answered(incoming, replies)
            await server.run(messages, replies, server.create_initialization_options())


LAST_S = 5.0
"""Seconds in which one of the requests in progress must end after the input has."""
ENDLESS = "subscriptions/listen"
"""The request that lasts as long as its client."""


class _Replies(AbstractAsyncContextManager[Any]):
    """The SDK's stream of replies, which knows the requests that have none yet.

    When the input ends, the SDK cancels these (``JSONRPCDispatcher.run``, its issue 2678): of
    requests that come from a file it drops the last ones.
    """

    def __init__(self, stream: Any) -> None:
        self._stream, self.aclose = stream, stream.aclose
        self._in_progress: list[Any] = []
        """Their ids; a careless client gives several one id."""
        self._ended = anyio.Event()

    def expect(self, item: SessionMessage) -> SessionMessage:
        """Return the message. A request is in progress until it is answered or cancelled."""
        request = item.message
        if not isinstance(request, types.JSONRPCRequest) or request.method == ENDLESS:
            return item
        self._in_progress.append(request.id)
        metadata = ServerMessageMetadata(on_request_unanswered=partial(self._end, request.id))
        return SessionMessage(request, metadata)

    async def _end(self, request_id: Any) -> None:
        if request_id in self._in_progress:
            self._in_progress.remove(request_id)
            self._ended.set()

    async def drain(self) -> None:
        """Wait for the requests in progress, while one after another ends."""
        is_late = False
        while self._in_progress and not is_late:
            self._ended = anyio.Event()
            with anyio.move_on_after(LAST_S) as scope:
                await self._ended.wait()
            is_late = scope.cancelled_caught

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        await self._stream.send(item)
        await self._end(getattr(item.message, "id", None))

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape that may be an unpaired surrogate; clients that write ASCII send valid pairs."""


async def answered(incoming: Any, outgoing: _Replies) -> AsyncIterator[SessionMessage]:
    """Yield the messages of a stream of the SDK, and answer those that are none."""
    async with incoming:
        async for item in incoming:
            if not isinstance(item, Exception):
                yield outgoing.expect(item)
                continue
            errors = item.errors() if isinstance(item, ValidationError) else []
            if all(each["type"] == "json_invalid" for each in errors):
                refusal = refusal_of(str(errors[0]["input"]) if errors else "")
            else:
                refusal = _error(None, types.INVALID_REQUEST, "the line is no JSON-RPC message")
            try:
                await outgoing.send(SessionMessage(refusal))
            except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                return  # the client has gone
        await outgoing.drain()


def refusal_of_surrogates(body: bytes) -> types.JSONRPCError | None:
    """Return the error for a message with an unpaired surrogate; None for other messages."""
    if _SURROGATE.search(body) is None:
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None  # the next parser reports the error
    return None if _is_text(message) else refusal_of(body)


def refusal_of(line: str | bytes) -> types.JSONRPCError:
    """Return the error for a text that the SDK's parser refused as JSON, with its id if known."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, types.PARSE_ERROR, "the line is not JSON of a moderate size")
    given = message.get("id") if isinstance(message, dict) else None
    request_id = given if type(given) in (str, int) and _is_text(given) else None
    if _is_text(message):
        why = "the message is nested too deeply, or a number too long"
        return _error(request_id, types.INVALID_REQUEST, why)
    why = "the message contains half a character, a surrogate without its other half"
    return _error(request_id, types.INVALID_PARAMS, why)


def _is_text(value: Any) -> bool:
    """True when every string of a JSON value can be encoded."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _error(number: str | int | None, code: int, message: str) -> types.JSONRPCError:
    error = types.ErrorData(code=code, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)
