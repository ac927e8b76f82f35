"""What a node does when its store is wrong, slow, hangs, or is not the one that it was."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from skillyard.store.sql_store import CatalogStore
from tests.store.cluster.conftest import DATABASE_OF_NODES
from tests.store.cluster.families import AMBER, TENANT
from tests.store.cluster.nodes import Node, node, until
from tests.store.servers import Server

pytestmark = pytest.mark.slow


def published(store: CatalogStore, number: int) -> int:
    """Let the family say a number, and return the generation that does."""
    return store.publish(AMBER.skills(number), tenant=TENANT, publisher="p").generation


def said(made: Node) -> set[int]:
    """Return the numbers that a search of a node shows."""
    found = made.get("/search?q=polish+amber+stones&limit=20")
    assert found.status_code == 200, found.text
    return AMBER.numbers_in(found.text)


def signal_all(pids: list[int], number: int) -> None:
    """Send a signal to the processes that are still there: one of a closed connection may end."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def test_a_backup_that_was_put_back_replaces_the_past_that_it_does_not_have(
    server: Server, store: CatalogStore, url: str, tmp_path: Path
) -> None:
    """The numbers are the same again, and mean other skills: only stamps tell."""
    tables = ("contents", "generations", "versions")
    for number in (1, 2, 3):
        published(store, number)
    server.sql("CREATE SCHEMA backup", DATABASE_OF_NODES)
    try:
        for table in tables:
            server.sql(f"CREATE TABLE backup.{table} AS TABLE skillyard.{table}", DATABASE_OF_NODES)
        before = published(store, 4)
        with node(url, tmp_path) as made, server.connect(DATABASE_OF_NODES) as connection:
            made.wait_generation(before)
            with connection.transaction():
                listed = ", ".join(f"skillyard.{table}" for table in tables)
                connection.execute(f"TRUNCATE {listed} CASCADE".encode())
                for table in tables:
                    into = f"INSERT INTO skillyard.{table} TABLE backup.{table}"
                    connection.execute(into.encode())
                connection.execute(b"UPDATE skillyard.versions SET superseded = NULL"
                                   b" WHERE superseded > 3")  # fmt: skip
            assert published(store, 40) == before
            until(lambda: said(made) == {40}, patience_s=10)
            answer = made.get("/rank?q=amber")
            assert answer.headers["skillyard-generation"] == str(before)
            assert made.get("/skill/amber-0").status_code == 200
    finally:
        server.sql("DROP SCHEMA backup CASCADE", DATABASE_OF_NODES)


def test_a_store_that_hangs_is_left_for_a_connection_that_does_not(
    server: Server, store: CatalogStore, url: str, tmp_path: Path
) -> None:
    """No packet is lost and no connection ends: only the clock tells."""
    generation = published(store, 1)
    with node(url, tmp_path, "--max-stale", "1") as made:
        made.wait_generation(generation)
        store.close()
        ours = (
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'skillyard'"
            f" AND datname = '{DATABASE_OF_NODES}'"
        )
        stopped = [pid for (pid,) in server.sql(ours)]
        assert stopped
        try:
            signal_all(stopped, signal.SIGSTOP)
            until(lambda: made.probe("/readyz") == (503, "stale"))
            assert said(made) == {1}
            until(lambda: made.ready, "a new connection")
            until(lambda: not made.failure)
        finally:
            signal_all(stopped, signal.SIGCONT)
