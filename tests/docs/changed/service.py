"""A service of the changed package, for the programs beside this file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def served(library: str) -> Iterator[str]:
    """Serve a library over HTTP and MCP; yield the address."""
    command = ["serve", "--http", library, "--local-only", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "skillyard", *command], stderr=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stderr is not None
            yield str(json.loads(running.stderr.readline())["url"])
        finally:
            running.kill()


def command_line(*words: str) -> Any:
    """Return the JSON that a command prints."""
    return json.loads(terminal(*words, "--json"))


def terminal(*words: str) -> str:
    """Return what a command prints."""
    command = [sys.executable, "-m", "skillyard", *words]
    return subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout
