"""A response of the service: received in pieces within bounds, and decoded to a shape.

A missing member or one of another type is :class:`Mismatch`, which names its place
(``$.skills[2].id``). Unknown members are ignored, so a newer service may send more than this
client reads.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from skillyard.base.text import shorten
from skillyard.serve.client.address import Service

T = TypeVar("T")

SHOWN = 40
"""Maximum characters of a member's name in an error."""


class Mismatch(ValueError):
    """A body that is not JSON or not of the expected shape. The text names the place."""


class Response:
    """A response whose head has arrived, with what has come of its decoded body."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.body = bytearray(body)

    @property
    def is_page(self) -> bool:
        """True for a web page, which no route of the client answers with."""
        return self.body.lstrip()[:1] == b"<"

    def add(self, piece: bytes, service: Service, until: float) -> None:
        """Add the next piece. Raises Mismatch beyond the size, and TimeoutError after ``until``."""
        if time.monotonic() > until:
            raise TimeoutError
        self.body += piece
        if len(self.body) > service.answer_bytes:
            raise Mismatch(f"it is larger than {int(service.answer_bytes):,} bytes")


def read_as(kind: type[T], body: bytes) -> T:
    """Decode a JSON body as a shape. Raises Mismatch, which names the place of the fault."""
    if not body.strip():
        raise Mismatch("it is empty")
    try:
        (value,) = _reader(kind).validate_json(b"[" + body + b"]")  # type: ignore[arg-type]
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = "$" + "".join(map(_step, fault["loc"][1:]))
        raise Mismatch(f"{place}: {fault['msg']}") from None
    return value  # type: ignore[no-any-return]


@cache
def _reader(kind: Any) -> TypeAdapter[Any]:
    """Return the reader of a list of one value; settings can be given only around a dataclass."""
    return TypeAdapter(tuple[kind], config=ConfigDict(strict=True, allow_inf_nan=False))


def _step(key: str | int) -> str:
    return f"[{key}]" if isinstance(key, int) else f".{shorten(key, SHOWN)}"
