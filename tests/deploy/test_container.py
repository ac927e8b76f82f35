"""What runs in the image beside the program: the entry point and the health check."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY
from tests.tables import for_each

ENTRY_POINT = DEPLOY / "container" / "entrypoint"
HEALTHY = DEPLOY / "container" / "healthy.py"


def entered(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command through the entry point, with nothing else in its environment."""
    return subprocess.run(
        ["/bin/sh", str(ENTRY_POINT), *command],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={"PATH": os.environ["PATH"], **environment},
    )


def test_secrets_reach_the_command_and_their_files_names_do_not(tmp_path: Path) -> None:
    # What a shell would take apart, and the end of line that editors add.
    secret = 'a\'b "c" $HOME `id` \\n'
    (tmp_path / "token").write_text(f"{secret}\n", encoding="utf-8")
    (tmp_path / "password").write_text("p", encoding="utf-8")
    program = "import os, json; print(json.dumps(dict(os.environ)))"
    done = entered(
        *(sys.executable, "-I", "-c", program),
        SKILLYARD_HTTP_TOKEN_FILE=str(tmp_path / "token"),
        PGPASSWORD_FILE=str(tmp_path / "password"),
        PLAIN="x",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["SKILLYARD_HTTP_TOKEN"], found["PGPASSWORD"], found["PLAIN"]) == (
        secret,
        "p",
        "x",
    )
    assert [name for name in found if name.endswith("_FILE")] == []
    assert "GITHUB_TOKEN" not in found


@for_each("content", [None, "", "\n"])
def test_a_secret_that_is_not_there_ends_it_by_name(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    done = entered("echo", "started", SKILLYARD_HTTP_TOKEN_FILE=str(path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "SKILLYARD_HTTP_TOKEN_FILE" in done.stderr
    assert str(path) in done.stderr


class Answering(HTTPServer):
    """Answers one status, and remembers what it was asked."""

    status = 200
    asked = ""


class _Handler(BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        self.server.asked = self.path
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[Answering]:
    """A service on loopback whose status a test sets."""
    server = Answering(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def healthy(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-I", str(HEALTHY), *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("status", [200, 204, 503])
def test_healthy_is_200_and_nothing_else(service: Answering, status: int) -> None:
    service.status = status
    expected = (0, "") if status == 200 else (1, f"answered {status}\n")
    assert healthy(f"http://127.0.0.1:{service.server_port}/readyz") == expected
    assert service.asked == "/readyz"
