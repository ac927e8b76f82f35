"""The address of a service, one request, and its response in bounds, decoded.

A missing member or one of another type is :class:`Mismatch`, which names its place
(``$.skills[2].id``). Unknown members are ignored, so a newer service may send more than this
client reads. Error responses become the errors that the local API raises.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlsplit

from pydantic import ConfigDict, TypeAdapter, ValidationError

from skillyard.base.errors import (
    AmbiguousName,
    BadAnswer,
    InvalidInput,
    ServiceFailed,
    ServiceRefused,
    ServiceUnavailable,
    SkillNotFound,
    SkillyardError,
    SourceFailed,
)
from skillyard.base.io.connections import retry_after_s
from skillyard.base.shapes.service import Error, ErrorDetails
from skillyard.base.text import clean_line, shorten
from skillyard.install.search import SourceStatus
from skillyard.install.sources.transport import origin_of

PATIENT = frozenset({429, 503})
"""Statuses of requests that the service has not started."""


T = TypeVar("T")

SHOWN = 40
"""Maximum characters of a member's name in an error."""


class Mismatch(ValueError):
    """A body that is not JSON or not of the expected shape. The text names the place."""


class Response:
    """A response whose head has arrived, with what has come of its decoded body."""

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        self.headers = headers
        self.body = bytearray()

    @property
    def is_page(self) -> bool:
        """True for a web page, which no route of the client answers with."""
        return self.body.lstrip()[:1] == b"<"

    def add(self, piece: bytes, most: int, until: float) -> None:
        """Add the next piece. Raises Mismatch beyond the size, and TimeoutError after ``until``."""
        if time.monotonic() > until:
            raise TimeoutError
        self.body += piece
        if len(self.body) > most:
            raise Mismatch(f"it is larger than {most:,} bytes")


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


DEFAULT_URL = "http://127.0.0.1:8765"
"""The default address of ``skillyard serve``."""
TOKEN = "SKILLYARD_HTTP_TOKEN"
"""The environment variable with the bearer token, for the service and its clients."""


def address_of(url: str) -> str:
    """Return the address of a service without a trailing slash. Raises InvalidInput."""
    if not isinstance(url, str):
        raise InvalidInput("url must be text", field="url")
    url = url or DEFAULT_URL
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise InvalidInput(f"url: give the token in {TOKEN}, not in the address", field="url")
    try:
        origin_of(url)
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidInput(f"url: {error}", field="url") from None
    if "?" in url or "#" in url or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidInput("url must be scheme, host and path, like http://host:8765", field="url")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request. It can be repeated: it reads, or a repetition replaces what it wrote."""

    method: str
    path: str
    """Relative to the address of the service."""
    read: Callable[[bytes], T]
    """Parses a body; raises Mismatch."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The query of a GET, or the JSON object of a POST."""
    accept: str = JSON
    statuses: frozenset[int] = frozenset({200})
    """The statuses of a successful response; others are refusals."""
    subject: str = ""
    """The requested name, if there is one."""

    def request(self, url: str) -> dict[str, Any]:
        """Return the arguments for httpx2."""
        values = {"params" if self.method == "GET" else "json": self.values}
        return {
            "method": self.method,
            "url": url + self.path,
            "headers": {"Accept": self.accept},
            **values,
        }


def json_call(
    route: tuple[str, str], shape: type[T], values: Mapping[str, Any] | None = None, **more: Any
) -> Call[T]:
    """Return a call with a JSON response; None is not sent. Raises InvalidInput."""
    items = (values or {}).items()
    checked = {name: _checked(name, value) for name, value in items if value is not None}
    return Call(*route, partial(read_as, shape), checked, **more)


def path_of(*parts: str) -> str:
    """Return the path of these parts; a part may contain slashes. Raises InvalidInput."""
    return "".join(f"/{quote(_checked('name', part))}" for part in parts)


def _checked(name: str, value: Any) -> Any:
    """Return a value that JSON has. Raises InvalidInput; the service checks types and ranges."""
    if isinstance(value, list | dict):  # the methods pass tuples
        raise InvalidInput(f"{name} must not be {type(value).__name__}", field=name)
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} cannot be sent as JSON: {error}", field=name) from None
    return value


SAID = 500
"""Maximum characters of a received message in an error."""
NEAR = 20
"""Maximum number of similar names or ids in an error."""
HINTS = {
    401: "set SKILLYARD_HTTP_TOKEN, or token=, to the service's token",
    404: "is this the address of a skillyard service?",
    429: "ask again later",
    503: "ask again later",
}
BY_STATUS: dict[int, type[ServiceFailed]] = {429: ServiceUnavailable, 503: ServiceUnavailable}


