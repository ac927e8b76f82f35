"""A server for stores that stay, and an empty store in it for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.store.cluster.cluster import emptied
from tests.store.conftest import server
from tests.store.servers import Server

__all__ = ["server"]


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    """The address of a store without skills."""
    with emptied(server) as made:
        yield made


@pytest.fixture
def store(url: str) -> Iterator[CatalogStore]:
    """That store, for publishers."""
    with open_store(url) as opened:
        yield opened
