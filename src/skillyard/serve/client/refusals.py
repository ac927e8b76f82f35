"""Error responses of the service, turned into the errors that the local API raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

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
from skillyard.base.shapes.service import Error, ErrorDetails
from skillyard.base.text import clean_line, shorten
from skillyard.install.search import SourceStatus
from skillyard.serve.client.address import Service
from skillyard.serve.client.call import Call
from skillyard.serve.client.response import Mismatch, Response, read_as
from skillyard.serve.client.retries import after_s

T = TypeVar("T")

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
        first = reasons[0] if reasons else SourceStatus("", "failed")
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
        return _untold(url, reply)


def _service_error(
    url: str, call: Call[Any], reply: Response, error: ErrorDetails
) -> SkillyardError:
    code, hint, message = error.code, _clean(error.hint), _clean(error.message)
    if code == "skill_not_found":
        return SkillNotFound(call.subject, _near(error))
    if code == "ambiguous_name":
        return AmbiguousName(call.subject, (), _near(error))
    if code in ("invalid_field", "blank_name"):
        return InvalidInput(message, field=_clean(error.field or ""))
    if code == "sources_failed":
        reasons = tuple(_status(reason) for reason in _required(error.sources))
        return SourcesFailed(message, reasons, hint)
    return _failure(url, reply, message, _clean(code), "" if reply.status == 401 else hint)


def _near(error: ErrorDetails) -> list[str]:
    return [_clean(name) for name in _required(error.near)[:NEAR]]


def _required(items: tuple[T, ...] | None) -> tuple[T, ...]:
    """Return items that the error must have. Raises Mismatch when they are missing."""
    if items is None:
        raise Mismatch("$.error lacks what its code stands for")
    return items


def _untold(url: str, reply: Response) -> SkillyardError:
    what = "it answered with a web page" if reply.is_page else "it answered without a reason"
    return _failure(url, reply, what, "", "")


def _failure(url: str, reply: Response, what: str, code: str, hint: str) -> ServiceFailed:
    refused = ServiceRefused if 400 <= reply.status < 500 else ServiceFailed
    kind = BadAnswer if reply.status < 400 else BY_STATUS.get(reply.status, refused)
    hint = hint or HINTS.get(reply.status, "the log of the service may say why")
    after = after_s(reply.headers)
    return kind(url, what, status=reply.status, code=code, hint=hint, retry_after_s=after)


def _status(reason: Mapping[str, Any]) -> SourceStatus:
    name, code, message = (_clean(str(reason.get(key))) for key in ("name", "code", "message"))
    wait = reason.get("retry_after_s")
    after = float(wait) if isinstance(wait, int | float) else None
    return SourceStatus(name, "failed", code=code, message=message, retry_after_s=after)


def _clean(text: str) -> str:
    """Return untrusted text, cleaned for a message."""
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
def transport_errors(service: Service, url: str) -> Iterator[None]:
    """Turn the errors of a connection into ServiceUnavailable and BadAnswer."""
    import httpx2

    try:
        yield
    except Mismatch as error:
        raise bad_answer(url, None, f"its answer is no good: {error}") from None
    except httpx2.ConnectTimeout:
        raise unreachable(url, f"no connection in {service.timeout_s:g} s") from None
    except httpx2.TimeoutException:
        raise gone_silent(url, service.timeout_s) from None
    except TimeoutError:
        raise gone_silent(url, service.deadline_s) from None
    except (httpx2.RemoteProtocolError, httpx2.DecodingError) as error:
        raise bad_answer(url, None, f"its answer breaks off, or is no HTTP: {error}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise unreachable(url, f"{type(error).__name__} {error}".strip()) from None
