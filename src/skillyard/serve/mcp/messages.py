"""Builds JSON-RPC errors, with the request's id, for messages that are not valid Unicode.

JSON's grammar allows unpaired surrogates in strings (U+D800), which cannot be encoded (RFC 8259,
section 8.2). The SDK's parser refuses such a message as a whole and responds without an id, so that
the client waits for ever.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape that may be an unpaired surrogate; clients that write ASCII send valid pairs."""


def refusal_of_surrogates(body: bytes) -> JSONRPCError | None:
    """Return the error for a message with an unpaired surrogate; None for other messages."""
    if _SURROGATE.search(body) is None:
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None  # the next parser reports the error
    return None if _is_text(message) else _refusal(message)


def refusal_of(line: str) -> JSONRPCError:
    """Return the error for a line that the SDK's parser refused as JSON."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "the line is not JSON of a moderate size")
    return _refusal(message)


def _refusal(message: Any) -> JSONRPCError:
    request_id = message.get("id") if isinstance(message, dict) else None
    known = (
        isinstance(request_id, str | int)
        and not isinstance(request_id, bool)
        and _is_text(request_id)
    )
    number = request_id if known else None
    if not _is_text(message):
        message_text = "the message contains half a character, a surrogate without its other half"
        return _error(number, INVALID_PARAMS, message_text)
    return _error(number, INVALID_REQUEST, "the message is nested too deeply, or a number too long")


def _is_text(value: Any) -> bool:
    """True when every string of a JSON value can be encoded."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _error(number: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=message))
