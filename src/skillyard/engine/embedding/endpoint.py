"""``http``: any server with an OpenAI-like ``/embeddings`` route. Needs ``skillyard[remote]``.

Requests go to the configured address only. Redirects are not followed, and the key is neither sent
elsewhere nor stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import islice
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from skillyard.base.configuration import read_section
from skillyard.base.errors import EmbedderFailed, InvalidInput
from skillyard.base.extras import install_command
from skillyard.base.io.retry_after import retry_after_s


class EmbeddingsSection(NamedTuple):
    """The server that ``hybrid+http`` asks for vectors."""

    url: str = ""
    """The whole address of its route, such as ``https://host/v1/embeddings``."""
    model: str = ""
    """The model that the server uses."""
    key: str = ""
    """Sent as ``Authorization: Bearer …``; empty: none."""


BATCH_TEXTS = 64
"""Texts per request."""
MAX_ATTEMPTS = 3
RETRYABLE_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Status codes after which a retry may succeed."""
MAX_RETRY_AFTER_S = 20.0
"""Longest Retry-After that is respected."""
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
"""Bytes: 64 vectors of 4,096 numbers take about six million."""


class HttpEmbedder:
    """Sends ``POST {url}`` with ``{"model", "input": [text, …]}``, reads ``data[].embedding``."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        timeout_s: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises InvalidInput for anything but an http(s) address, EmbedderFailed without httpx2.

        ``url`` is the whole address, such as ``https://host/v1/embeddings``. ``sleep`` is called
        between retries.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(f"{url!r} is not an http or https address of an embeddings route")
        if parts.username or parts.password:
            raise InvalidInput("give the key in embeddings.key, not in the address")
        if not model:
            raise InvalidInput("name the model of the endpoint")
        if find_spec("httpx2") is None:
            raise EmbedderFailed("http", "not installed: httpx2", hint=install_command("remote"))
        self.url = url
        self.model = model
        self.timeout_s = timeout_s
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._sleep = sleep

    @property
    def id(self) -> str:
        """The address and the model, which identify the vectors."""
        return f"{self.url}#{self.model}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HttpEmbedder) and (self.id, self._headers, self.timeout_s) == (
            other.id,
            other._headers,
            other.timeout_s,
        )

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<HttpEmbedder {self.id}>"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """Return a vector for each text. ``query`` makes no difference.

        Raises EmbedderFailed: no connection, an error status, or an answer of another shape.
        """
        import httpx2

        left, vectors = iter(texts), list[list[float]]()
        with httpx2.Client(
            timeout=self.timeout_s, headers=self._headers, follow_redirects=False
        ) as client:
            while batch := list(islice(left, BATCH_TEXTS)):
                vectors += self._vectors(self._ask(client, batch), len(batch))
        return vectors

    def _ask(self, client: Any, texts: list[str]) -> Any:
        import httpx2

        failure = ""
        for number in range(MAX_ATTEMPTS):
            if number:
                self._sleep(0.5 * 2**number)
            try:
                status, wait, answer = self._once(client, texts)
            except httpx2.HTTPError as error:
                failure = f"cannot be reached: {type(error).__name__} {error}".rstrip()
                continue
            if status == 200:
                return answer
            failure = f"answered {status}"
            if status not in RETRYABLE_STATUSES:
                break
            if wait and number + 1 < MAX_ATTEMPTS:
                self._sleep(min(wait, MAX_RETRY_AFTER_S))
        raise EmbedderFailed(self.id, failure, hint="check [embeddings] in your skillyard.toml")

    def _once(self, client: Any, texts: list[str]) -> tuple[int, float, Any]:
        """Return (status, seconds to wait, JSON)."""
        body = {"model": self.model, "input": texts, "encoding_format": "float"}
        with client.stream("POST", self.url, json=body) as response:
            if response.status_code != 200:
                wait_s = retry_after_s(response.headers.get("retry-after"), time.time())
                return response.status_code, wait_s or 0.0, None
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > MAX_RESPONSE_BYTES:
                    raise EmbedderFailed(self.id, f"answered more than {MAX_RESPONSE_BYTES} bytes")
        import json

        try:
            return 200, 0.0, json.loads(data)
        except (ValueError, RecursionError):
            raise EmbedderFailed(self.id, "answered with something that is not JSON") from None

    def _vectors(self, answer: Any, count: int) -> list[list[float]]:
        items = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(items, list) or len(items) != count:
            raise EmbedderFailed(self.id, f"answered without a list `data` of {count} vectors")
        vectors: list[list[float] | None] = [None] * count
        for place, item in enumerate(items):
            vector = item.get("embedding") if isinstance(item, dict) else None
            number = item.get("index", place) if isinstance(item, dict) else -1
            if type(number) is not int or not 0 <= number < count or vectors[number] is not None:
                raise EmbedderFailed(self.id, f"data[{place}] has no index of its own")
            if not isinstance(vector, list) or not all(map(_is_number, vector)):
                raise EmbedderFailed(self.id, f"data[{place}].embedding is no list of numbers")
            vectors[number] = [float(value) for value in vector]
        return [vector for vector in vectors if vector is not None]


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e30 and isfinite(value)


def configured_endpoint() -> HttpEmbedder:
    """Return the endpoint of ``skillyard.toml``. Raises EmbedderFailed without one."""
    url, model, key = read_section("embeddings", EmbeddingsSection)
    if not url or not model:
        hint = "set url and model in [embeddings] of your skillyard.toml"
        raise EmbedderFailed("http", "no endpoint is named", hint=hint)
    return HttpEmbedder(url, model, key=key or None)
