"""One request with the standard library's bare client: no redirects, no decoding, no retries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Got(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(url: str, *, method: str = "GET", timeout: float = 20.0, **headers: str) -> Got:
    """Return the answer; header names may be written with underscores."""
    parts = urlsplit(url)
    assert parts.hostname == "127.0.0.1", "tests never leave this machine"
    connection = HTTPConnection(parts.hostname, parts.port or 80, timeout=timeout)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    target = url.removeprefix(f"{parts.scheme}://{parts.netloc}") or "/"
    try:
        connection.request(method, target, headers={"user-agent": "tests", **named})
        response = connection.getresponse()
        got = {name.lower(): value for name, value in response.getheaders()}
        return Got(response.status, got, response.read())
    finally:
        connection.close()
