"""The synchronous and the asynchronous client. They share everything but the I/O."""

from __future__ import annotations

import asyncio
import inspect
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from functools import wraps
from importlib.util import find_spec
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from skillyard.base.errors import InvalidInput
from skillyard.base.extras import install_command
from skillyard.serve.client import calls
from skillyard.serve.client.address import ANSWER_BYTES, Service
from skillyard.serve.client.call import Call
from skillyard.serve.client.exchange import HttpRequest, Steps, Wait, exchange, receiving
from skillyard.serve.client.reply import Reply
from skillyard.serve.client.retries import Retries

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = Retries()


class _BaseClient(ABC):
    """The state that both clients share: the address and the open connections."""

    def __init__(
        self,
        base_url: str = "",
        *,
        token: str | None = None,
        timeout_s: float = 30.0,
        deadline_s: float = 120.0,
        answer_bytes: int = ANSWER_BYTES,
        retries: Retries = PATIENCE,
        sleep: Callable[[float], Any] | None = None,
    ) -> None:
        """Raises InvalidInput for invalid arguments and when httpx2 or pydantic is not installed.

        ``base_url`` is the address of the service (default:
        http://127.0.0.1:8765), ``token`` its bearer token (default: SKILLYARD_HTTP_TOKEN), which is
        sent to that address only; redirects are not followed. ``timeout_s`` limits each I/O step,
        ``deadline_s`` a whole response, ``answer_bytes`` its size. ``sleep`` is the
        function that waits before a retry.
        """
        for name in ("httpx2", "pydantic"):
            if find_spec(name) is None:
                raise InvalidInput(f"asking a service needs {name}: {install_command('remote')}")
        if not isinstance(retries, Retries):
            raise InvalidInput("retries must be a Retries value", field="retries")
        self.service = Service(base_url, token, timeout_s, deadline_s, answer_bytes)
        self._retries = retries
        self._sleep = sleep or self._pause
        self._http = self._opened(self.service.settings())

    @abstractmethod
    def _opened(self, settings: dict[str, Any]) -> Any:
        """Return the synchronous or asynchronous HTTP client."""

    _pause: Callable[[float], Any]

    def _steps(self, call: Call[T]) -> Steps[T]:
        if self._http.is_closed:
            raise InvalidInput("this client is closed: make another one")
        return exchange(self.service, self._retries, call)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.service.url}>"


def _named(method: Any, question: Any, owner: str) -> Any:
    """Give a method the signature and the docstring of its call."""
    answer = str(question.__annotations__["return"]).removeprefix("Call[").removesuffix("]")
    myself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.signature(question)
    method.__signature__ = signature.replace(
        parameters=[myself, *signature.parameters.values()], return_annotation=answer
    )
    method.__annotations__ = {**question.__annotations__, "return": answer}
    method.__qualname__ = f"{owner}.{question.__name__}"
    return method


def _waiting(question: Callable[P, Call[T]]) -> Callable[Concatenate[Client, P], T]:
    """Return the synchronous method of a call."""

    @wraps(question)
    def method(self: Client, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._ask(question(*args, **kwargs))

    named: Callable[Concatenate[Client, P], T] = _named(method, question, "Client")
    return named


def _awaiting(
    question: Callable[P, Call[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    """Return the asynchronous method of a call."""

    @wraps(question)
    async def method(self: AsyncClient, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._ask(question(*args, **kwargs))

    named: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]] = _named(
        method, question, "AsyncClient"
    )
    return named


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
    metrics = _waiting(calls.metrics)
    index = _waiting(calls.index)
    skill_archive = _waiting(calls.skill_archive)
    skill_file = _waiting(calls.skill_file)
    openapi = _waiting(calls.openapi)

    _pause = staticmethod(time.sleep)

    def _opened(self, settings: dict[str, Any]) -> Any:
        import httpx2

        return httpx2.Client(**settings)

    def _ask(self, call: Call[T]) -> T:
        steps = self._steps(call)
        reply: Reply | None = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, Wait):
                    reply = self._sleep(step.seconds)
                else:
                    reply = self._send(step)
        except StopIteration as stop:
            answer: T = stop.value
            return answer

    def _send(self, request: HttpRequest) -> Reply:
        with (
            receiving(self.service, request) as begun,
            self._http.stream(**request._asdict()) as response,
        ):
            incoming = begun(response)
            for piece in response.iter_raw():
                incoming.add(piece)
            return incoming.whole()

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
    metrics = _awaiting(calls.metrics)
    index = _awaiting(calls.index)
    skill_archive = _awaiting(calls.skill_archive)
    skill_file = _awaiting(calls.skill_file)
    openapi = _awaiting(calls.openapi)

    _pause = staticmethod(asyncio.sleep)

    def _opened(self, settings: dict[str, Any]) -> Any:
        import httpx2

        return httpx2.AsyncClient(**settings)

    async def _ask(self, call: Call[T]) -> T:
        steps = self._steps(call)
        reply: Reply | None = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, Wait):
                    reply = await self._sleep(step.seconds)
                else:
                    reply = await self._send(step)
        except StopIteration as stop:
            answer: T = stop.value
            return answer

    async def _send(self, request: HttpRequest) -> Reply:
        with receiving(self.service, request) as begun:
            async with (
                asyncio.timeout(self.service.deadline_s),
                self._http.stream(**request._asdict()) as response,
            ):
                incoming = begun(response)
                async for piece in response.aiter_raw():
                    incoming.add(piece)
                return incoming.whole()

    async def aclose(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
