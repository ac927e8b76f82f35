"""Hostile requests (21) to a process of ``skillyard serve``: each gets its status, none hurts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.hostile.case import SECRET
from tests.parity.trees import write_tree
from tests.serve.http.local_server import LIBRARY, raw, until
from tests.serve.http.test_hostile import HEALTH, TELLING
from tests.shared_data import PACKAGES
from tests.tables import for_each

pytest.importorskip("uvicorn", reason="uvicorn is not installed: skillyard[serve]")
pytest.importorskip("starlette", reason="starlette is not installed: skillyard[serve]")

REQUESTS = (
    "oversized by its word", "a body that expects", "no JSON", "deep JSON", "wrong types",
    "a key twice", "a body of another kind", "a compressed body", "a huge header", "a long path",
    "a whole address of somebody else", "a tunnel", "another's name",
    "a name bound to this address", "no Host", "two Hosts", "another's origin",
    "an encoded way up", "a way up", "another protocol", "a length and chunks",
)  # fmt: skip
"""Names in ``tests/serve/http/test_hostile.py`` that no limit of its own decides."""


class Process(NamedTuple):
    port: int
    process: subprocess.Popen[str]
    home: Path


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """The service of a library beside which a secret lies; it ends when it is told to."""
    home = tmp_path_factory.mktemp("requests")
    write_tree(home / "skills", LIBRARY)
    (home / "secret.txt").write_bytes(SECRET)
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    started = subprocess.Popen(
        [sys.executable, "-m", "skillyard", "serve", "skills", "--port", "0", "--local-only"],
        cwd=home,
        env={**kept, "HOME": str(home), "PYTHONPATH": str(PACKAGES),
             "SKILLYARD_CACHE": str(home / "cache")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert started.stderr is not None
    try:
        said = json.loads(started.stderr.readline())  # empty, so no JSON, where it ended
        assert said["event"] == "listening"
        port = int(said["url"].rpartition(":")[2])
        early: list[int] = []  # answers of before the library was read: 503, as they should be

        def ready() -> bool:
            early.append(raw(port, HEALTH).status)
            return early[-1] == 200

        until(ready)
        yield Process(port, started, home)
        started.send_signal(signal.SIGINT)
        rest = started.stderr.read()
        assert started.wait(30) == 0
        statuses = [json.loads(line).get("status", 0) for line in rest.splitlines()]
        assert [status for status in statuses if status >= 500] == early[:-1]
        assert "Traceback" not in rest
    finally:
        started.kill()
        started.wait(30)
        started.stderr.close()


@for_each("name", REQUESTS)
def test_a_hostile_request_gets_its_status_from_the_process(process: Process, name: str) -> None:
    sent, status = TELLING[name]
    answer = raw(process.port, sent)
    assert answer.status in ((400, 431) if status == 431 else (status,))
    for word in (b"Traceback", SECRET[:12], str(process.home).encode(), b"root:"):
        assert word not in answer.body
    assert raw(process.port, HEALTH).status == 200
