"""Encodes responses: deterministic JSON, entity tags."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from skillyard.base.io.files import sha256

JSON = "application/json"
SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""The headers of every response, unless its route sets others."""


class Reply(NamedTuple):
    """A response before it is sent."""

    body: bytes
    media: str = JSON
    status: int = 200
    headers: Mapping[str, str] = {}
    tagged: bool = False
    """True when it has an entity tag, so that clients can revalidate."""
    basis: bytes = b""
    """The content of the entity tag, if it is not the body: the body without its age."""

    def with_headers(self, **headers: str) -> Reply:
        """Return the response with additional headers; underscores in names become hyphens."""
        extra = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._replace(headers={**self.headers, **extra})


def json_bytes(value: Any) -> bytes:
    """Return JSON as UTF-8: keys in the order of the shape, without NaN and invalid Unicode."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))
    # An unpaired surrogate (an undecodable file name) is replaced by a question mark.
    return text.encode("utf-8", "replace")


def _finite(value: Any) -> Any:
    """Return the value with null in place of numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def json_reply(value: Any, status: int = 200, *, tagged: bool = False) -> Reply:
    """Return a value as a response."""
    return Reply(json_bytes(value), JSON, status, tagged=tagged)


def tag_of(body: bytes) -> str:
    """Return the entity tag of a body. It is weak, because it covers every encoding."""
    return f'W/"{sha256(body).hex()[:32]}"'


def matches(tag: str, if_none_match: str) -> bool:
    """True when the header contains the tag."""
    if if_none_match.strip() == "*":
        return True
    ours = tag.removeprefix("W/")
    return any(part.strip().removeprefix("W/") == ours for part in if_none_match[:8_192].split(","))


def prefers_html(accept: str, *, at_least: bool = False) -> bool:
    """True when the header names HTML, and not JSON before it, as browsers do.

    With ``at_least`` it is enough that it names neither. Most programs accept anything and then
    get JSON.
    """
    html, data = accept.lower().find("text/html"), accept.lower().find("application/json")
    return at_least if html < 0 and data < 0 else html >= 0 and (data < 0 or html < data)
