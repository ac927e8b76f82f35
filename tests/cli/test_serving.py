"""``serve`` hands its flags to the service, and refuses what would stand open to everybody."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from skillyard.cli import main
from skillyard.serve.runtime.options import ServiceOptions
from tests.parity.trees import write_tree
from tests.requirements import requirement
from tests.serve.http.local_server import LIBRARY
from tests.shared_data import REPOSITORY

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


def lines_of(descriptor: int) -> Iterator[str]:
    """Yield what a process writes to a terminal or a pipe, line by line, until it ends."""
    data = b""
    while True:
        try:
            more = os.read(descriptor, 4_096)
        except OSError:  # a terminal whose other side is closed
            return
        if not more:
            return
        *lines, data = (data + more).split(b"\n")
        for line in lines:
            yield line.decode().rstrip("\r")


@requirement("cli:serve-terminal")
@pytest.mark.slow
@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_an_address_to_open_and_a_pipe_json(tmp_path: Path, terminal: bool) -> None:
    pty = pytest.importorskip("pty")
    pytest.importorskip("httpx2")
    root = write_tree(tmp_path / "skills", LIBRARY)
    reading, writing = pty.openpty() if terminal else os.pipe()
    words = ["-m", "skillyard", "serve", str(root), "--port", "0", "--local-only"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
    process = subprocess.Popen(
        [sys.executable, *words], env=environment, stdout=subprocess.PIPE, stderr=writing
    )
    os.close(writing)
    lines = lines_of(reading)
    said = []
    for line in lines:
        said.append(line)
        if "Serving" in line or '"catalog"' in line:
            break
    process.send_signal(signal.SIGINT)
    said += lines
    os.close(reading)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.read() == b""
    assert process.wait(20) == 0
    if terminal:
        shown = r"Serving 3 skills at http://127\.0\.0\.1:[0-9]+ \(Ctrl\+C to stop\)"
        assert any(re.fullmatch(shown, line) for line in said)
        assert not any(line.startswith("{") for line in said)
    else:
        events = [json.loads(line)["event"] for line in said]
        assert (events[0], events[-1]) == ("listening", "stopped")


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
