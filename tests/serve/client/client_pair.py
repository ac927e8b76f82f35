"""The same questions asked by both clients, and a server that answers whatever it is told to."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from skillyard.serve.client import AsyncClient, Client

Question = Callable[[Any], Any]
Way = Callable[..., list[Any]]
"""``way(url, question, …, token=…)`` asks one client after the other question, and returns what
came: a value or the error that was raised."""

HANG = b"hang"
"""An answer that never comes."""


def waiting(url: str, *questions: Question, **options: Any) -> list[Any]:
    with Client(url, **{"token": "", **options}) as client:
        return [_outcome(lambda ask=ask: ask(client)) for ask in questions]  # type: ignore[misc]


def awaiting(url: str, *questions: Question, **options: Any) -> list[Any]:
    async def outcome(client: AsyncClient, ask: Question) -> Any:
        try:
            return await ask(client)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
            return error

    async def run() -> list[Any]:
        slept = options.pop("sleep", None)
        if slept is not None:

            async def sleep(seconds: float) -> None:
                slept(seconds)

            options["sleep"] = sleep
        async with AsyncClient(url, **{"token": "", **options}) as client:
            return [await outcome(client, ask) for ask in questions]

    return asyncio.run(run())


def _outcome(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
        return error


WAYS: dict[str, Way] = {"waiting": waiting, "awaiting": awaiting}


def answer(
    body: bytes | str | Any, status: int = 200, *headers: str, packed: bool = False
) -> bytes:
    """Return the bytes of an answer; what is no text and no bytes is sent as JSON."""
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    lines = [f"HTTP/1.1 {status} Said", "Connection: close", *headers]
    if packed:
        body = gzip.compress(body)
        lines.append("Content-Encoding: gzip")
    if not any(header.lower().startswith("content-length") for header in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


class Liar:
    """Answers each request with the next of its answers, the last one for ever."""

    def __init__(self, answers: Sequence[bytes]) -> None:
        self.requests: list[str] = []
        self.answers = list(answers)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.closing = threading.Event()
        self.threads: list[threading.Thread] = []

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.threads.append(threading.Thread(target=self.talk, args=(connection,)))
            self.threads[-1].start()

    def talk(self, connection: socket.socket) -> None:
        with connection:
            request = self.heard(connection)
            if not request:
                return
            said = self.answers[min(len(self.requests), len(self.answers) - 1)]
            self.requests.append(request)
            try:
                if said.endswith(HANG):
                    connection.sendall(said.removesuffix(HANG))
                    self.closing.wait(60)
                else:
                    connection.sendall(said)
            except OSError:
                pass  # the client has had enough

    @staticmethod
    def heard(connection: socket.socket) -> str:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65_536)
            if not piece:
                return ""
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-len")]
        wanted = int(lengths[0].partition(b":")[2]) if lengths else 0
        while len(body) < wanted:
            body += connection.recv(65_536)
        return (head + b"\r\n\r\n" + body).decode("latin-1")

    def header(self, name: str, place: int = -1) -> str | None:
        """Return a header of a request, None where it was not sent."""
        lines = self.requests[place].split("\r\n")
        found = [line for line in lines if line.lower().startswith(f"{name}:")]
        return found[0].partition(":")[2].strip() if found else None


@contextmanager
def lying(*answers: bytes) -> Iterator[Liar]:
    """A server on loopback for as long as the context lasts."""
    liar = Liar(answers)
    thread = threading.Thread(target=liar.serve)
    thread.start()
    try:
        yield liar
    finally:
        liar.closing.set()
        liar.socket.shutdown(socket.SHUT_RDWR)
        liar.socket.close()
        for each in (thread, *liar.threads):
            each.join(30)
            assert not each.is_alive()


def raised(outcome: Any, kind: type[Exception]) -> Any:
    """Return an outcome that is an error of exactly that kind."""
    if type(outcome) is not kind:
        pytest.fail(f"not {kind.__name__}: {outcome!r}")
    return outcome
