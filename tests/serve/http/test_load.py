"""More than it can do: some wait, one more is told to come back, and nobody is cut off."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from skillyard.hosts.operations.skill_selection import rank_skills
from skillyard.serve.http.routes import ranking
from skillyard.serve.runtime.options import ServiceLimits
from tests.serve.http.local_server import Running, running, until
from tests.serve.http.shapes import conforms


class Held:
    """Rankings that wait until they are let go."""

    def __init__(self) -> None:
        self.inside = 0
        self.most = 0
        self.go = threading.Event()
        self._lock = threading.Lock()
        self._rank = rank_skills

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        assert self.go.wait(30)
        with self._lock:
            self.inside -= 1
        return self._rank(*arguments, **options)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    found = Held()
    monkeypatch.setattr(ranking, "rank_skills", found)
    yield found
    found.go.set()


def rank(server: Running) -> httpx2.Response:
    with httpx2.Client(base_url=server.base, timeout=30, trust_env=False) as client:
        return client.get("/rank?q=deploy&scorer=overlap")


def test_one_more_than_may_wait_is_told_when_to_come_back(tmp_path: Path, held: Held) -> None:
    limits = ServiceLimits(at_once=2, queue=1)
    with running(tmp_path / "skills", limits=limits) as server, ThreadPoolExecutor(3) as pool:
        working = [pool.submit(rank, server) for _ in range(2)]
        until(lambda: held.inside == 2)
        waiting = pool.submit(rank, server)
        until(lambda: server.context.guard.waiting == 1)
        refused = rank(server)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        conforms(refused.json(), "Error")
        health = server.get("/health")
        assert (health.status_code, health.json()["requests"]) == (
            200, {"working": 2, "waiting": 1},
        )  # fmt: skip
        assert server.get("/metrics").status_code == 200
        held.go.set()
        answers = [future.result().status_code for future in (*working, waiting)]
        assert answers == [200, 200, 200]
        assert held.most == 2
        assert server.get("/health").json()["requests"] == {"working": 0, "waiting": 0}


def test_a_running_request_is_answered_while_the_service_stops(tmp_path: Path, held: Held) -> None:
    with running(tmp_path / "skills") as server, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(rank, server)
        until(lambda: held.inside == 1)
        server.server.should_exit = True
        until(lambda: not server.server.servers[0].is_serving())
        with pytest.raises(httpx2.ConnectError):
            rank(server)
        held.go.set()
        answer = asked.result()
        assert (answer.status_code, answer.json()["total"]) == (200, 1)
