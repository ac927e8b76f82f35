"""Runs the commands of the guide, as the operating-system user that runs PostgreSQL."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.store.servers import ABSENT, PASSWORD, USER, Server, as_ordinary_user, binaries

__all__ = [
    "free_port",
    "give_away",
    "own_folder",
    "run",
    "script_environment",
    "server_environment",
]

WAIT_S = 240


@contextmanager
def own_folder() -> Iterator[Path]:
    """Give a folder of the user that runs PostgreSQL, and remove it."""
    folder = Path(tempfile.mkdtemp(prefix="skillyard-deploy-"))
    give_away(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def give_away(path: Path) -> None:
    """Make a file or a folder that user's own."""
    _, uid = as_ordinary_user()
    if uid is not None:
        os.chown(path, uid, -1)


def server_environment(server: Server, folder: Path, **more: str) -> dict[str, str]:
    """Return what the guide's commands take from the environment, for one server."""
    passwords = folder / "pgpass"
    if not passwords.exists():
        passwords.write_text(f"*:*:*:*:{PASSWORD}\n", encoding="utf-8")
        passwords.chmod(0o600)
        give_away(passwords)
    return {
        "PGHOST": "127.0.0.1",
        "PGPORT": str(server.port),
        "PGUSER": USER,
        "PGDATA": str(server.data),
        "PGPASSFILE": str(passwords),
        "BACKUPS": str(folder),
        **more,
    }


def run(text: str, folder: Path, environment: Mapping[str, str], *, as_server: bool = True) -> str:
    """Run a script, as the server's user or as our own; return what it printed.

    Fails the test when a command of it does.
    """
    before, _ = as_ordinary_user() if as_server else ([], None)
    output = folder / "output"
    with output.open("wb") as file:  # not a pipe: a server that it starts would hold it open
        done = subprocess.run(
            [*before, "bash", "-euo", "pipefail", "-c", text],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=script_environment(environment),
            timeout=WAIT_S,
            check=False,
        )
    said = output.read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, f"{text}\n--- ended with {done.returncode}\n{said[-3_000:]}"
    return said


def script_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a script: the server's programs, and no other server's address."""
    programs = binaries()
    assert programs is not None, ABSENT
    path = os.pathsep.join([str(programs), os.path.dirname(sys.executable), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "PATH": path, "LC_ALL": "C", "TZ": "UTC", "HOME": "/", **environment}


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
