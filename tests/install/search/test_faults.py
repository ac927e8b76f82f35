"""What an upstream may do wrong: the answer still comes, and says what is missing and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from skillyard import SearchResult
from skillyard_testkit import FakeServers, faults
from tests.install.search.fake_search import (
    EVERY,
    ask_three,
    ids,
    status_of,
)

ANY = {"unreachable", "timeout", "rate_limited", "denied", "not_found", "bad_answer"} | {
    "too_large",
    "refused",
    "status",
}

SEARCH = "/api/search"


class Wrong(NamedTuple):
    """One way to fail, and the codes that name it."""

    name: str
    fault: Callable[[FakeServers], faults.Fault]
    codes: frozenset[str]
    retry_after_s: float | None = None


def _wrong(
    name: str, fault: faults.Fault, *codes: str, retry_after_s: float | None = None
) -> Wrong:
    return Wrong(name, lambda up: fault, frozenset(codes), retry_after_s)


def _off_the_list(up: FakeServers) -> faults.Fault:
    return faults.redirect(f"{up.other}/moved")


WRONGS = [
    Wrong("301 off the list", _off_the_list, frozenset({"refused"})),
    _wrong("429", faults.status(429, retry_after=7), "rate_limited", retry_after_s=7),
    _wrong("cut-off JSON", faults.truncated_json(), "bad_answer"),
    _wrong("a hang inside the body", faults.hang(20), "timeout"),
]
"""One of each kind; the table of all of them stands at the transport, ``tests/install/sources``."""
"""What may be wrong with a text as well as with JSON, and can be seen without its digest."""


def wrongs(*groups: list[Wrong]) -> list[Any]:
    return [pytest.param(one, id=one.name) for group in groups for one in group]


@pytest.fixture
def up(three: FakeServers) -> FakeServers:
    return three


def check_only(result: SearchResult, source: str, wrong: Wrong, lost: str) -> None:
    """All but one source are fine, and that one says what is the matter."""
    status = status_of(result, source)
    assert status.state == "failed"
    assert status.code in wrong.codes
    assert status.message
    if wrong.retry_after_s is not None:
        assert status.retry_after_s == pytest.approx(wrong.retry_after_s, abs=2)
    assert {one.name for one in result.sources if one.state == "failed"} == {source}
    assert result.partial
    assert set(ids(result)) == EVERY - {lost}
    assert all(one.skill.body == "Do it so." for one in result.skills)


@pytest.mark.parametrize("wrong", wrongs(WRONGS))
def test_the_marketplace_fails(up: FakeServers, wrong: Wrong) -> None:
    up.faults.add("skills_sh", SEARCH, wrong.fault(up), times=None)
    check_only(ask_three(up), "skills.sh", wrong, "pdf-market")
    assert up.count("other") == 0


@pytest.mark.parametrize("fault", [faults.html(), faults.hang()], ids=["html", "hang"])
def test_when_everything_fails_that_is_said_and_nothing_is_raised(
    up: FakeServers, fault: faults.Fault
) -> None:
    up.faults.add("*", "*", fault, times=None)
    result = ask_three(up, enabled=("skills.sh", "github", "well-known"))
    assert result.failed
    assert result.skills == ()
    assert all(status.code in ANY and status.message for status in result.sources)
