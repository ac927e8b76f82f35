"""What a service is started with: an address beyond this machine needs a token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillyard.errors import InvalidInput
from skillyard.install.sources.settings import Settings
from skillyard.serve.http.app import create_app
from skillyard.serve.runtime.options import TOKEN, ServiceOptions
from tests.serve.http.local_server import options_of
from tests.tables import for_each


@for_each("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", ""])
def test_an_address_beyond_this_machine_needs_a_token_and_the_error_says_what_to_set(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    with pytest.raises(InvalidInput, match=TOKEN):
        ServiceOptions(host=host)
    assert ServiceOptions(host=host, token="secret").token == "secret"


@for_each("name", ["skills.example.com", "skills.example.com:8443", "10.0.0.1", "proxy", "::2"])
def test_a_name_that_other_machines_use_needs_a_token_too(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    with pytest.raises(InvalidInput, match="--token-file"):
        ServiceOptions(allowed_hosts=("localhost", name))
    assert ServiceOptions(allowed_hosts=(name,), token="secret").token == "secret"


@for_each("name", ["localhost", "localhost:80", "127.0.0.1:80", "[::1]:80", "::1"])
def test_a_name_of_this_machine_needs_none(name: str) -> None:
    assert ServiceOptions(allowed_hosts=(name,), token="").allowed_hosts == (name,)


def test_the_token_may_lie_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "http_token"
    monkeypatch.delenv(TOKEN, raising=False)
    with pytest.raises(InvalidInput, match="cannot be read"):
        ServiceOptions(token_file=str(path))
    for content, said in ((b"\n", "is empty"), (b"\xff", "not text"), (b"a b", "without blanks")):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match=said):
            ServiceOptions(token_file=str(path))
    path.write_text("hunter2\n", encoding="utf-8")
    monkeypatch.setenv(TOKEN, "another")
    assert ServiceOptions(host="0.0.0.0", token_file=str(path)).token == "hunter2"
    assert ServiceOptions(token="", token_file=str(path)).token == ""
    monkeypatch.setenv("SKILLYARD_HTTP_TOKEN_FILE", str(path))
    with pytest.raises(InvalidInput, match="is not read any more: name it with --token-file"):
        ServiceOptions()
    assert ServiceOptions(token_file=str(path)).token == "hunter2"


def test_the_token_comes_from_the_environment_and_is_never_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(TOKEN, " hunter2 ")
    options = ServiceOptions(host="0.0.0.0")
    assert options.token == "hunter2"
    assert "hunter2" not in repr(options)


@for_each(
    "wrong",
    [
        {"port": -1},
        {"max_stale_s": -1},
        {"max_stale_s": float("nan")},
        {"port": 70_000},
        {"roots": "skills"},
        {"roots": [""]},
        {"log_format": "xml"},
        {"token": "two words"},
        {"token": "schlüssel"},
        {"allowed_origins": ["https://a.example/path"]},
        {"allowed_origins": ["null"]},
        {"trusted_proxies": ["proxy.example"]},
        {"trusted_proxies": "10.0.0.1"},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_when_the_options_are_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ServiceOptions(**wrong)


def test_searching_remotes_without_their_client_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r"pip install .*\[remote\]"):
        create_app(options_of(tmp_path, settings=Settings(), remote=True))
    assert create_app(options_of(tmp_path, settings=Settings())).routes
