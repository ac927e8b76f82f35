"""Read response bodies within limits, whatever their declared length and compression."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from skillyard.base.errors import SourceFailed
from skillyard.base.io.gunzip import Gunzip, TooMuch

CHUNK = 65_536
MAX_NUMBER_LENGTH = 40


async def read_body(url: str, response: Any, max_bytes: int) -> bytes:
    """Return the decompressed body. Raises SourceFailed: too large, badly compressed, truncated."""
    declared = response.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > max_bytes:
        raise _too_large(url, max_bytes)
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip"):
        raise SourceFailed("bad_answer", f"{url}: packed as {packing[:40]!r}")
    gunzip = Gunzip(max_bytes) if packing == "gzip" else None
    body = bytearray()
    async for chunk in response.aiter_raw(CHUNK):
        try:
            body += chunk if gunzip is None else gunzip.add(chunk)
        except TooMuch:
            raise _too_large(url, max_bytes) from None
        except ValueError as error:
            raise SourceFailed("bad_answer", f"{url}: {error}") from None
        if len(body) > max_bytes:
            raise _too_large(url, max_bytes)
    if gunzip is not None and not gunzip.ended:
        raise SourceFailed("bad_answer", f"{url}: the answer is cut off")
    return bytes(body)


def _too_large(url: str, max_bytes: int) -> SourceFailed:
    return SourceFailed("too_large", f"{url}: more than {max_bytes:,} bytes")


def _parse_length(digits: str) -> int:
    """Return a whole number; 0 for one with more digits than any real length."""
    return int(digits) if len(digits) < MAX_NUMBER_LENGTH else 0


def json_of(headers: Mapping[str, str], body: bytes, what: str) -> Any:
    """Return the JSON of a response. Raises SourceFailed, with its own message for an HTML page."""
    try:
        return json.loads(body, parse_int=_parse_length)
    except (ValueError, RecursionError):
        kind = headers.get("content-type", "").partition(";")[0]
        page = kind == "text/html" or body.lstrip()[:1] == b"<"
        came = "a web page" if page else "something else"
        raise SourceFailed("bad_answer", f"{what}: {came} came instead of JSON") from None
