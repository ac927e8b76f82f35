"""A server that hangs is noticed: its kernel keeps the connection, so nothing else would tell."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from skillyard import Skill
from skillyard.base.errors import StoreUnavailable
from skillyard.store.backends import postgres_client
from skillyard.store.opening import open_store
from tests.store.servers import Server
from tests.store.skills import skill

OURS = (
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'skillyard' AND datname = '{name}'"
)


@pytest.fixture
def stopped(server: Server, database: str) -> Iterator[list[int]]:
    """The server processes that a test has stopped; they go on at its end."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def hang(server: Server, database: str, stopped: list[int]) -> None:
    """Stop the processes that serve us; the server lets others in, and so it does us."""
    pids = [pid for (pid,) in server.sql(OURS.format(name=database))]
    for pid in set(pids).difference(stopped):
        os.kill(pid, signal.SIGSTOP)
        stopped.append(pid)


def test_a_connection_that_hangs_is_replaced_where_nothing_was_done_on_it(
    server: Server, database: str, stopped: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_client, "GRACE_S", 0.2)
    url = server.url(database)
    with open_store(
        url, migrate=True, connections=1, statement_timeout_s=0.5, standby_wait_s=0.5
    ) as store:
        head = store.publish([skill("before")], tenant="acme", publisher="ci").generation
        assert store.listen(0, 0.1) == head
        hang(server, database, stopped)
        assert len(stopped) == 2
        assert len(store.changes(0).upserts) == 1
        assert store.listen(head, 0.1) == head


def test_one_that_hangs_within_a_change_is_told_and_nothing_stands(
    server: Server, database: str, stopped: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_client, "GRACE_S", 0.2)
    url = server.url(database)

    def skills() -> Iterator[Skill]:
        yield skill("first")
        hang(server, database, stopped)
        yield skill("second")

    with open_store(
        url, migrate=True, connections=1, statement_timeout_s=0.5, standby_wait_s=0.5
    ) as store:
        with pytest.raises(StoreUnavailable, match=r"has not answered for 0\.7 s") as caught:
            store.publish(skills(), tenant="acme", publisher="ci")
        assert caught.value.committed is False
        assert store.generation() == 0
