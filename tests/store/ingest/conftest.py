"""An empty store of either kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard.store.opening import open_store
from skillyard.store.protocol import CatalogStore
from tests.store.conftest import database, postgres_url, server, sqlite_url

__all__ = ["database", "postgres_url", "server", "sqlite_url", "store", "url"]


@pytest.fixture(params=["sqlite_url", pytest.param("postgres_url", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest) -> str:
    """The address of an empty store. An ingest knows only what the contract of stores promises."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def store(url: str) -> Iterator[CatalogStore]:
    with open_store(url, migrate=True) as opened:
        yield opened
