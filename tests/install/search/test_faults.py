"""What an upstream may do wrong: the answer still comes, and says what is missing and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from skillyard import SearchResult
from skillyard.install.search import FoundSkill
from skillyard_testkit import FakeServers, faults
from tests.install.search.fake_search import (
    EVERY,
    ask_three,
    by_id,
    ids,
    status_of,
)

ANY = {"unreachable", "timeout", "rate_limited", "denied", "not_found", "bad_answer"} | {
    "too_large",
    "refused",
    "status",
}

TREE = "/repos/acme/skills/git/trees/*"
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
FILES = [one for one in WRONGS if one.name != "cut-off JSON"]
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


def check_pointer(result: SearchResult, skill_id: str, wrong: Wrong) -> FoundSkill:
    """The skill is there, last, without a body and with the reason; the others are whole."""
    assert set(ids(result)) == EVERY
    assert ids(result)[-1] == skill_id
    one = by_id(result)[skill_id]
    assert one.skill.body is None
    assert one.failure is not None
    assert one.failure.code in wrong.codes
    if wrong.retry_after_s is not None:
        assert one.failure.retry_after_s == pytest.approx(wrong.retry_after_s, abs=2)
    assert one.to_dict()["fetch_error"]
    assert all(other.skill.body for other in result.skills if other is not one)
    return one


@pytest.mark.parametrize("wrong", wrongs(FILES, [
    _wrong("404", faults.status(404), "not_found"),
    _wrong("HTML with 200", faults.html(), "bad_answer"),  # this host says text/plain of all text
    _wrong("LFS pointer", faults.lfs_pointer(), "not_found", "bad_answer", "refused"),
]))  # fmt: skip
def test_the_file_cannot_be_had(up: FakeServers, wrong: Wrong) -> None:
    up.faults.add("github_raw", "/acme/*", wrong.fault(up), times=None)
    result = ask_three(up)
    check_pointer(result, "pdf-ours", wrong)
    assert status_of(result, "github").state == "ok"
    assert up.count("other") == 0


@pytest.mark.parametrize("wrong", wrongs(WRONGS, [_wrong("404", faults.status(404), "not_found")]))
def test_without_its_snapshot_a_skill_comes_from_its_repository(
    up: FakeServers, wrong: Wrong
) -> None:
    up.faults.add("skills_sh", "/api/download/*", wrong.fault(up), times=None)
    result = ask_three(up)
    market = by_id(result)["pdf-market"]
    assert market.skill.body == "Do it so."
    assert market.failure is None
    assert not result.partial
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
