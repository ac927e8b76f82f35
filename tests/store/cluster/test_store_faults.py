"""What a node does when its store is wrong, slow, hangs, or is not the one that it was."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from skillyard import Skill
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Grant
from tests.store.cluster.cluster import DATABASE_OF_NODES, PASSWORD
from tests.store.cluster.journal import FAMILIES, MEMBERS, TENANT
from tests.store.cluster.nodes import Node, node, until
from tests.store.servers import Server

pytestmark = pytest.mark.slow

AMBER = FAMILIES[0]


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


@contextmanager
def locked(server: Server) -> Iterator[None]:
    """Hold a lock that every reader of the store waits for."""
    with server.connect(DATABASE_OF_NODES) as connection, connection.transaction():
        connection.execute(b"LOCK TABLE skillyard.generations IN ACCESS EXCLUSIVE MODE")
        yield


def test_a_wrong_password_is_named_and_never_told(
    store: CatalogStore, url: str, tmp_path: Path
) -> None:
    published(store, 1)
    wrong = url.replace(PASSWORD, "neither-this-nor-that")
    with node(wrong, tmp_path) as made:
        until(lambda: "does not let this login in" in made.failure)
        assert made.store()["failure"] == "store_not_followed"
        assert made.probe("/livez") == (200, "alive")
        assert made.probe("/readyz") == (503, "starting")
        refused = made.get("/rank?q=amber")
        assert (refused.status_code, refused.json()["error"]["code"]) == (
            503,
            "catalog_unavailable",
        )
        assert "neither" not in made.get("/health").text + made.log.read_text()


def test_a_schema_from_the_future_is_named_and_the_node_answers_until_it_is_over(
    server: Server, store: CatalogStore, url: str, tmp_path: Path
) -> None:
    generation = published(store, 1)
    with node(url, tmp_path) as made:
        made.wait_generation(generation)
        server.sql("INSERT INTO skillyard.schema_versions VALUES (99, 'later')", DATABASE_OF_NODES)
        assert made.stop() == 0
        made.start()
        until(lambda: "schema version 99 of a newer skillyard" in made.failure)
        assert said(made) == {1}
        assert made.probe("/readyz") == (200, "ready")
        assert made.get("/health").json()["status"] == "degraded"
        server.sql("DELETE FROM skillyard.schema_versions WHERE version = 99", DATABASE_OF_NODES)
        made.wait_generation(published(store, 2))
        until(lambda: not made.failure)
        assert (said(made), made.store()["failure"]) == ({2}, None)


def test_a_node_ends_in_time_while_its_store_does_not_answer(
    server: Server, store: CatalogStore, url: str, tmp_path: Path
) -> None:
    generation = published(store, 1)
    with node(url, tmp_path, "--max-stale", "1") as made:
        made.wait_generation(generation)
        with locked(server):
            until(lambda: made.probe("/readyz") == (503, "stale"))
            began = time.monotonic()
            assert made.stop() == 0
            assert time.monotonic() - began < 15


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


def test_what_a_caller_may_no_longer_see_disappears_at_once_and_whole(
    store: CatalogStore, url: str, tmp_path: Path
) -> None:
    published(store, 1)
    other = [Skill(f"basil-{n}", "Plant basil seeds.", "Water them.") for n in range(3)]
    store.publish(other, tenant="garden", publisher="p")
    store.grant(Grant("team", TENANT))
    granted = store.grant(Grant("team", "garden"))
    with node(url, tmp_path, "--caller", "team") as made:
        made.wait_generation(granted)
        assert len(shown(made)) == MEMBERS + 1 + len(other)
        revoked = store.revoke(Grant("team", TENANT))
        seen = [whole(made)]
        while seen[-1][0] != revoked:
            assert len(seen) < 5_000, "it does not disappear"
            seen.append(whole(made))
        assert set(seen) <= {(granted, MEMBERS + 1 + len(other)), (revoked, len(other))}
        assert made.get("/skill/amber-0").status_code == 404
        assert made.get("/skill/basil-0").status_code == 200


def shown(made: Node) -> list[str]:
    matches = made.get("/rank?q=polish+amber+stones+plant+basil+seeds&limit=40").json()["matches"]
    return [match["name"] for match in matches]


def whole(made: Node) -> tuple[int, int]:
    """Return the generation of an answer, and how many skills it showed."""
    answer = made.get("/rank?q=polish+amber+stones+plant+basil+seeds&limit=40")
    return int(answer.headers["skillyard-generation"]), len(answer.json()["matches"])
