"""``serve`` hands its flags to the service, and refuses what would stand open to everybody."""

from __future__ import annotations

import re
import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest

from skillyard.cli import main
from skillyard.serve.runtime.options import ServiceOptions
from tests.parity.trees import write_tree
from tests.serve.http.local_server import LIBRARY

pytest.importorskip("uvicorn")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ServiceOptions]:
    """What the service would have been started with."""
    found: list[ServiceOptions] = []
    monkeypatch.setattr("skillyard.serve.http.app.serve", found.append)
    monkeypatch.delenv("SKILLYARD_HTTP_TOKEN", raising=False)
    return found


def test_every_flag_reaches_the_service(
    started: list[ServiceOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLYARD_HTTP_TOKEN", "secret")
    asked = "serve lib --root other --host 0.0.0.0 --port 9000 --local-only --quiet --scope user"
    named = (
        "--remote --allow-host skills.example --allow-host b --allow-origin https://skills.example"
    )
    named += " --trust-proxy 10.0.0.1 --trust-proxy fd00::/8"
    assert main([*asked.split(), *named.split()]) == 0
    assert started == [
        ServiceOptions(
            roots=("lib", "other"),
            scopes=("user",),
            host="0.0.0.0",
            port=9000,
            token="secret",
            allowed_hosts=("skills.example", "b"),
            allowed_origins=("https://skills.example",),
            trusted_proxies=("10.0.0.1", "fd00::/8"),
            local_only=True,
            remote=True,
            log_format="none",
        )
    ]


def test_the_log_is_text_on_a_terminal_and_json_elsewhere(
    started: list[ServiceOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    for is_terminal, words in ((True, ""), (False, ""), (True, "--log-format json")):
        monkeypatch.setattr(sys.stderr, "isatty", lambda answer=is_terminal: answer, raising=False)
        assert main(["serve", "lib", *words.split()]) == 0
    assert [each.log_format for each in started] == ["text", "json", "json"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--host 0.0.0.0", "set SKILLYARD_HTTP_TOKEN"),
        ("--allow-host skills.example.com", "set SKILLYARD_HTTP_TOKEN"),
        ("--port 70000", "port must be an integer of 0 to 65535"),
        ("--allow-origin skills.example", "is not an http or https address"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_listens(
    flags: str, said: str, started: list[ServiceOptions], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *flags.split()]) == 2
    assert said in capsys.readouterr().err
    assert started == []


def test_a_port_in_use_is_one_line_that_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write_tree(tmp_path / "skills", LIBRARY)
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", str(root), "--port", port, "--local-only"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        f"skillyard: port {port} of 127.0.0.1 is in use: stop the program that uses it, or choose"
        " another port (--port; 0 takes a free one)"
    )


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("no host", "is not a name or address that this machine knows"),
        ("203.0.113.7", "203.0.113.7 is no address of this machine; use 127.0.0.1"),
    ],
)
def test_a_host_that_is_not_here_is_one_line_that_says_what_to_do(
    host: str, said: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("SKILLYARD_HTTP_TOKEN", "secret")
    root = write_tree(tmp_path / "skills", LIBRARY)
    assert main(["serve", str(root), "--host", host, "--port", "0", "--local-only"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_missing_extra_is_one_line_with_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("skillyard.cli.commands.service.find_spec", lambda name: None)
    assert main(["serve"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(
        r"skillyard: serve needs mcp, starlette, uvicorn, which is not installed:"
        r" pip install .*\[serve,remote\]( @ [^']*)?'",
        line,
    )
