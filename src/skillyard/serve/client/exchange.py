"""One call from its first request to its result, without a connection.

:func:`exchange` is a generator. It yields an :class:`HttpRequest` and receives the
:class:`Reply`; it yields a :class:`Wait` before a retry; it returns the value or raises. The
synchronous and the asynchronous client drive it and do only the I/O.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from skillyard.serve.client.address import Service
from skillyard.serve.client.call import JSON, Call
from skillyard.serve.client.document import Mismatch
from skillyard.serve.client.refusals import bad_answer, gone_silent, refusal_of, unreachable
from skillyard.serve.client.reply import Incoming, Reply
from skillyard.serve.client.retries import PATIENT, Retries, after_s

T = TypeVar("T")


class HttpRequest(NamedTuple):
    """A request to put on the wire."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None


class Wait(NamedTuple):
    """A pause before the next request."""

    seconds: float


Steps = Generator[HttpRequest | Wait, Reply | None, T]


def exchange(service: Service, retries: Retries, call: Call[T]) -> Steps[T]:
    """Run one call, with retries. Returns its value; raises SkillyardError."""
    shown = shown_url(service.url + call.target)
    headers = {"Accept": call.accept}
    if call.body is not None:
        headers["Content-Type"] = JSON
    request = HttpRequest(call.method, service.url + call.target, headers, call.body)
    reply = yield from _with_retries(request, retries, call)
    if reply.status not in call.statuses:
        raise refusal_of(shown, call, reply)
    try:
        return call.read(reply.body)
    except Mismatch as error:
        raise bad_answer(shown, reply.status, _what(error, reply)) from None


def _with_retries(
    request: HttpRequest, retries: Retries, call: Call[T]
) -> Generator[HttpRequest | Wait, Any, Reply]:
    """Return the first response that is final: a success, or a failure that is not retried."""
    attempts, waited_s = 0, 0.0
    while True:
        reply: Reply = yield request
        attempts += 1
        if reply.status in call.statuses or reply.status not in PATIENT:
            return reply
        wait_s = retries.wait_s(attempts, waited_s, after_s(reply.headers))
        if wait_s is None:
            return reply
        waited_s += wait_s
        yield Wait(wait_s)


def _what(error: Mismatch, reply: Reply) -> str:
    page = reply.body.lstrip()[:1] == b"<"
    return "a web page came instead of an answer" if page else f"its answer is no good: {error}"


def shown_url(url: str) -> str:
    """Return a URL for messages, without its query, which may hold private text."""
    return url.partition("?")[0]


@contextmanager
def receiving(service: Service, request: HttpRequest) -> Iterator[Callable[[Any], Incoming]]:
    """Yield the function that starts a response; I/O errors inside become client errors.

    Raises ServiceUnavailable, BadAnswer.
    """
    import httpx2

    url = shown_url(request.url)
    until = time.monotonic() + service.deadline_s

    def begun(response: Any) -> Incoming:
        return Incoming(response.status_code, response.headers, int(service.answer_bytes), until)

    try:
        yield begun
    except Mismatch as error:
        raise bad_answer(url, None, f"its answer is no good: {error}") from None
    except httpx2.ConnectTimeout:
        raise unreachable(url, f"no connection in {service.timeout_s:g} s") from None
    except httpx2.TimeoutException:
        raise gone_silent(url, service.timeout_s) from None
    except TimeoutError:
        raise gone_silent(url, service.deadline_s) from None
    except httpx2.RemoteProtocolError as error:
        raise bad_answer(url, None, f"its answer breaks off, or is no HTTP: {error}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise unreachable(url, f"{type(error).__name__} {error}".strip()) from None
