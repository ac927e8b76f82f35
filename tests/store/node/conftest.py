"""A store, and a node that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.store.sql_store import CatalogStore
from tests.store.node.nodes import LIBRARY, Node, store_in
from tests.store.skills import skills


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CatalogStore]:
    """An empty store."""
    with store_in(tmp_path) as opened:
        yield opened


@pytest.fixture
def node(store: CatalogStore, tmp_path: Path) -> Node:
    """A node that holds a store of some skills."""
    store.publish([*LIBRARY, *skills(30)], tenant="acme", publisher="ci")
    made = Node(store, tmp_path / "node")
    made.take()
    return made
