"""One request to the service and the function that reads its response, without a connection."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from skillyard.base.errors import InvalidInput
from skillyard.serve.client.address import Service
from skillyard.serve.client.response import read_as

T = TypeVar("T")

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request. It can be repeated: it reads, or a repetition replaces what it wrote."""

    target: str
    """Path and query, relative to the address of the service."""
    read: Callable[[bytes], T]
    """Parses a body; raises Mismatch."""
    body: bytes | None = None
    """The JSON body; None for a GET."""
    accept: str = JSON
    statuses: frozenset[int] = frozenset({200})
    """The statuses of a successful response; others are refusals."""
    subject: str = ""
    """The requested name, if there is one."""

    @property
    def method(self) -> str:
        """``GET``, or ``POST`` with a body."""
        return "GET" if self.body is None else "POST"

    def request(self, service: Service) -> dict[str, Any]:
        """Return the arguments for httpx2."""
        media = {} if self.body is None else {"Content-Type": JSON}
        return {
            "method": self.method,
            "url": service.url + self.target,
            "headers": {"Accept": self.accept, **media},
            "content": self.body,
        }

    def url(self, service: Service) -> str:
        """Return the address for messages, without its query, which may hold private text."""
        return service.url + self.target.partition("?")[0]


def get_call(
    path: str, shape: type[T], values: Mapping[str, Any] | None = None, **more: Any
) -> Call[T]:
    """Return a GET with a JSON response. Raises InvalidInput for invalid URL values."""
    pairs = [pair for name, value in (values or {}).items() for pair in _pairs(name, value)]
    target = f"{path}?{urlencode(pairs)}" if pairs else path
    return Call(target, partial(read_as, shape), **more)


def post_call(path: str, shape: type[T], values: Mapping[str, Any], **more: Any) -> Call[T]:
    """Return a POST of a JSON object with a JSON response. Raises InvalidInput."""
    checked = {name: _checked(name, value) for name, value in values.items() if value is not None}
    body = json.dumps(checked, allow_nan=False).encode("ascii")
    return Call(path, partial(read_as, shape), body, **more)


def path_of(*parts: str) -> str:
    """Return the path of these parts; a part may contain slashes. Raises InvalidInput."""
    segments = [segment for part in parts for segment in part.split("/")]
    return "/" + "/".join(map(_segment, segments))


def _segment(text: str) -> str:
    quoted = quote(_checked("name", text), safe="")
    # A segment of dots would lead upwards and cannot be a name.
    return quoted.replace(".", "%2E") if quoted in (".", "..") else quoted


def _pairs(name: str, value: Any) -> list[tuple[str, str]]:
    if value is None:
        return []
    checked = _checked(name, value)
    if isinstance(checked, list):
        return [(name, text) for text in checked]
    return [(name, str(checked).lower() if isinstance(checked, bool) else str(checked))]


def _checked(name: str, value: Any) -> Any:
    """Return a value as JSON. Raises InvalidInput for other types; the service checks ranges.

    Numbers that JSON does not have and unpaired surrogates cannot be sent.
    """
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if value - value != 0:
            raise InvalidInput(f"{name} must be a finite number", field=name)
        return value
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise InvalidInput(f"{name} holds half a surrogate pair", field=name) from None
        return value
    if isinstance(value, tuple):
        return [_checked(name, item) for item in value]
    raise InvalidInput(f"{name} must not be {type(value).__name__}", field=name)
