"""A service that has too much to do is asked again as it says, and never for long."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillyard.base.errors import ServiceFailed, ServiceUnavailable
from skillyard.serve.runtime.errors import unavailable
from skillyard.serve.runtime.guards import busy
from tests.serve.client.client_pair import Way, answer, lying, raised
from tests.serve.http.local_server import running, until
from tests.tables import for_each


def ask(c: Any) -> Any:
    return c.openapi()


def refused(after: str | None = None, status: int = 429) -> bytes:
    refusal = busy() if status == 429 else unavailable()
    headers = [] if after is None else [f"Retry-After: {after}"]
    return answer(refusal.to_dict(), status, *headers)


def test_a_busy_service_is_asked_again_when_it_says(tmp_path: Path, way: Way) -> None:
    with running(tmp_path / "skills") as server:
        places, waits = server.context.guard.requests, []
        free, places.free = places.free, 0

        def sleep(seconds: float) -> None:
            waits.append(seconds)
            places.free = free

        found, again = way(
            server.base, lambda c: c.select("deploy the app"), lambda c: c.rank("x"), sleep=sleep
        )

        def statuses() -> list[int]:
            return [line["status"] for line in server.lines() if line["event"] == "request"]

        until(lambda: len(statuses()) >= 3)
        assert statuses() == [429, 200, 200]
    assert found.selected[0].name == "deploy"
    assert again.total == 0
    assert waits == [1.0]


GIVEN_UP: dict[str, tuple[list[bytes], dict[str, Any], list[float], float | None]] = {
    "after so many times": ([refused("1")], {}, [1.0, 1.0, 1.0], 1.0),
    "never again": ([refused("1")], {"retries": 0}, [], 1.0),
    "for a wait that is too long": ([refused("11")], {}, [], 11.0),
    "for a wait of a lifetime": ([refused("9" * 30)], {"retries": 1}, [0.5], None),
    "when the budget is spent": ([refused("8")], {"retries": 9}, [8.0, 8.0, 8.0], 8.0),
    "without a word": ([refused()], {"retries": 2}, [0.5, 1.0], None),
}  # fmt: skip


@for_each("name", GIVEN_UP)
def test_a_question_is_given_up(way: Way, name: str) -> None:
    answers, retries, wanted, after = GIVEN_UP[name]
    waits: list[float] = []
    with lying(*answers) as liar:
        (outcome,) = way(liar.url, ask, sleep=waits.append, **retries)
        assert len(liar.requests) == len(wanted) + 1
    error = raised(outcome, ServiceUnavailable)
    assert waits == wanted
    assert (error.status, error.code, error.retry_after_s) == (429, "busy", after)


def test_nothing_else_is_asked_again(way: Way) -> None:
    statuses = [400, 404, 408, 409, 422, 500, 502, 504]
    with lying(*(answer(b"", status, "Retry-After: 1") for status in statuses)) as liar:
        questions = [ask] * len(statuses)
        outcomes = way(liar.url, *questions, sleep=lambda _: pytest.fail("it waited"))
        assert len(liar.requests) == len(statuses)
    for outcome in outcomes:
        assert isinstance(outcome, ServiceFailed)
        assert outcome.retry_after_s == 1.0
