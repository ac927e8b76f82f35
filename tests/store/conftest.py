"""One PostgreSQL server for all tests, and an empty database for each that asks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.store.servers import ABSENT, Server, binaries

_DATABASE = "store"


def need_server() -> None:
    """Skip where no server can be run, with a plain message; fail there on CI."""
    driver = find_spec("psycopg") is not None
    if binaries() is not None and driver:
        return
    missing = "psycopg is not installed" if not driver else ABSENT
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A primary that is quick and forgets when power goes. Nobody stops it or changes it."""
    need_server()
    made = Server.make()
    yield made
    made.destroy()


@pytest.fixture
def database(server: Server) -> Iterator[str]:
    """The name of a database of the server, empty of any store."""
    if not server.sql(f"SELECT 1 FROM pg_database WHERE datname = '{_DATABASE}'"):
        server.sql(f"CREATE DATABASE {_DATABASE}")
    yield _DATABASE
    # A connection that a test forgot would hold a lock for ever.
    server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE datname = '{_DATABASE}' AND pid <> pg_backend_pid()"
    )
    server.sql("DROP SCHEMA IF EXISTS skillyard CASCADE", _DATABASE)


@pytest.fixture
def postgres_url(server: Server, database: str) -> str:
    """The address of an empty database."""
    return server.url(database)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The address of a file that is not there yet."""
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """The address of an empty store, of either kind."""
    name = "sqlite_url" if request.param == "sqlite" else "postgres_url"
    return str(request.getfixturevalue(name))
