"""A response to every line of standard input, also to one that is not a message."""

from __future__ import annotations

from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError
from pydantic import ValidationError

from skillyard.serve.mcp.messages import refusal_of


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
