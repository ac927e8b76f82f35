"""What a host hands over on standard input, from bytes that may be anything."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

from skillyard.hook.hosts import EVENT

__all__ = ["MOST_BYTES", "BadPayload", "Prompt", "asked", "read_payload"]

MOST_BYTES = 4 * 1024 * 1024
"""Bytes of a payload; whoever sends more is told nothing."""
ENDS_KEPT = 2_000
"""Characters of a long prompt that are looked at, at its start and again at its end: requests
stand before or behind what is pasted, and the work must not grow with the paste."""


class BadPayload(Exception):
    """What came is no prompt of a host; the message says why and repeats nothing of it."""


class Prompt(NamedTuple):
    """What the user has typed, and where."""

    text: str
    folder: str
    """The session's current folder; empty where none was named that can be one."""


def read_payload(data: bytes) -> Prompt:
    """Return the prompt of a payload. Raises BadPayload.

    Unknown fields are passed over. Without a usable ``cwd`` there is no project.
    """
    if len(data) > MOST_BYTES:
        raise BadPayload(f"more than {MOST_BYTES:,} bytes")
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadPayload("not UTF-8") from None
    except RecursionError:
        raise BadPayload("nested too deep") from None
    except ValueError:
        raise BadPayload("not JSON") from None
    if not isinstance(found, dict):
        raise BadPayload("not a JSON object")
    event = found.get("hook_event_name", EVENT)
    if event != EVENT:
        raise BadPayload(f"not the event {EVENT}")
    text = found.get("prompt")
    if not isinstance(text, str):
        raise BadPayload("prompt is missing" if text is None else "prompt is not text")
    return Prompt(text, _folder(found.get("cwd")))


def _folder(value: object) -> str:
    if not isinstance(value, str) or "\0" in value or not os.path.isabs(value):
        return ""
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return ""
    return value


def asked(text: str) -> str:
    """Return what is looked at of a prompt: all, or the two ends of a long one."""
    if len(text) > 2 * ENDS_KEPT:
        text = f"{text[:ENDS_KEPT]}\n{text[-ENDS_KEPT:]}"
    # Half a surrogate pair is no character; the index and every encoder would stumble over it.
    return text.encode("utf-8", "replace").decode("utf-8")
