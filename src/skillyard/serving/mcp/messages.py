"""A message that cannot be read as Unicode text → the JSON-RPC error that answers it, with its id.

JSON's grammar lets a string hold half of a surrogate pair (U+D800), which is no text and cannot be
encoded (RFC 8259, section 8.2). The SDK's parser refuses the whole message for it, and
answers without an id, so that the client waits for an answer which never comes.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mcp_types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

__all__ = ["refusal_of", "refusal_of_surrogates"]

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape that may be half a character; clients that write ASCII send whole pairs of them."""


def refusal_of_surrogates(body: bytes) -> JSONRPCError | None:
    """Return the answer to a message with half a character in it; None for any other message."""
    if _SURROGATE.search(body) is None:
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None  # whoever parses it next says what is wrong
    return None if _is_text(message) else _refusal(message)


def refusal_of(line: str) -> JSONRPCError:
    """Return the answer to a line that the SDK's parser has refused as JSON."""
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
