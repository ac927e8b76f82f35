"""HTTP requests and responses of the fake servers, as values without sockets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, unquote

__all__ = [
    "JSON",
    "TEXT",
    "Request",
    "Response",
    "conditional_response",
    "etag_of",
    "json_response",
    "text_response",
]

JSON = "application/json; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Request:
    """One request, parsed."""

    method: str
    target: str
    """Path and query as they were sent."""
    headers: Mapping[str, str]
    """Names in lower case; values of one name are joined by a comma."""
    content: bytes = b""
    """The body."""

    @property
    def path(self) -> str:
        """The path as it was sent, without the query."""
        return self.target.partition("?")[0]

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The components of the path, each decoded; the empty one before the first ``/`` is off."""
        return tuple(unquote(part) for part in self.path.split("/")[1:])

    @cached_property
    def query(self) -> dict[str, str]:
        """The parameters; of one that is given twice, the last."""
        text = self.target.partition("?")[2]
        return dict(parse_qsl(text, keep_blank_values=True))

    @property
    def token(self) -> str:
        """The value of ``Authorization: Bearer`` or ``token``; empty where there is none."""
        scheme, _, value = self.headers.get("authorization", "").partition(" ")
        return value.strip() if scheme.lower() in ("bearer", "token") else ""

    def unconditional(self) -> Request:
        """Return the same request without ``If-None-Match``."""
        headers = {name: value for name, value in self.headers.items() if name != "if-none-match"}
        return replace(self, headers=headers)


@dataclass(frozen=True)
class Response:
    """One response, and how a hostile or broken server departs from HTTP in sending it."""

    status: int
    """0: nothing is sent, and the connection stays open until the server closes."""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case, without the length."""
    length: int | None = None
    """The value of ``Content-Length`` where it is not the length of the body."""
    then: str = "end"
    """After the body: ``end``, or ``hang`` until the server closes. ``endless``: the body again and
    again until the client disconnects. ``drip``: the body, one byte at a time. ``reset``: nothing,
    and the connection is reset."""

    def with_headers(self, **headers: str) -> Response:
        """Return the response with more headers; ``retry_after`` stands for ``retry-after``."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **named})

    def document(self) -> Any:
        """Return the body, parsed as JSON. Raises ValueError."""
        return json.loads(self.body)


def json_response(document: Any, status: int = 200, **headers: str) -> Response:
    """Return a JSON document as a response; NaN and infinities are written as Python does."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    body = text.encode("utf-8", "backslashreplace")  # half a surrogate pair is written \\udc80
    return Response(status, body, {"content-type": JSON}).with_headers(**headers)


def text_response(
    text: str | bytes, status: int = 200, kind: str = TEXT, **headers: str
) -> Response:
    """Return a text, or bytes of the given kind, as a response."""
    body = text.encode() if isinstance(text, str) else text
    return Response(status, body, {"content-type": kind}).with_headers(**headers)


def etag_of(data: bytes, *, weak: bool = False) -> str:
    """Return an entity tag that is the SHA-256 of ``data``."""
    tag = f'"{sha256(data).hexdigest()}"'
    return f"W/{tag}" if weak else tag


def conditional_response(request: Request, response: Response, tag: str) -> Response:
    """Return a response of status 200 with its tag, or 304 when the client has it already.

    Tags are compared weakly, as RFC 9110 says for ``If-None-Match``.
    """
    if response.status != 200:
        return response
    tagged = response.with_headers(etag=tag)
    client_tags = request.headers.get("if-none-match", "")
    if client_tags.strip() != "*" and _strong(tag) not in map(_strong, client_tags.split(",")):
        return tagged
    headers = {
        name: value for name, value in tagged.headers.items() if not name.startswith("content-")
    }
    return Response(304, b"", headers)


def _strong(tag: str) -> str:
    return tag.strip().removeprefix("W/")
