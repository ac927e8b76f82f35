"""The fake model server, and requests to it without any maker's library."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from skillyard_testkit.fake_llm import FakeLlm

MESSAGES, COUNT, CHAT = "/v1/messages", "/v1/messages/count_tokens", "/v1/chat/completions"
ANTHROPIC_HEADERS = {
    "content-type": "application/json",
    "authorization": "Bearer k",
    "anthropic-version": "2026-10-21",
}
OPENAI_HEADERS = {"content-type": "application/json", "authorization": "Bearer k"}


class Got(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["error"]["message"])


def message(user: str = "Clean the export.", **more: Any) -> dict[str, Any]:
    """Return a good body for the first API; None takes a field out."""
    body = {
        "model": "claude-haiku-4-5",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": user}],
        **more,
    }
    return {name: value for name, value in body.items() if value is not None}


def chat(user: str = "Clean the export.", **more: Any) -> dict[str, Any]:
    """Return a good body for the second API; None takes a field out."""
    body = {
        "model": "gpt-4.1",
        "messages": [{"role": "user", "content": user}],
        **more,
    }
    return {name: value for name, value in body.items() if value is not None}


def post(fake: FakeLlm, path: str, body: object, **headers: str | None) -> Got:
    """Send a body, JSON unless it is bytes; a header that is None is left out."""
    base = OPENAI_HEADERS if path == CHAT else ANTHROPIC_HEADERS
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {name: value for name, value in {**base, **given}.items() if value is not None}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    parts = urlsplit(fake.url)
    assert parts.hostname == "127.0.0.1", "tests never leave this machine"
    connection = HTTPConnection(parts.hostname, parts.port or 80, timeout=20)
    try:
        connection.request("POST", path, content, sent)
        response = connection.getresponse()
        got = {name.lower(): value for name, value in response.getheaders()}
        return Got(response.status, got, response.read())
    finally:
        connection.close()


@pytest.fixture
def fake() -> Iterator[FakeLlm]:
    with FakeLlm() as running:
        yield running
