"""The log of all requests to all servers. Thread-safe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from threading import Lock
from typing import NamedTuple

from skillyard_testkit.messages import Request

__all__ = ["Request", "RequestLog"]


class RecordedRequest(NamedTuple):
    """One request, as a fake server received it."""

    server: str
    """``skills_sh``, ``github_api``, ``github_raw``, ``well_known`` or ``other``."""
    method: str
    path: str
    """With the query, as it was sent."""
    headers: Mapping[str, str]
    """Names in lower case; several of one name joined by a comma."""
    status: int | None
    """None before the response is sent; a request that hangs has none."""


class RequestLog:
    """Requests in order of arrival, and the largest number in flight."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: list[RecordedRequest] = []
        self._in_flight: Counter[str] = Counter()
        self._max_in_flight: Counter[str] = Counter()

    def arrived(self, server: str, request: Request) -> tuple[int, int]:
        """Note a request; return its number and how many of its server are now in flight."""
        with self._lock:
            self._requests.append(
                RecordedRequest(server, request.method, request.target, dict(request.headers), None)
            )
            self._in_flight[server] += 1
            here = self._in_flight[server]
            self._max_in_flight[server] = max(self._max_in_flight[server], here)
            return len(self._requests) - 1, here

    def answered(self, number: int, status: int) -> None:
        """Note the answer to the request of that number."""
        with self._lock:
            request = self._requests[number]
            self._requests[number] = request._replace(status=status)
            self._in_flight[request.server] -= 1

    @property
    def requests(self) -> list[RecordedRequest]:
        """A copy of the list so far."""
        with self._lock:
            return list(self._requests)

    def count(self, server: str, prefix: str = "") -> int:
        """Return how many requests a server got whose path starts with ``prefix``."""
        return sum(
            request.server == server and request.path.startswith(prefix)
            for request in self.requests
        )

    def max_in_flight(self, server: str) -> int:
        """Return the largest number of requests that a server had in flight together."""
        with self._lock:
            return self._max_in_flight[server]
