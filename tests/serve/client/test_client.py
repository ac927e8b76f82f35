"""Making, sharing and closing a client; what it sends, and what it loads."""

from __future__ import annotations

import pytest

from skillyard.errors import InvalidInput
from skillyard.serve.client import Client
from tests.serve.client.client_pair import Way, answer, lying
from tests.tables import for_each

TOKEN = "s3cret-token"


# --- where it asks ---


@for_each(
    "url",
    [
        "host.example", "ftp://host.example", "http://", "http:///x", "http://host.example?q=1",
        "http://host.example#a", "http://ho st", "http://h:99999", "file:///etc/passwd",
        "http://a/b c", "http://a/\x07", "http://h\n.example", "https://é.example/é",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Client(url)
    assert caught.value.field == "url"


def test_an_address_with_a_password_is_refused_without_showing_it() -> None:
    for url in ("http://user:s3cret@host.example/", "ftp://s3cret@h", "http://h@s3cret:x"):
        with pytest.raises(InvalidInput, match="SKILLYARD_HTTP_TOKEN") as caught:
            Client(url)
        assert "s3cret" not in str(caught.value)


def test_the_default_is_where_the_service_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SKILLYARD_HTTP_TOKEN", raising=False)
    with Client() as client:
        assert repr(client) == "<Client http://127.0.0.1:8765>"


def test_the_token_is_shown_nowhere() -> None:
    with Client("http://host.example", token=TOKEN) as client:
        assert TOKEN not in repr(client)


def test_a_service_on_this_machine_is_asked_without_a_proxy(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lying(answer({})) as proxy, lying(answer({"a": 1})) as liar:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert way(liar.url, lambda c: c.openapi(), token=TOKEN) == [{"a": 1}]
        assert proxy.requests == []


# --- being shared, closed and described ---


def test_where_that_library_is_missing_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("skillyard.serve.client.client.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"pip install .*\[remote\]( @ [^']*)?'"):
        Client()
