"""A token reaches its own host, encrypted, and a private service is a registry to install from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillyard.cli import main
from skillyard.errors import InvalidInput
from skillyard.install.sources.transport import host_name, host_of
from tests.configuration import configure
from tests.serve.http.local_server import LIBRARY, running
from tests.tables import for_each

pytest.importorskip("uvicorn")
TOKEN = "a-long-secret-of-this-test"


@for_each(
    ("url", "name"),
    [
        ("https://skills.example.com", "skills.example.com"),
        ("https://my-skills.example:443/x", "my-skills.example"),
        ("https://Skills.Example:8443", "skills.example:8443"),
        ("http://[::1]:80", "::1:80"),
    ],
)
def test_a_token_is_named_by_its_host(url: str, name: str) -> None:
    assert host_name(url) == name
    assert host_of(url, {name: TOKEN}).token == TOKEN
    assert host_of(url, {}).token == ""


def test_a_token_is_not_sent_in_the_clear_to_another_machine() -> None:
    tokens = {"skills.example": TOKEN}
    with pytest.raises(InvalidInput, match=r"write http://skills\.example with https"):
        host_of("http://skills.example", tokens)
    assert host_of("http://127.0.0.1:8765", {"127.0.0.1:8765": TOKEN}).token


def test_a_host_with_a_token_may_be_private_and_others_may_not() -> None:
    tokens = {"skills.example": TOKEN}
    assert host_of("https://skills.example", tokens, named_by_user=False).named_by_user
    assert not host_of("https://other.example", tokens, named_by_user=False).named_by_user


def test_a_private_service_is_installed_from_with_its_token_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    library = {**LIBRARY, "deploy/scripts/ship.py": "print('shipped')\n"}
    with running(tmp_path / "library", library, token=TOKEN) as service:
        sources = {"enabled": ["well-known"], "sites": [service.base]}
        name = host_name(service.base)
        place = f'host_tokens."{name}" in [sources]'
        configure(monkeypatch, tmp_path, sources=sources)
        assert main(["add", "deploy", "--into", "skills"]) == 4
        assert f"if it needs a token, set {place}" in capsys.readouterr().err
        configure(monkeypatch, tmp_path, sources={"host_tokens": {name: "another-one"}})
        assert main(["add", "deploy", "--into", "skills"]) == 4
        assert f"rejected the token in {place}" in capsys.readouterr().err
        assert not (tmp_path / "skills").exists()
        configure(monkeypatch, tmp_path, sources={"host_tokens": {name: TOKEN}})
        assert main(["add", "deploy", "--into", "skills"]) == 0
    assert (tmp_path / "skills/deploy/scripts/ship.py").read_text() == "print('shipped')\n"
    lock = (tmp_path / "skills-lock.json").read_text()
    assert json.loads(lock)["skills"]["deploy"]["sourceType"] == "well-known"
    output = capsys.readouterr()
    assert TOKEN not in lock + output.out + output.err
