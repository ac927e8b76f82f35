"""A service leaves a broken or slow embedder alone, says so, and tries it again at stated times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from skillyard.serve.runtime import follower
from skillyard.serve.runtime.logging import Log
from skillyard.serve.runtime.vectors import VectorThread
from tests.engine.embedding.letters import BrokenLetters, Letters, install
from tests.serve.http.local_server import Running, running, until
from tests.serve.runtime.test_vectors import (
    FAILED,
    NAME,
    TEXT,
    files,
    select,
    surroundings,  # noqa: F401 - a fixture for each test
    vectors,
)


class Clock:
    """A clock that a test moves on."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the vectors in every service of a test."""
    clock = Clock()

    def started(log: Log, _: object) -> VectorThread:
        return VectorThread(log, clock)

    monkeypatch.setattr(follower, "VectorThread", started)
    return clock


def wait(server: Running, clock: Clock, seconds: float) -> None:
    """Let the time until the next attempt pass."""
    clock.now += seconds
    vectors_thread = server.context.follower.vectors
    with vectors_thread._changed:
        vectors_thread._changed.notify_all()


def reaches(server: Running, broken: BrokenLetters, state: tuple[int, float]) -> bool:
    """Return True once the attempts, and the seconds until the next one, are those of a state."""
    return (broken.attempts, vectors(server)["retry_in_s"]) == state


def test_a_failure_at_the_start_is_logged_once_shown_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    broken = BrokenLetters()
    install(monkeypatch, broken)
    with running(tmp_path / "skills", files()) as server:
        until(lambda: vectors(server)["failure"] is not None)
        assert vectors(server)["failure"] == "embedder_failed"
        assert vectors(server)["retry_in_s"] == 60.0
        assert server.get("/health").json()["status"] == "degraded"
        assert select(server)["note"] == select(server)["note"] == FAILED
        clock.now += 5.0
        assert vectors(server)["retry_in_s"] == 55.0
        assert broken.attempts == 1
        for attempts in (2, 3):
            wait(server, clock, vectors(server)["retry_in_s"])
            until(partial(reaches, server, broken, (attempts, 60.0)))
        (logged,) = (line for line in server.lines() if line["event"] == "vectors")
        assert "it is broken" in logged["error"]
        broken.is_broken = False
        assert select(server)["note"] == FAILED
        wait(server, clock, 60.0)
        until(lambda: "note" not in select(server))
        computed = {"scorer": NAME, "done": 3, "total": 3, "failure": None}
        until(lambda: vectors(server) == computed)
        assert server.get("/health").json()["status"] == "healthy"


def test_after_a_failure_at_a_request_no_other_request_waits_for_the_embedder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    broken = BrokenLetters()
    broken.is_broken = False
    install(monkeypatch, broken)
    with running(tmp_path / "skills", files()) as server:
        until(lambda: "note" not in select(server))
        broken.is_broken = True
        plain = server.post("/select", {"text": TEXT, "scorer": "hybrid"}).json()
        attempts = broken.attempts
        assert select(server) == {**plain, "note": FAILED}
        assert vectors(server)["retry_in_s"] == 60.0
        assert vectors(server)["failure"] == "embedder_failed"
        assert server.get("/health").json()["status"] == "degraded"
        for _ in range(3):
            assert select(server) == {**plain, "note": FAILED}
        search = server.get("/search", params={"q": TEXT, "source": "local"}).json()
        assert search["note"] == FAILED
        assert broken.attempts == attempts + 1
        broken.is_broken = False
        assert select(server)["note"] == FAILED
        clock.now += 60.0
        assert "note" not in select(server)
        assert vectors(server)["failure"] is None
        assert broken.queries == [TEXT, TEXT]


class SlowLetters(Letters):
    """Letters that need some seconds of a clock for each request."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.seconds = 0.0

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        if query:
            self.clock.now += self.seconds
        return super().embed(texts, query=query)


def test_a_slow_answer_counts_as_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    slow = SlowLetters(clock)
    install(monkeypatch, slow)
    with running(tmp_path / "skills", files()) as server:
        until(lambda: "note" not in select(server))
        slow.seconds = 6.0
        assert "note" not in select(server)  # it waited, and has its answer
        until(lambda: vectors(server).get("retry_in_s") == 60.0)
        assert vectors(server)["failure"] == "embedder_slow"
        assert select(server)["note"] == f"Ranked by hybrid, not by {NAME}: its embedder is slow."
        slow.seconds = 0.1
        clock.now += 60.0
        assert "note" not in select(server)
