"""A server for stores that stay, and an empty store in it for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.store.conftest import server
from tests.store.servers import Server

__all__ = ["DATABASE_OF_NODES", "server"]
DATABASE_OF_NODES = "nodes"


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    """The address of a store without skills in the shared server, dropped at the end."""
    name = DATABASE_OF_NODES
    if not server.sql(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
        server.sql(f"CREATE DATABASE {name}")
    url = server.url(name)
    open_store(url, migrate=True).close()
    yield url
    server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE datname = '{name}' AND pid <> pg_backend_pid()"
    )
    server.sql("DROP SCHEMA IF EXISTS skillyard CASCADE", name)


@pytest.fixture
def store(url: str) -> Iterator[CatalogStore]:
    """That store, for publishers."""
    with open_store(url) as opened:
        yield opened
