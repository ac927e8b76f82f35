"""What a host sends on standard input: read within the time limit, and parsed.

The bytes are untrusted.
"""

from __future__ import annotations

import json
import os
import sys
from time import monotonic
from typing import NamedTuple

from skillyard.base.io.platforms import read_within
from skillyard.hosts.hook.host_text import own_words
from skillyard.hosts.hook.hosts import EVENT

DEFAULT_MS = 500
"""An answer takes a tenth of it. The rest is a reserve for busy machines."""
MAX_BYTES = 4 * 1024 * 1024
"""Limit for the bytes of a payload. A larger one gets an empty answer."""
MAX_END_CHARS = 2_000
"""Characters used from each end of a long prompt. Users write their request before or after pasted
text, and the ranking time must not grow with the paste."""
_CHUNK = 1 << 16
_MAX_DRAINED = 64 * 1024 * 1024


class BadPayload(Exception):
    """The payload is not a prompt of a host. The message does not quote it."""


class BudgetExceeded(Exception):
    """The time limit is exceeded. The answer is discarded."""


class PromptBudget:
    """A time limit in milliseconds that starts now: the last resort, as sizes bound the work."""

    def __init__(self, milliseconds: int = DEFAULT_MS) -> None:
        self.milliseconds = milliseconds
        self._start = monotonic()

    def remaining_s(self) -> float:
        """Return the remaining seconds, at least 0.0."""
        return max(0.0, self.milliseconds / 1e3 - (monotonic() - self._start))

    def check(self, step: str) -> None:
        """Raise BudgetExceeded, naming the step, when no time remains."""
        elapsed_ms = (monotonic() - self._start) * 1e3
        if elapsed_ms > self.milliseconds:
            raise BudgetExceeded(f"{step} ended after {elapsed_ms:.0f} ms of {self.milliseconds}")


class Prompt(NamedTuple):
    """The user's prompt and the folder of the session."""

    text: str
    folder: str
    """The session's current folder. Empty when the payload has no usable one."""
    session: str = ""
    """The id of the session, with that of a subagent, which has a context of its own."""

    @property
    def query(self) -> str:
        """What the user wrote, as the query: all of it, or both ends."""
        text = own_words(self.text)
        if len(text) > 2 * MAX_END_CHARS:
            text = f"{text[:MAX_END_CHARS]}\n{text[-MAX_END_CHARS:]}"
        # A lone surrogate cannot be encoded as UTF-8.
        return text.encode("utf-8", "replace").decode("utf-8")


def read_input(budget: PromptBudget) -> bytes:
    """Return the bytes from standard input, up to slightly more than the accepted size.

    Raises BudgetExceeded when standard input is not closed in time, and OSError.
    """
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # closed, or not a file
        return b""
    chunks: list[bytes] = []
    size = 0
    while size <= _MAX_DRAINED:
        chunk = read_within(descriptor, _CHUNK, budget.remaining_s())
        if chunk is None:
            raise BudgetExceeded(f"standard input was not closed within {budget.milliseconds} ms")
        if not chunk:
            break
        size += len(chunk)
        if size - len(chunk) <= MAX_BYTES:  # the rest is read too, so that the host is not blocked
            chunks.append(chunk)
    return b"".join(chunks)


def parse_payload(data: bytes) -> Prompt:
    """Return the prompt of a payload. Raises BadPayload.

    Unknown fields are ignored. Without a usable ``cwd`` there is no project.
    """
    if len(data) > MAX_BYTES:
        raise BadPayload(f"more than {MAX_BYTES:,} bytes")
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise BadPayload("not JSON in UTF-8, or nested too deep") from None
    if not isinstance(document, dict):
        raise BadPayload("not a JSON object")
    if document.get("hook_event_name", EVENT) != EVENT:
        raise BadPayload(f"not the event {EVENT}")
    text = document.get("prompt")
    if not isinstance(text, str):
        raise BadPayload("prompt is missing, or not text")
    ids = [document.get("session_id") or "", document.get("agent_id") or ""]
    session = " ".join(ids) if all(isinstance(each, str) for each in ids) and ids[0] else ""
    return Prompt(text, _folder(document.get("cwd")), session)


def _folder(value: object) -> str:
    if not isinstance(value, str) or "\0" in value or not os.path.isabs(value):
        return ""
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return ""
    return value
