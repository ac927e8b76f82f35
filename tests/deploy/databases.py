"""PostgreSQL as ``deploy/compose`` runs it: its scripts and settings, on real servers."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tests.deploy.files import DEPLOY, compose
from tests.deploy.shell import free_port, give_away, own_folder, run, script_environment
from tests.store.conftest import need_server
from tests.store.servers import USER, Server, as_ordinary_user

__all__ = [
    "OWNER",
    "REPLICATION",
    "Made",
    "made_primary",
    "owners_url",
    "settings_of",
    "standby",
    "streaming",
]

SCRIPTS = DEPLOY / "compose" / "postgres"
OWNER = "of-the-owner"
REPLICATION = "of the:repli'cator\\"
"""With all that SQL and a password file could stumble over."""


class Made(NamedTuple):
    """A primary with its roles made by the script, and what the scripts are told."""

    primary: Server
    folder: Path
    environment: dict[str, str]


def settings_of(service: str) -> dict[str, str]:
    """Return the settings that compose starts a server with."""
    words = compose()["services"][service]["command"]
    pairs = [word for flag, word in pairwise(words) if flag == "-c"]
    return dict(pair.split("=", 1) for pair in pairs)


def password_file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(f"{text}\n", encoding="utf-8")
    give_away(path)
    return str(path)


@contextmanager
def made_primary() -> Iterator[Made]:
    """Run a primary set up as compose does it. Skips the test where there is no PostgreSQL."""
    need_server()
    primary = Server.make(durable=True)
    try:
        with own_folder() as folder:
            # An ordinary user may not look into the checkout.
            for script in SCRIPTS.glob("*.sh"):
                shutil.copy(script, folder)
            environment = {
                "OWNER_PASSWORD_FILE": password_file(folder, "owner", OWNER),
                "REPLICATION_PASSWORD_FILE": password_file(folder, "replication", REPLICATION),
                "POSTGRES_USER": USER,
                "PGHOST": str(primary.folder),
                "PGPORT": str(primary.port),
                "PGDATA": str(primary.data),
            }
            # As in the image: its server takes the settings from the start, and no standby is
            # there yet. Were commits to wait for one, the script would never end.
            wanted = settings_of("primary")
            # These are told at the start of a server, and are what this one has anyway, or more.
            for name in ("wal_level", "max_wal_senders", "wal_keep_size"):
                del wanted[name]
            primary.set(**wanted)
            run(f"{folder}/roles.sh", folder, environment)
            primary.sql("SELECT pg_reload_conf()")
            yield Made(primary, folder, environment)
    finally:
        primary.destroy()


@contextmanager
def standby(made: Made, data: Path) -> Iterator[int]:
    """Run ``replica.sh`` and give its port."""
    port = free_port()
    environment = {
        "PGDATA": str(data),
        "PRIMARY_HOST": "127.0.0.1",
        "PRIMARY_PORT": str(made.primary.port),
        "STANDBY_NAME": compose()["services"]["replica"]["environment"]["STANDBY_NAME"],
        "REPLICATION_PASSWORD_FILE": made.environment["REPLICATION_PASSWORD_FILE"],
        "PASSWORD_FOLDER": str(made.folder),
        "TRIES": "1",
    }
    settings = {
        **settings_of("replica"),
        "port": str(port),
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": str(made.folder),
        "shared_buffers": "32MB",
        "max_connections": "60",  # a standby has to allow what its primary allows
    }
    words = [word for pair in settings.items() for word in ("-c", "=".join(pair))]
    before, _ = as_ordinary_user()
    with (made.folder / "standby.log").open("ab") as log:
        running = subprocess.Popen(
            [*before, str(made.folder / "replica.sh"), *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=made.folder,
            env=script_environment(environment),
        )
    try:
        ready = f"until pg_isready --quiet --host=127.0.0.1 --port={port}; do sleep 0.05; done"
        run(ready, made.folder, {})
        yield port
    finally:
        running.send_signal(signal.SIGINT)  # fast: whoever is connected is told to go
        running.wait(timeout=60)


def streaming(made: Made) -> None:
    """Return when the primary has the standby that it waits for."""
    made.primary.wait_until(
        "SELECT EXISTS (SELECT FROM pg_stat_replication"
        " WHERE state = 'streaming' AND sync_state = 'sync')"
    )


def owners_url(port: int, host: str = "127.0.0.1") -> str:
    return f"postgresql://skillyard:{OWNER}@{host}:{port}/skillyard"