class SourcesFailed(SourceFailed):
    """Every source of a search failed; ``reasons`` holds the failure of each.

    ``code`` and ``retry_after_s`` are those of the first.
    """

    def __init__(
        self, message: str, reasons: tuple[SourceStatus, ...], hint: str = "", status: int = 502
    ) -> None:
        first = reasons[0] if reasons else SourceStatus("", "failed", 0)
        super().__init__(
            first.code, message, hint=hint, retry_after_s=first.retry_after_s, status=status
        )
        self.reasons = reasons

    def __reduce__(self) -> tuple[object, ...]:
        return (SourcesFailed, (self.what, self.reasons, self.hint, self.status))


def refusal_of(url: str, call: Call[Any], reply: Response) -> SkillyardError:
    """Return the error for a response with an unexpected status."""
    if 300 <= reply.status < 400:
        return bad_answer(
            url,
            reply.status,
            "it leads elsewhere, and redirects are not followed",
            "give the address that it leads to, if you trust it",
        )
    try:
        error = read_as(Error, bytes(reply.body)).error
        return _service_error(url, call, reply, error)
    except Mismatch:  # a proxy, or another service
        what = "it answered with a web page" if reply.is_page else "it answered without a reason"
        return _failure(url, reply, what, "", "")


def _service_error(
    url: str, call: Call[Any], reply: Response, error: ErrorDetails
) -> SkillyardError:
    code, hint, message = error.code, _clean(error.hint), _clean(error.message)
    near = [_clean(name) for name in (error.near or ())[:NEAR]]
    if code == "skill_not_found":
        return SkillNotFound(call.subject, near)
    if code == "skill_not_loaded":
        missing = SkillNotFound(call.subject)
        missing.hint = message
        return missing
    if code == "ambiguous_name":
        return AmbiguousName(call.subject, (), near)
    if code in ("invalid_field", "blank_name"):
        return InvalidInput(message, field=_clean(error.field or ""))
    if code == "sources_failed":
        reasons = tuple(map(_status, error.sources or ()))
        return SourcesFailed(message, reasons, hint)
    return _failure(url, reply, message, _clean(code), "" if reply.status == 401 else hint)


def _failure(url: str, reply: Response, what: str, code: str, hint: str) -> ServiceFailed:
    refused = ServiceRefused if 400 <= reply.status < 500 else ServiceFailed
    kind = BadAnswer if reply.status < 400 else BY_STATUS.get(reply.status, refused)
    hint = hint or HINTS.get(reply.status, "the log of the service may say why")
    after = retry_after_s(reply.headers.get("retry-after"), time.time())
    return kind(url, what, status=reply.status, code=code, hint=hint, retry_after_s=after)


def _status(reason: Mapping[str, Any]) -> SourceStatus:
    name, code, message = (_clean(str(reason.get(key))) for key in ("name", "code", "message"))
    wait = reason.get("retry_after_s")
    after = float(wait) if isinstance(wait, int | float) else None
    return SourceStatus(name, "failed", 0, code, message, after)


def _clean(text: str) -> str:
    return shorten(clean_line(text), SAID)


def bad_answer(url: str, status: int | None, what: str, hint: str = "") -> BadAnswer:
    """Return the error for a response that no skillyard service sends."""
    return BadAnswer(url, _clean(what), status=status, hint=hint or HINTS[404])


def unreachable(url: str, why: str) -> ServiceUnavailable:
    """Return the error for a service that cannot be reached."""
    return ServiceUnavailable(
        url,
        f"it cannot be reached: {_clean(why)}",
        code="unreachable",
        hint="start it with `skillyard serve --http`, or name its address with base_url=",
    )


def gone_silent(url: str, seconds: float) -> ServiceUnavailable:
    """Return the error for a service that timed out."""
    return ServiceUnavailable(
        url,
        f"no answer in {seconds:g} s",
        code="timeout",
        hint="ask for less, or give it more time with timeout_s and deadline_s",
    )


@contextmanager
def transport_errors(url: str, timeout_s: float, deadline_s: float) -> Iterator[None]:
    """Turn the errors of a connection into ServiceUnavailable and BadAnswer."""
    import httpx2

    try:
        yield
    except Mismatch as error:
        raise bad_answer(url, None, f"its answer is no good: {error}") from None
    except httpx2.ConnectTimeout:
        raise unreachable(url, f"no connection in {timeout_s:g} s") from None
    except httpx2.TimeoutException:
        raise gone_silent(url, timeout_s) from None
    except TimeoutError:
        raise gone_silent(url, deadline_s) from None
    except (httpx2.RemoteProtocolError, httpx2.DecodingError) as error:
        raise bad_answer(url, None, f"its answer breaks off, or is no HTTP: {error}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise unreachable(url, f"{type(error).__name__} {error}".strip()) from None
