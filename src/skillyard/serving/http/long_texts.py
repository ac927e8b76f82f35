"""Encodes responses with long texts several times as fast as the standard library.

The standard encoder processes a text character by character, and one wide character makes the whole
response wide. Here each long text is encoded to bytes separately, in large pieces.
"""

from __future__ import annotations

import re
from itertools import chain, zip_longest
from secrets import token_hex
from typing import Any

from skillyard.serving.runtime.encoding import json_bytes

__all__ = ["LongTexts"]

LONG = 512
"""Characters from which this is faster."""
_CONTROLS = bytes(range(0x20))
_CONTROL = re.compile(rb"[\x00-\x1f]")
_SHORT_ESCAPES = {b"\b": b"\\b", b"\t": b"\\t", b"\f": b"\\f", b"\r": b"\\r"}


class LongTexts:
    """The long texts of one response, in their order."""

    def __init__(self) -> None:
        # Drawn after every text is known, so that none contains it.
        self._mark = token_hex(16)
        self._texts: list[str] = []

    def put(self, text: str | None) -> str | None:
        """Return the placeholder of a long text; a short text is returned unchanged."""
        if text is None or len(text) < LONG:
            return text
        self._texts.append(text)
        return self._mark

    def json_bytes(self, answer: Any) -> bytes:
        """Return the same bytes as ``json_bytes`` for the response with its texts."""
        pieces = json_bytes(answer).split(f'"{self._mark}"'.encode("ascii"))
        strings = map(_json_string, self._texts)
        return b"".join(chain.from_iterable(zip_longest(pieces, strings, fillvalue=b"")))


def _json_string(text: str) -> bytes:
    """Return a text as a JSON string in UTF-8."""
    data = text.encode("utf-8", "replace")
    data = data.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    if len(data.translate(None, _CONTROLS)) != len(data):
        data = _CONTROL.sub(_escape_control, data)
    return b'"' + data + b'"'


def _escape_control(control: re.Match[bytes]) -> bytes:
    return _SHORT_ESCAPES.get(control[0]) or b"\\u%04x" % control[0][0]
