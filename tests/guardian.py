"""What a test run started ends with it, even where the run is killed.

A shell waits for the end of a pipe that only this process holds open. Then it kills whatever
inherited this process's variable: servers that were given another user, a session of their own or
another parent are reached too. Linux only: elsewhere nobody may read another process's variables.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys

__all__ = ["end_servers_with_this_process"]

_NAME = "TEST_RUN"
_SCRIPT = """\
read -r end ||
    grep -lzxF -- "$1" /proc/[0-9]*/environ | while IFS=/ read -r _ _ pid _; do
        kill -s KILL "$pid"
    done
"""


def end_servers_with_this_process() -> None:
    """Start the shell, and mark what this process starts from now on."""
    if sys.platform != "linux":
        return
    os.environ.pop(_NAME, None)  # a worker gets its own mark, and the shell none
    mark = f"{os.getpid()}-{os.urandom(8).hex()}"
    shell = subprocess.Popen(
        ["/bin/sh", "-c", _SCRIPT, "sh", f"{_NAME}={mark}"],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # whoever kills our group does not kill it
    )
    atexit.register(shell.communicate, b"end\n")
    os.environ[_NAME] = mark
