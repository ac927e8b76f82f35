"""Servers that lie: nothing that they send makes anything but a value or a named error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillyard.base.errors import BadAnswer, ServiceFailed, ServiceUnavailable
from skillyard.serve.client import client
from skillyard.serve.client.call import Response
from tests.serve.client.client_pair import HANG, Way, answer, lying, raised
from tests.serve.http.local_server import Running
from tests.tables import for_each

TOKEN = "s3cret-token"
FAST = {"timeout_s": 0.3, "deadline_s": 2.0}


@pytest.fixture(scope="module")
def truth(served: Running) -> dict[str, Any]:
    """A true answer, to be bent."""
    found: dict[str, Any] = served.get("/search?q=pdf+tables&explain=true").json()
    return found


def bent(truth: dict[str, Any], *path: str | int, to: Any) -> dict[str, Any]:
    """Return a copy with one value changed."""
    copy: Any = json.loads(json.dumps(truth))
    place = copy
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return dict(copy)


def ask(c: Any) -> Any:
    return c.search("pdf")


DEEP = b'{"a":' * 5_000 + b"1" + b"}" * 5_000
NO_JSON: dict[str, tuple[bytes, str]] = {
    "a web page": (b"<!doctype html><title>Sign in</title>", "a web page came"),
    "nothing": (b"", "it is empty"),
    "no UTF-8": (b'{"query": "\xff"}', "Invalid JSON"),
    "deep": (DEEP, "recursion limit"),
    "half a pair": (b'{"query": "\\ud800"}', "Invalid JSON"),
    "another document": (b'{"schema": "skillyard.rank/1"}', "$.schema: "),
    "two documents": (b"{}{}", "Invalid JSON"),
}


def test_what_is_no_document_of_ours_is_a_bad_answer(way: Way) -> None:
    with lying(*(answer(body) for body, _ in NO_JSON.values())) as liar:
        outcomes = way(liar.url, *[ask] * len(NO_JSON))
    for (name, (_, said)), outcome in zip(NO_JSON.items(), outcomes, strict=True):
        error = raised(outcome, BadAnswer)
        assert said in str(error), name
        assert (error.url, error.status) == (f"{liar.url}/search", 200)
        assert "is this the address of a skillyard service?" in str(error)


BENT: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "$.query": (("query",), None),
    "$.considered": (("considered",), True),
    "$.sources": (("sources",), {}),
    "$.skills[0]": (("skills", 0), "pdf"),
    "$.skills[0].id": (("skills", 0, "id"), 5),
    "$.skills[0].allowed_tools[1]": (("skills", 0, "allowed_tools"), ["Read", None]),
    "$.skills[0].relevance_score: ": (("skills", 0, "relevance_score"), 10**400),
    "$.skills[0].explanation.parts": (("skills", 0, "explanation", "parts"), 1),
    "$.skills[0].curated": (("skills", 0, "curated"), "yes"),
}


def test_a_value_of_another_type_is_named_with_its_place(way: Way, truth: dict[str, Any]) -> None:
    answers = [answer(bent(truth, *path, to=value)) for path, value in BENT.values()]
    with lying(*answers) as liar:
        outcomes = way(liar.url, *[ask] * len(BENT))
    for name, outcome in zip(BENT, outcomes, strict=True):
        assert name.partition(" ")[0] in str(raised(outcome, BadAnswer)), name


# --- size and packing ---


def test_an_answer_that_is_too_large_is_not_read_to_its_end(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "ANSWER_BYTES", 100_000)
    open_ended = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b" " * 200_000
    chunk = b"ffff\r\n" + b" " * 65_535 + b"\r\n"
    in_chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk * 2 + HANG
    bomb = answer(b" " * 5_000_000, packed=True)
    for body in (open_ended, in_chunks, bomb):
        with lying(body) as liar:
            (outcome,) = way(liar.url, ask)
        assert "larger than 100,000 bytes" in str(raised(outcome, BadAnswer))
    with lying(answer(b" " * 100_000)) as liar:
        (outcome,) = way(liar.url, ask)
    assert "it is empty" in str(raised(outcome, BadAnswer))


# --- elsewhere, and never ---


def test_a_redirect_is_not_followed_and_takes_no_token_along(way: Way) -> None:
    statuses = [301, 302, 303, 307, 308, 300, 305]
    with lying(answer({})) as elsewhere:
        location = f"Location: {elsewhere.url}/search"
        with lying(*(answer(b"", status, location) for status in statuses)) as liar:
            outcomes = way(liar.url, *[ask] * len(statuses), token=TOKEN)
            assert liar.header("authorization") == f"Bearer {TOKEN}"
        assert elsewhere.requests == []
    for status, outcome in zip(statuses, outcomes, strict=True):
        error = raised(outcome, BadAnswer)
        assert error.status == status
        assert "redirects are not followed" in str(error)
        assert TOKEN not in repr(error)


def test_no_cookie_comes_back(way: Way) -> None:
    with lying(answer({}, 200, "Set-Cookie: follow=me; Path=/")) as liar:
        way(liar.url, ask, ask)
        assert len(liar.requests) == 2
        assert liar.header("cookie") is None


def test_a_server_that_says_nothing_is_given_up(way: Way) -> None:
    with lying(HANG) as liar:
        (outcome,) = way(liar.url, ask, **FAST)
    error = raised(outcome, ServiceUnavailable)
    assert (error.code, error.status) == ("timeout", None)
    assert "0.3 s" in str(error)


def test_an_answer_that_never_ends_is_given_up_at_the_deadline(way: Way) -> None:
    with pytest.raises(TimeoutError):
        Response(200, {}).add(b"x", 10, until=0.0)
    with lying(answer(b"{", 200, "Content-Length: 10") + HANG) as liar:
        (outcome,) = way(liar.url, ask, timeout_s=0.3, deadline_s=0.2)
    assert raised(outcome, ServiceUnavailable).code == "timeout"


NO_HTTP = [
    b"",
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"HTTP/1.1 abc\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
    b"HTTP/1.1 200 OK\r\nX: " + b"a" * 300_000,
    b"HTTP/1.1 304 Not Modified\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01",
]


@for_each("said", NO_HTTP, ids=range(len(NO_HTTP)))
def test_what_is_no_http_is_a_named_error(way: Way, said: bytes) -> None:
    with lying(said) as liar:
        (outcome,) = way(liar.url, ask)
    assert isinstance(outcome, BadAnswer | ServiceUnavailable)
    assert outcome.url == f"{liar.url}/search"
    assert isinstance(outcome, ServiceFailed)
