"""What an upstream may do wrong: the answer still comes, and says what is missing and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from skillyard.search import FoundSkill, SearchResult
from skillyard.standin import Answer, Upstreams, faults
from tests.search.asking import (
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
INDEX = "/.well-known/agent-skills/index.json"
BIG = 40 << 20


class Wrong(NamedTuple):
    """One way to fail, and the codes that name it."""

    name: str
    fault: Callable[[Upstreams], faults.Fault]
    codes: frozenset[str]
    retry_after_s: float | None = None


def _wrong(
    name: str, fault: faults.Fault, *codes: str, retry_after_s: float | None = None
) -> Wrong:
    return Wrong(name, lambda up: fault, frozenset(codes), retry_after_s)


def _bytes(body: bytes) -> faults.Fault:
    return faults.said(Answer(200, body, {"content-type": "application/json"}))


def _off_the_list(up: Upstreams) -> faults.Fault:
    return faults.redirect(f"{up.other}/moved")


STATUSES = [
    Wrong("301 off the list", _off_the_list, frozenset({"refused"})),
    _wrong("301 without end", faults.redirect("?again"), "bad_answer", "refused", "status"),
    _wrong("301 to a file", faults.redirect("file:///etc/passwd"), "refused", "bad_answer"),
    _wrong("302 to metadata", faults.redirect("http://169.254.169.254/", 302), "refused"),
    _wrong("304 unasked", faults.said(Answer(304)), "bad_answer", "status"),
    _wrong("401", faults.status(401), "denied"),
    _wrong("403", faults.status(403), "denied"),
    _wrong("409", faults.status(409), "status", "not_found", "bad_answer"),
    _wrong("429", faults.status(429, retry_after=7), "rate_limited", retry_after_s=7),
    _wrong("500", faults.status(500), "status", "unreachable"),
    _wrong("503", faults.status(503, retry_after=9), "status", "unreachable", "rate_limited"),
]

ANSWERS = [
    _wrong("HTML with 200", faults.html(), "bad_answer"),
    _wrong("cut-off JSON", faults.truncated_json(), "bad_answer"),
    _wrong("longer than it says", faults.wrong_length(-5), "bad_answer", "unreachable"),
    _wrong("shorter than it says", faults.wrong_length(100), "bad_answer", "unreachable"),
    _wrong("endless", faults.endless(), "too_large", "timeout", "bad_answer"),
    _wrong("gzip bomb", faults.gzip_bomb(BIG), "too_large", "bad_answer"),
    _wrong("a hang", faults.hang(), "timeout"),
    _wrong("a hang inside the body", faults.hang(20), "timeout"),
    _wrong("null", _bytes(b"null"), "bad_answer"),
    _wrong("a list", _bytes(b"[]"), "bad_answer"),
    _wrong("a deep list", _bytes(b"[" * 100_000), "bad_answer"),
    _wrong("bytes that are no text", _bytes(b'{"x": "\xff\xfe"}'), "bad_answer"),
]  # fmt: skip

GITHUB = [
    _wrong("404", faults.status(404), "not_found"),
    _wrong("451", faults.status(451), "not_found", "denied", "status"),
    _wrong("primary limit", faults.rate_limited(403, 60), "rate_limited", retry_after_s=60),
    _wrong("primary limit, 429", faults.rate_limited(429, 60), "rate_limited", retry_after_s=60),
    _wrong("secondary limit", faults.secondary_limited(403, 30), "rate_limited", retry_after_s=30),
    _wrong("secondary limit, silent", faults.secondary_limited(429, None), "rate_limited"),
]


def wrongs(*groups: list[Wrong]) -> list[Any]:
    return [pytest.param(one, id=one.name) for group in groups for one in group]


@pytest.fixture
def up(three: Upstreams) -> Upstreams:
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


def test_without_faults_all_three_are_there(up: Upstreams) -> None:
    result = ask_three(up)
    assert set(ids(result)) == EVERY
    assert all(one.skill.body == "Do it so." for one in result.skills)
    assert not result.partial


@pytest.mark.parametrize("wrong", wrongs(STATUSES, ANSWERS))
def test_the_marketplace_fails(up: Upstreams, wrong: Wrong) -> None:
    up.faults.add("skills_sh", SEARCH, wrong.fault(up), times=None)
    check_only(ask_three(up), "skills.sh", wrong, "pdf-market")
    assert up.count("other") == 0


@pytest.mark.parametrize("wrong", wrongs(STATUSES, GITHUB, ANSWERS))
def test_the_repository_cannot_be_listed(up: Upstreams, wrong: Wrong) -> None:
    up.faults.add("github_api", TREE, wrong.fault(up), times=None)
    check_only(ask_three(up), "github", wrong, "pdf-ours")
    assert up.count("other") == 0


@pytest.mark.parametrize("wrong", wrongs(STATUSES, ANSWERS))
def test_the_sites_index_fails(up: Upstreams, wrong: Wrong) -> None:
    up.faults.add("well_known", INDEX, wrong.fault(up), times=None)
    check_only(ask_three(up), "well-known", wrong, "pdf-site")
    assert up.count("other") == 0


FILES = [one for one in ANSWERS if one.name in
         {"shorter than it says", "endless", "gzip bomb", "a hang",
          "a hang inside the body"}]  # fmt: skip
"""What may be wrong with a text as well as with JSON, and can be seen without its digest."""


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


@pytest.mark.parametrize("wrong", wrongs(STATUSES, FILES, [
    _wrong("404", faults.status(404), "not_found"),
    _wrong("HTML with 200", faults.html(), "bad_answer"),  # this host says text/plain of all text
    _wrong("LFS pointer", faults.lfs_pointer(), "not_found", "bad_answer", "refused"),
]))  # fmt: skip
def test_the_file_cannot_be_had(up: Upstreams, wrong: Wrong) -> None:
    up.faults.add("github_raw", "/acme/*", wrong.fault(up), times=None)
    result = ask_three(up)
    check_pointer(result, "pdf-ours", wrong)
    assert status_of(result, "github").state == "ok"
    assert up.count("other") == 0


@pytest.mark.parametrize("wrong", wrongs(STATUSES, FILES, [
    _wrong("404", faults.status(404), "not_found"),
    _wrong("HTML with 200", faults.html(), "bad_answer", "refused"),
    _wrong("another digest", faults.wrong_digest(), "bad_answer", "refused"),
    _wrong("longer than it says", faults.wrong_length(-5), "bad_answer", "refused"),
]))  # fmt: skip
def test_the_sites_file_cannot_be_had(up: Upstreams, wrong: Wrong) -> None:
    up.faults.add("well_known", "*/SKILL.md", wrong.fault(up), times=None)
    check_pointer(ask_three(up), "pdf-site", wrong)
    assert up.count("other") == 0


@pytest.mark.parametrize("wrong", wrongs(STATUSES, ANSWERS, [
    _wrong("404", faults.status(404), "not_found"),
]))  # fmt: skip
def test_without_its_snapshot_a_skill_comes_from_its_repository(
    up: Upstreams, wrong: Wrong
) -> None:
    up.faults.add("skills_sh", "/api/download/*", wrong.fault(up), times=None)
    result = ask_three(up)
    market = by_id(result)["pdf-market"]
    assert market.skill.body == "Do it so."
    assert market.failure is None
    assert not result.partial
    assert up.count("other") == 0


@pytest.mark.parametrize("wrong", wrongs(GITHUB, STATUSES, ANSWERS))
def test_without_snapshot_and_repository_it_is_a_pointer(up: Upstreams, wrong: Wrong) -> None:
    up.switches.downloads = False
    up.faults.add("github_api", "/repos/market/*", wrong.fault(up), times=None)
    check_pointer(ask_three(up), "pdf-market", wrong)
    assert up.count("other") == 0


@pytest.mark.parametrize(
    "fault",
    [faults.status(500), faults.html(), faults.truncated_json(), faults.hang(),
     faults.status(429, retry_after=7)],
    ids=["500", "html", "json", "hang", "429"],
)  # fmt: skip
def test_when_everything_fails_that_is_said_and_nothing_is_raised(
    up: Upstreams, fault: faults.Fault
) -> None:
    up.faults.add("*", "*", fault, times=None)
    result = ask_three(up, enabled=("skills.sh", "github", "well-known"))
    assert result.failed
    assert result.skills == ()
    assert all(status.code in ANY and status.message for status in result.sources)
