"""A token reaches its own host, encrypted, and a private service is a registry to install from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skillyard.base.errors import InvalidInput
from skillyard.cli import main
from skillyard.install.sources.host_tokens import host_of, host_tokens, token_variable
from skillyard.install.sources.settings import load_settings
from tests.serve.http.local_server import LIBRARY, running
from tests.tables import for_each

pytest.importorskip("uvicorn")
TOKEN = "a-long-secret-of-this-test"


@for_each(
    ("url", "variable"),
    [
        ("https://skills.example.com", "SKILLYARD_TOKEN_SKILLS_EXAMPLE_COM"),
        ("https://my-skills.example:443/x", "SKILLYARD_TOKEN_MY__SKILLS_EXAMPLE"),
        ("https://Skills.Example:8443", "SKILLYARD_TOKEN_SKILLS_EXAMPLE_8443"),
        ("http://[::1]:80", "SKILLYARD_TOKEN___1_80"),
    ],
)
def test_the_variable_has_the_name_of_the_host(url: str, variable: str) -> None:
    assert token_variable(url) == variable
    assert host_of(url, {variable: TOKEN}).token == TOKEN
    assert host_of(url, {}).token == ""


def test_a_token_is_not_sent_in_the_clear_to_another_machine() -> None:
    tokens = {"SKILLYARD_TOKEN_SKILLS_EXAMPLE": TOKEN}
    with pytest.raises(InvalidInput, match=r"write http://skills\.example with https"):
        host_of("http://skills.example", tokens)
    assert host_of("http://127.0.0.1:8765", {"SKILLYARD_TOKEN_127_0_0_1_8765": TOKEN}).token


def test_a_host_with_a_token_may_be_private_and_others_may_not() -> None:
    tokens = {"SKILLYARD_TOKEN_SKILLS_EXAMPLE": TOKEN}
    assert host_of("https://skills.example", tokens, named_by_user=False).named_by_user
    assert not host_of("https://other.example", tokens, named_by_user=False).named_by_user


def test_the_settings_hold_the_tokens_so_that_logs_hide_them() -> None:
    environment = {"SKILLYARD_TOKEN_A_EXAMPLE": TOKEN, "SKILLYARD_TOKEN_B_EXAMPLE": " "}
    assert TOKEN in load_settings("no such file", environment).tokens
    assert host_tokens(environment) == {"SKILLYARD_TOKEN_A_EXAMPLE": TOKEN}
    with pytest.raises(InvalidInput, match="SKILLYARD_TOKEN_A_EXAMPLE holds a character"):
        host_tokens({"SKILLYARD_TOKEN_A_EXAMPLE": "line\nbreak"})


def test_a_private_service_is_installed_from_with_its_token_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILLYARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SKILLYARD_SOURCES", "well-known")
    library = {**LIBRARY, "deploy/scripts/ship.py": "print('shipped')\n"}
    with running(tmp_path / "library", library, token=TOKEN) as service:
        monkeypatch.setenv("SKILLYARD_WELL_KNOWN_URL", service.base)
        variable = token_variable(service.base)
        monkeypatch.delenv(variable, raising=False)
        assert main(["add", "deploy", "--into", "skills"]) == 4
        assert f"if it needs a token, set {variable}" in capsys.readouterr().err
        monkeypatch.setenv(variable, "another-one")
        assert main(["add", "deploy", "--into", "skills"]) == 4
        assert f"rejected the token in {variable}" in capsys.readouterr().err
        assert not (tmp_path / "skills").exists()
        monkeypatch.setenv(variable, TOKEN)
        assert main(["add", "deploy", "--into", "skills"]) == 0
    assert (tmp_path / "skills/deploy/scripts/ship.py").read_text() == "print('shipped')\n"
    lock = (tmp_path / "skills-lock.json").read_text()
    assert json.loads(lock)["skills"]["deploy"]["sourceType"] == "well-known"
    output = capsys.readouterr()
    assert TOKEN not in lock + output.out + output.err
