"""The output of a tool, and its errors.

An error is a failed tool result for a model, or a JSON-RPC error for a program. No message contains
a traceback or a path of this machine.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from skillyard.base.errors import ResourceRefused, SkillyardError
from skillyard.base.text import clean_line, shorten
from skillyard.serve.runtime.errors import Refused, refusal_of
from skillyard.serve.runtime.logging import Log, cause_of

CURSOR_CHARS = 4_000


class Answer(NamedTuple):
    """The result of a tool."""

    text: str
    """For a model."""
    structured: dict[str, Any]
    """The same as JSON, for a program."""


def cursor_of(last: str) -> str:
    """Return the cursor of the page after an item. Opaque to clients."""
    return base64.urlsafe_b64encode(f"after {last}".encode()).decode("ascii")


def place_in(cursor: str | None) -> str | None:
    """Return the item before a page; None for the first page. Raises Refused."""
    if cursor is None:
        return None
    try:
        word, _, last = base64.b64decode(cursor, b"-_", validate=True).decode().partition(" ")
    except ValueError:
        word, last = "", ""
    if word != "after" or len(cursor) > CURSOR_CHARS:
        raise Refused(400, "bad_cursor", "cursor: not a cursor of this server")
    return last


MESSAGE_CHARS = 2_000
BUSY = -32_000
"""The first JSON-RPC code for servers: the service is overloaded, or has no catalog."""


def failure_of(error: Exception) -> Refused | None:
    """Return the refusal that a model or a program reads; None for internal errors."""
    if isinstance(error, ResourceRefused):
        refused = Refused(400, "resource_refused", error.message, hint=error.hint)
    elif isinstance(error, Refused):
        refused = error
    elif isinstance(error, SkillyardError):
        refused = refusal_of(error)
    else:
        return None
    if refused.status == 500:
        return None
    code = "invalid_argument" if refused.code == "invalid_field" else refused.code
    hint = refused.hint
    if refused.code == "ambiguous_name":
        hint = "ask for one of the ids: " + ", ".join(map(str, refused.extra.get("near", ())))
    elif refused.code == "skill_not_found" and not refused.extra.get("near"):
        hint = "search_skills finds the skills of this library by words"
    elif hint.startswith(("/docs", "GET ")):  # hints for users of the HTTP routes
        hint = ""
    message = f"{refused.message}; {hint}" if hint else refused.message
    return Refused(refused.status, code, shorten(clean_line(message), MESSAGE_CHARS))


def log_failure(log: Log, failure: Refused, error: Exception, **where: str) -> None:
    """Log a refusal with its cause."""
    cause = cause_of(error) if isinstance(error, Refused) else error
    log.write_refusal(failure.code, failure.message, status=failure.status, cause=cause, **where)


def protocol_error(log: Log, method: str, error: Exception) -> MCPError:
    """Log an error, and return it as a JSON-RPC error; one without details for internal errors."""
    if isinstance(error, MCPError):
        data = error.error.data
        code = str(data.get("code")) if isinstance(data, dict) else str(error.error.code)
        message, cause = error.error.message, cause_of(error)
        log.write_refusal(code, message, status=400, cause=cause, method=method)
        return error
    failure = failure_of(error)
    if failure is None:
        log.write_failure(error, method=method)
        message = "the server failed; its log says where"
        return MCPError(INTERNAL_ERROR, message, {"code": "internal"})
    log_failure(log, failure, error, method=method)
    away = isinstance(error, Refused) and error.status in (429, 503)
    return MCPError(BUSY if away else INVALID_PARAMS, failure.message, {"code": failure.code})


def invalid(message: str, code: str = "invalid_params", **data: str) -> MCPError:
    """Return the error for invalid parameters: ``-32602``."""
    text = shorten(clean_line(message), MESSAGE_CHARS)
    return MCPError(INVALID_PARAMS, text, {"code": code, **data})
