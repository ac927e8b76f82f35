"""How an answer leaves: deterministic JSON, entity tags, gzip."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from skillyard.io.sha256 import sha256

__all__ = [
    "JSON",
    "SAFE_HEADERS",
    "Reply",
    "accepts_gzip",
    "json_bytes",
    "json_reply",
    "matches",
    "prefers_html",
    "tag_of",
]

JSON = "application/json"
MIN_COMPRESSED_BYTES = 1_024
"""Bytes from which compressing pays."""
LEVEL = 5
SAFE_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""What every answer carries, unless its route says otherwise."""


class Reply(NamedTuple):
    """An answer before it is put on the wire."""

    body: bytes
    media: str = JSON
    status: int = 200
    headers: Mapping[str, str] = {}
    tagged: bool = False
    """True where an entity tag lets clients ask whether it is still the same."""
    basis: bytes = b""
    """What the entity tag names, where that is not the body: the body without its age."""
    packed: bytes = b""
    """The body as gzip, where a route that works in a thread of its own has made it there."""

    def with_headers(self, **headers: str) -> Reply:
        """Return the answer with further headers; underscores in names become hyphens."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._replace(headers={**self.headers, **named})


def json_bytes(value: Any) -> bytes:
    """Return JSON as UTF-8: keys in the order of the shape, no NaN, nothing that is not text."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))
    # Half a surrogate pair (an undecodable file name) is no text: it is shown as a question mark.
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
    """Return a value as an answer."""
    return Reply(json_bytes(value), JSON, status, tagged=tagged)


def tag_of(body: bytes) -> str:
    """Return the entity tag of a body; weak, for it names the content in any encoding."""
    return f'W/"{sha256(body).hex()[:32]}"'


def matches(tag: str, if_none_match: str) -> bool:
    """True when the client says that it has this very content."""
    if if_none_match.strip() == "*":
        return True
    ours = tag.removeprefix("W/")
    return any(part.strip().removeprefix("W/") == ours for part in if_none_match[:8_192].split(","))


def accepts_gzip(accept_encoding: str) -> bool:
    """True when the header names gzip, or everything, with a weight above zero."""
    weights: dict[str, float] = {}
    for part in accept_encoding[:1_024].split(","):
        coding, _, rest = part.partition(";")
        weights[coding.strip().lower()] = _weight(rest)
    return weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0))) > 0


def _weight(parameter: str) -> float:
    name, equals, value = parameter.partition("=")
    if not equals or name.strip().lower() != "q":
        return 1.0
    try:
        return float(value.strip())
    except ValueError:
        return 0.0


def prefers_html(accept: str, *, at_least: bool = False) -> bool:
    """True when the header wants HTML more than JSON, as browsers say; ``at_least`` as much.

    Programs mostly take anything, and get data then. A media type that is named goes before a
    range that covers it.
    """
    weights: dict[str, float] = {}
    for part in accept[:2_048].split(","):
        media, _, rest = part.partition(";")
        quality = next((p for p in rest.split(";") if p.strip().lower().startswith("q=")), "")
        weights[media.strip().lower()] = _weight(quality)
    weights = weights if accept.strip() else {"*/*": 1.0}
    html, data = _weight_of(weights, "text", "html"), _weight_of(weights, "application", "json")
    return html > data or (at_least and html == data)


def _weight_of(weights: Mapping[str, float], kind: str, name: str) -> float:
    ranges = (f"{kind}/{name}", f"{kind}/*", "*/*")
    return next((weights[media] for media in ranges if media in weights), 0.0)


def compress(body: bytes) -> bytes:
    """Return the body as gzip, the same bytes each time."""
    return gzip.compress(body, LEVEL, mtime=0)
