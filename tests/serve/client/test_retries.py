"""A service that has too much to do is asked again as it says, and never for long."""

from __future__ import annotations

from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillyard import InvalidInput
from skillyard.base.errors import ServiceFailed, ServiceUnavailable
from skillyard.serve.client import Retries
from skillyard.serve.client.call import after_s
from skillyard.serve.runtime.errors import unavailable
from skillyard.serve.runtime.guards import busy
from tests.serve.client.client_pair import Way, answer, lying, raised
from tests.serve.http.local_server import Running, running, until
from tests.tables import for_each

GOOD = answer({"openapi": "3.1.0"})


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


@for_each("status", [429, 503])
def test_the_service_says_how_long_and_else_it_doubles(way: Way, status: int) -> None:
    for answers, wanted in (
        ([refused("2", status), refused("0", status), GOOD], [2.0, 0.0]),
        ([refused(None, status), refused("soon", status), refused("-1", status), GOOD],
         [0.5, 1.0, 2.0]),
        ([refused("4", status), refused(None, status), GOOD], [4.0, 1.0]),
    ):  # fmt: skip
        waits: list[float] = []
        with lying(*answers) as liar:
            (found,) = way(liar.url, ask, sleep=waits.append)
            assert len(liar.requests) == len(answers)
        assert found == {"openapi": "3.1.0"}
        assert waits == wanted


GIVEN_UP: dict[str, tuple[list[bytes], dict[str, Any], list[float], float | None]] = {
    "after so many times": ([refused("1")], {}, [1.0, 1.0, 1.0], 1.0),
    "never again": ([refused("1")], {"times": 0}, [], 1.0),
    "for a wait that is too long": ([refused("11")], {}, [], 11.0),
    "for a wait of a lifetime": ([refused("9" * 30)], {"times": 1}, [0.5], None),
    "when the budget is spent": (
        [refused("8")], {"times": 9, "budget_s": 20}, [8.0, 8.0], 8.0,
    ),
    "without a word": ([refused()], {"times": 2}, [0.5, 1.0], None),
}  # fmt: skip


@for_each("name", GIVEN_UP)
def test_a_question_is_given_up(way: Way, name: str) -> None:
    answers, retries, wanted, after = GIVEN_UP[name]
    waits: list[float] = []
    with lying(*answers) as liar:
        (outcome,) = way(liar.url, ask, sleep=waits.append, retries=Retries(**retries))
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


def test_a_question_with_a_body_may_be_repeated_for_it_only_reads(way: Way) -> None:
    with lying(refused("0"), answer(b"", 500)) as liar:
        way(liar.url, lambda c: c.select("x"), sleep=lambda _: None)
        first, again = liar.requests
    assert first == again


def test_health_of_a_service_that_cannot_answer_is_no_reason_to_wait(
    served: Running, way: Way
) -> None:
    health = served.get("/health").json()
    with lying(answer({**health, "status": "starting"}, 503, "Retry-After: 1")) as liar:
        (found,) = way(
            liar.url, lambda c: c.health(), sleep=lambda _: pytest.fail("it waited")
        )  # fmt: skip
    assert (found.status, found.able) == ("starting", False)


# --- the arithmetic ---


def test_a_date_says_when() -> None:
    import time

    now = time.time()
    assert 55 < (after_s({"retry-after": formatdate(now + 60, usegmt=True)}) or 0) <= 60
    assert after_s({"retry-after": formatdate(now - 60, usegmt=True)}) == 0.0
    assert after_s({}) is None


@given(st.text(max_size=60))
def test_whatever_a_header_says_it_is_seconds_or_nothing(said: str) -> None:
    found = after_s({"retry-after": said})
    assert found is None or found >= 0


@given(
    st.integers(0, 5),
    st.floats(0, 100),
    st.floats(0, 100),
    st.lists(st.none() | st.floats(0, 1e9), min_size=10, max_size=10),
)
def test_no_wait_is_longer_than_one_may_be_and_all_of_them_keep_the_budget(
    times: int, longest_s: float, budget_s: float, said: list[float | None]
) -> None:
    retries = Retries(times, longest_s, budget_s)
    waited_s = 0.0
    for asked, after in enumerate(said, 1):
        wait = retries.wait_s(asked, waited_s, after)
        if wait is None:
            break
        assert asked <= times
        assert wait <= longest_s
        assert after is None or wait == after
        waited_s += wait
    assert waited_s <= budget_s


@for_each(
    "wrong", [{"times": -1}, {"times": 1.5}, {"longest_s": "x"}, {"budget_s": float("nan")},
              {"unsaid_s": True}],
)  # fmt: skip
def test_patience_that_is_no_number_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Retries(**wrong)
    assert caught.value.field == next(iter(wrong))
