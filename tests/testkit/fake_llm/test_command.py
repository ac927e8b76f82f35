"""``python -m skillyard_testkit.fake_llm``: two addresses, until it is told to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.shared_data import PACKAGES
from tests.tables import for_each


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
