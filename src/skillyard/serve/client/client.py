"""The synchronous and the asynchronous client. They share everything but the I/O."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from functools import wraps
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.util import find_spec
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.io.connections import bearer_token, is_loopback, retry_after_s
from skillyard.base.shapes.encoder import encode
from skillyard.base.shapes.skills import SkillDocument
from skillyard.base.version import __version__
from skillyard.engine import skill as skills
from skillyard.serve.client import calls
from skillyard.serve.client.call import (
    PATIENT,
    TOKEN,
    Call,
    Mismatch,
    Response,
    address_of,
    bad_answer,
    refusal_of,
    transport_errors,
)

P = ParamSpec("P")
T = TypeVar("T")

ANSWER_BYTES = 64 * 1024 * 1024
"""Maximum bytes of one unpacked response: fifty skills with references have about a tenth."""
KEPT_S = 2.0
"""Seconds after which idle connections are closed, before the server closes them (5 s)."""
CONNECTIONS = 32
LONGEST_WAIT_S = 10.0
"""Maximum delay before a retry that is accepted from the service."""
WAITS_S = 30.0
"""Maximum total delay of one call."""
FIRST_WAIT_S = 0.5
"""The first delay when the service specifies none; it doubles each time."""


class _BaseClient:
    """The state that both clients share: the address and the open connections."""

    def __init__(
        self,
        base_url: str = "",
        *,
        token: str | None = None,
        timeout_s: float = 30.0,
        deadline_s: float = 120.0,
        retries: int = 3,
        sleep: Callable[[float], Any] | None = None,
    ) -> None:
        """Raises InvalidInput for invalid arguments and when httpx2 or pydantic is not installed.

        ``base_url`` is the address of the service (default:
        http://127.0.0.1:8765), ``token`` its bearer token (default: SKILLYARD_HTTP_TOKEN), which is
        sent to that address only; redirects are not followed. ``timeout_s`` limits each I/O step,
        ``deadline_s`` a whole response. A request that a busy service has not started is repeated
        up to ``retries`` times; ``sleep`` is the function that waits before.
        """
        for name in ("httpx2", "pydantic"):
            if find_spec(name) is None:
                raise InvalidInput(f"asking a service needs {name}: {install_command('remote')}")
        import httpx2

        self.url = address_of(base_url)
        token = bearer_token(os.environ.get(TOKEN, "") if token is None else token)
        self._timeout_s, self._deadline_s = timeout_s, deadline_s
        self._retries = retries
        self._sleep = sleep or self._pause
        headers = {"User-Agent": f"skillyard/{__version__}", "Accept-Encoding": "gzip"}
        self._http = getattr(httpx2, self._transport)(
            headers=headers | ({"Authorization": f"Bearer {token}"} if token else {}),
            timeout=httpx2.Timeout(timeout_s),
            limits=httpx2.Limits(max_connections=CONNECTIONS, keepalive_expiry=KEPT_S),
            follow_redirects=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            # Requests to this machine bypass the proxies of the environment.
            trust_env=not is_loopback(urlsplit(self.url).hostname or ""),
        )

    _pause: Callable[[float], Any]
    _transport: str
    """The class of httpx2 that sends the requests."""

    def _check_open(self) -> float:
        """Return the time at which a response must be complete. Raises InvalidInput if closed."""
        if self._http.is_closed:
            raise InvalidInput("this client is closed: make another one")
        return time.monotonic() + self._deadline_s

    def _errors(self, call: Call[Any]) -> AbstractContextManager[None]:
        return transport_errors(self.url + call.path, self._timeout_s, self._deadline_s)

    def _result(self, call: Call[T], response: Response) -> T:
        """Return the value of the last response to a call. Raises SkillyardError."""
        url = self.url + call.path
        if response.status not in call.statuses:
            raise refusal_of(url, call, response)
        try:
            return call.read(bytes(response.body))
        except Mismatch as error:
            page = "a web page came instead of an answer"
            what = page if response.is_page else f"its answer is no good: {error}"
            raise bad_answer(url, response.status, what) from None

    def _pauses(self, call: Call[Any], response: Response, pauses: list[float]) -> bool:
        """Add the pause before the next attempt to ``pauses``; False for a final response."""
        if response.status in call.statuses or response.status not in PATIENT:
            return False
        after = retry_after_s(response.headers.get("retry-after"), time.time())
        wait_s = FIRST_WAIT_S * 2 ** len(pauses) if after is None else after
        if len(pauses) >= self._retries or wait_s > LONGEST_WAIT_S:
            return False
        pauses.append(wait_s)
        return sum(pauses) <= WAITS_S

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.url}>"


def _waiting(question: Callable[P, Call[T]]) -> Callable[Concatenate[Client, P], T]:
    """Return the synchronous method of a call."""

    @wraps(question)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._ask(question(*args, **kwargs))

    return method


def _awaiting(
    question: Callable[P, Call[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """Return the asynchronous method of a call."""

    @wraps(question)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._ask(question(*args, **kwargs))

    return method


class Client(_BaseClient):
    """A synchronous client of a skillyard service. Thread-safe.

    ::

        with Client() as client:
            print(client.select("fill in a PDF form").selected)

    Results are immutable values. The methods are those of :class:`AsyncClient`. Use it in a
    ``with``, or call :meth:`close`.
    """

    search = _waiting(calls.search)
    skill = _waiting(calls.skill)
    skill_from = get = _waiting(calls.skill_from)
    rank = _waiting(calls.rank)
    select = _waiting(calls.select)
    evaluate = _waiting(calls.evaluate)
    why = _waiting(calls.why)
    feedback = _waiting(calls.feedback)
    health = _waiting(calls.health)
    openapi = _waiting(calls.openapi)

    _pause = staticmethod(time.sleep)
    _transport = "Client"

    def _ask(self, call: Call[T]) -> T:
        pauses: list[float] = []
        response = self._send(call)
        while self._pauses(call, response, pauses):
            self._sleep(pauses[-1])
            response = self._send(call)
        return self._result(call, response)

    def _send(self, call: Call[Any]) -> Response:
        until = self._check_open()
        with self._errors(call), self._http.stream(**call.request(self.url)) as stream:
            response = Response(stream.status_code, stream.headers)
            for piece in stream.iter_bytes():
                response.add(piece, ANSWER_BYTES, until)
        return response

    def close(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncClient(_BaseClient):
    """An asynchronous client of a skillyard service. Belongs to one asyncio event loop.

    ::

        async with AsyncClient() as client:
            print((await client.select("fill in a PDF form")).selected)

    The methods are those of :class:`Client`. Use it in an ``async with``, or await :meth:`aclose`.
    """

    search = _awaiting(calls.search)
    skill = _awaiting(calls.skill)
    skill_from = get = _awaiting(calls.skill_from)
    rank = _awaiting(calls.rank)
    select = _awaiting(calls.select)
    evaluate = _awaiting(calls.evaluate)
    why = _awaiting(calls.why)
    feedback = _awaiting(calls.feedback)
    health = _awaiting(calls.health)
    openapi = _awaiting(calls.openapi)

    _pause = staticmethod(asyncio.sleep)
    _transport = "AsyncClient"

    async def _ask(self, call: Call[T]) -> T:
        pauses: list[float] = []
        response = await self._send(call)
        while self._pauses(call, response, pauses):
            await self._sleep(pauses[-1])
            response = await self._send(call)
        return self._result(call, response)

    async def _send(self, call: Call[Any]) -> Response:
        until = self._check_open()
        with self._errors(call):
            async with (
                asyncio.timeout(self._deadline_s),
                self._http.stream(**call.request(self.url)) as stream,
            ):
                response = Response(stream.status_code, stream.headers)
                async for piece in stream.aiter_bytes():
                    response.add(piece, ANSWER_BYTES, until)
        return response

    async def aclose(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


def as_skill(document: SkillDocument) -> skills.Skill:
    """Return the skill: it can be ranked, injected or put into a catalog like any other."""
    # Fields with their own names on the wire are those of SKILL_FIELDS.
    fields = [each.name for each in skills.SKILL_FIELDS.values() if each.wire]
    wire = {name: getattr(document, name) for name in fields}
    return skills.Skill(
        document.name,
        document.description or "",
        document.content,
        slug=document.id,
        title=None if document.title == document.name else document.title,
        version=document.version,
        allowed_tools=document.allowed_tools,
        references=tuple(
            skills.Reference(each.name, each.path, each.content) for each in document.references
        ),
        metadata=document.metadata,
        source=document.source,
        install_count=document.install_count,
        curated=document.curated,
        hash=document.digest,
        **{**wire, "triggers": encode(document.triggers)},
    )
