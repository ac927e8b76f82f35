"""``python -m skillyard_testkit.fake_llm``: two addresses, until it is told to end."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from http.client import HTTPConnection
from threading import Event, Thread
from urllib.parse import urlsplit

from skillyard_testkit.fake_llm.__main__ import serve
from tests.shared_data import PACKAGES
from tests.tables import for_each


class Lines(io.StringIO):
    """Output that tells when it is flushed."""

    def __init__(self) -> None:
        super().__init__()
        self.flushed = Event()

    def flush(self) -> None:
        self.flushed.set()


def served(*arguments: str) -> list[int]:
    """Return the statuses of three requests to a fake server with these arguments."""
    out, stop = Lines(), Event()
    code: list[int] = []
    running = Thread(target=lambda: code.append(serve(arguments, out, io.StringIO(), stop)))
    running.start()
    assert out.flushed.wait(20)
    urls = dict(line.split("=", 1) for line in out.getvalue().splitlines())
    assert urls["OPENAI_BASE_URL"] == urls["ANTHROPIC_BASE_URL"] + "/v1"
    parts = urlsplit(urls["OPENAI_BASE_URL"])
    statuses = []
    for _ in range(3):
        connection = HTTPConnection(parts.hostname or "", parts.port or 80, timeout=20)
        body = '{"model":"m","messages":[{"role":"user","content":"Hello there."}]}'
        headers = {"authorization": "Bearer k", "content-type": "application/json"}
        connection.request("POST", "/v1/chat/completions", body, headers)
        statuses.append(connection.getresponse().status)
        connection.close()
    stop.set()
    running.join(20)
    assert code == [0]
    return statuses


@for_each(
    ("arguments", "message"),
    [
        (["--fault", "no"], "no fault 'no'; known: 400, 401"),
        (["--fault", "500=often"], "write 500, 500=3 or 500=always"),
        (["--fault", "500=0"], "times must be 1 or more"),
        (["--latency-ms", "-1"], "latency must be"),
    ],
)
def test_a_wrong_argument_ends_the_command_with_a_sentence(
    arguments: list[str], message: str
) -> None:
    out, error = io.StringIO(), io.StringIO()
    assert serve(arguments, out, error, Event()) == 2
    assert (out.getvalue(), message in error.getvalue()) == ("", True)


@for_each("number", [signal.SIGINT, signal.SIGTERM])
def test_the_process_prints_its_addresses_and_ends_when_told(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "skillyard_testkit.fake_llm"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(2)]
            assert [line.partition("=")[0] for line in lines] == [
                "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
            ]  # fmt: skip
            process.send_signal(number)
            out, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out, error) == (0, "", "")
