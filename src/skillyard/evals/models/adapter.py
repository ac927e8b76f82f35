"""The common part of the two adapters: one call, its validated reply, and its latency."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from skillyard.evals.models.failures import bad_reply, failure_of
from skillyard.evals.models.protocol import ModelFailed, Reply
from skillyard.text import clean_line, shorten

__all__ = [
    "attribute",
    "call_library",
    "count",
    "host_of",
    "joined_text",
    "key_of",
    "stop_word",
    "timed_reply",
]

BACKEND_HEADER = "x-skillyard-backend"
"""A stand-in sets it to ``fake``; no real provider sends it."""
_MAX_TOKENS = 1_000_000_000
"""A count above it is nonsense, and would make nonsense of the cost."""
_WORD = 40
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""Exceptions of the libraries for an unexpected body."""


def call_library(
    call: Callable[[], Any],
    library: ModuleType,
    base_error: type[Exception],
    provider: str,
    secrets: Iterable[str],
) -> Any:
    """Make one call of a library and return the result. Raises ModelFailed.

    The library's exception is not chained, because it holds the request with the key and the
    unfiltered text of the server.
    """
    failed: ModelFailed
    try:
        return call()
    except (base_error, TypeError, ValueError) as error:
        failed = failure_of(error, library, provider, secrets)
    raise failed


def timed_reply(
    send: Callable[[], Any],
    read: Callable[[Any], Reply],
    provider: str,
    kind: str,
    *,
    raw: bool,
) -> Reply:
    """Send, then read the reply; return it with its latency and its ``fake`` flag.

    ``kind`` names the expected object. ``raw``: ``send`` returns the library's response with
    headers, not yet parsed. Raises ModelFailed.
    """
    started = time.monotonic()
    response = send()
    latency_s = time.monotonic() - started
    reply: Reply | None
    try:
        parsed = response.parse() if raw else response
        if isinstance(parsed, str | bytes | None):
            raise bad_reply(
                provider, "answered with a page or plain text, not JSON; is the base URL right?"
            )
        reply = read(parsed)
    except _UNREADABLE:
        reply = None
    if reply is None:
        raise bad_reply(provider, f"answered with something that is no {kind}", charged=True)
    backend = response.headers.get(BACKEND_HEADER, "") if raw else ""
    return replace(reply, latency_s=latency_s, fake=backend.strip().lower() == "fake")


def attribute(value: Any, name: str) -> Any:
    """Return a field of a library's object, or of a plain record; None where it is missing."""
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def count(value: object) -> int | None:
    """Return a count of tokens; None for an invalid value."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= _MAX_TOKENS else None


def stop_word(value: object) -> str:
    """Return a provider's stop reason, cleaned; ``unknown`` if there is none."""
    if not isinstance(value, str):
        return "unknown"
    return shorten(clean_line(value), _WORD) or "unknown"


def joined_text(parts: object) -> str:
    """Return the joined text of the blocks of type ``text``, in order.

    Blocks of other types (thinking, tool use) are ignored. Raises TypeError if the value is not a
    list or a text block holds no text.
    """
    if not isinstance(parts, list | tuple):
        raise TypeError("no list of blocks")
    texts = [attribute(part, "text") for part in parts if attribute(part, "type") == "text"]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a text block without text")
    return "".join(texts)


def host_of(base_url: object) -> str:
    """Return host and port of a base URL, without credentials and path; empty where none is."""
    parts = urlsplit(str(base_url))
    try:
        port = parts.port
    except ValueError:
        port = None
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    return f"{host}:{port}" if port is not None else host


def key_of(client: Any, *names: str) -> tuple[str, ...]:
    """Return the secrets in the given attributes of a client."""
    secrets = (getattr(client, name, None) for name in names)
    return tuple(secret for secret in secrets if isinstance(secret, str) and secret)
