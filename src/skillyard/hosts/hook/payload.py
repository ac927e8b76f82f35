"""Parses the payload that a host sends on standard input. The bytes are untrusted."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from skillyard.hosts.hook.hosts import EVENT

MAX_BYTES = 4 * 1024 * 1024
"""Limit for the bytes of a payload. A larger one gets an empty answer."""
MAX_END_CHARS = 2_000
"""Characters used from each end of a long prompt. Users write their request before or after pasted
text, and the ranking time must not grow with the paste."""


class BadPayload(Exception):
    """The payload is not a prompt of a host. The message does not quote it."""


class Prompt(NamedTuple):
    """The user's prompt and the folder of the session."""

    text: str
    folder: str
    """The session's current folder. Empty when the payload has no usable one."""


def read_payload(data: bytes) -> Prompt:
    """Return the prompt of a payload. Raises BadPayload.

    Unknown fields are ignored. Without a usable ``cwd`` there is no project.
    """
    if len(data) > MAX_BYTES:
        raise BadPayload(f"more than {MAX_BYTES:,} bytes")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadPayload("not UTF-8") from None
    except RecursionError:
        raise BadPayload("nested too deep") from None
    except ValueError:
        raise BadPayload("not JSON") from None
    if not isinstance(document, dict):
        raise BadPayload("not a JSON object")
    event = document.get("hook_event_name", EVENT)
    if event != EVENT:
        raise BadPayload(f"not the event {EVENT}")
    text = document.get("prompt")
    if not isinstance(text, str):
        raise BadPayload("prompt is missing" if text is None else "prompt is not text")
    return Prompt(text, _folder(document.get("cwd")))


def _folder(value: object) -> str:
    if not isinstance(value, str) or "\0" in value or not os.path.isabs(value):
        return ""
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return ""
    return value


def query_text(text: str) -> str:
    """Return the text of a prompt that is used as the query: all of it, or both ends."""
    if len(text) > 2 * MAX_END_CHARS:
        text = f"{text[:MAX_END_CHARS]}\n{text[-MAX_END_CHARS:]}"
    # A lone surrogate cannot be encoded as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")
