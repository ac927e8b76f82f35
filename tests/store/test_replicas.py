"""A real primary and a real streaming standby: what was acknowledged as synchronous is there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from skillyard.base.errors import NoStandby, StoreRefused, StoreUnavailable
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.store.conftest import need_server
from tests.store.follower_contract import Follower
from tests.store.servers import Server
from tests.store.skills import current, key, skill

STREAMING = (
    "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming'"
    " AND sync_state IN ('sync', 'quorum'))"
)


class Pair(NamedTuple):
    primary: Server
    standby: Server
    url: str


def made_pair() -> Pair:
    need_server()
    primary = Server.make(durable=True)
    try:
        standby = primary.replica("standby_1")
    except BaseException:
        primary.destroy()
        raise
    return Pair(primary, standby, primary.url("postgres"))


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """A primary and its standby; each test leaves them streaming."""
    made = made_pair()
    open_store(made.url, migrate=True).close()
    yield made
    made.standby.destroy()
    made.primary.destroy()


@pytest.fixture
def replicated(pair: Pair) -> Iterator[Pair]:
    """The pair, with the primary waiting for its standby."""
    pair.primary.set(synchronous_standby_names="standby_1")
    pair.primary.wait_until(STREAMING)
    with open_store(pair.url) as store:  # what was made before, the catalog itself, is there too
        synchronous(store, "first")
    yield pair
    pair.primary.set(synchronous_standby_names="")


def synchronous(store: CatalogStore, name: str, text: str = "one") -> int:
    done = store.publish(
        [skill(name, text)], tenant="acme", publisher="ci", durability="synchronous"
    )
    return done.generation


def test_without_a_standby_that_is_waited_for_nothing_is_published(postgres_url: str) -> None:
    with open_store(postgres_url, migrate=True) as store:
        before = store.generation()
        with pytest.raises(NoStandby, match="waits for no standby") as caught:
            synchronous(store, "unsafe")
        assert (caught.value.committed, caught.value.generation) == (False, None)
        assert store.generation() == before
        assert store.publish([skill("x")], tenant="acme", publisher="ci").generation == before + 1


@pytest.mark.slow
def test_a_standby_serves_followers_and_refuses_publishers(replicated: Pair) -> None:
    with (
        open_store(replicated.url) as store,
        open_store(replicated.standby.url("postgres")) as reading,
    ):
        status = reading.status()
        assert (status.writable, status.notifies) == (False, False)
        with pytest.raises(StoreRefused, match="it is a standby") as caught:
            reading.publish([skill("x")], tenant="acme", publisher="ci")
        assert caught.value.committed is False
        before = synchronous(store, "heard", "zero")
        heard: list[int] = []
        waiting = threading.Thread(target=lambda: heard.append(reading.listen(before, 30)))
        waiting.start()
        synchronous(store, "heard", "one")
        waiting.join(timeout=40)
        assert heard == [before + 1]


@pytest.mark.slow
def test_when_the_standby_does_not_answer_the_publish_stands_here_and_that_is_said(
    replicated: Pair,
) -> None:
    with open_store(replicated.url, standby_wait_s=0.4) as store:
        before = store.generation()
        replicated.standby.sql("SELECT pg_wal_replay_pause()")
        try:
            with pytest.raises(NoStandby, match="stands on this server") as caught:
                synchronous(store, "late")
        finally:
            replicated.standby.sql("SELECT pg_wal_replay_resume()")
        assert (caught.value.committed, caught.value.generation) == (True, before + 1)
        assert current(store, key("late")).generation == before + 1
        # The same again: nothing to do, so nothing to wait for; and the next one is safe.
        assert synchronous(store, "late") == before + 1
        assert synchronous(store, "late", "two") == before + 2


@pytest.mark.slow
def test_a_promoted_standby_has_every_synchronous_publish_and_followers_start_afresh() -> None:
    pair = made_pair()
    try:
        with open_store(pair.url, migrate=True) as store:
            pair.primary.set(synchronous_standby_names="standby_1")
            pair.primary.wait_until(STREAMING)
            acknowledged = [synchronous(store, f"s{number}") for number in range(4)]
            pair.standby.stop()
            lost = store.publish([skill("lost")], tenant="acme", publisher="ci").generation
            follower = Follower(store)
            follower.follow()
            assert follower.generation == lost == acknowledged[-1] + 1
            pair.primary.kill()
            with pytest.raises(StoreUnavailable):
                store.generation()
        pair.standby.start()
        pair.standby.promote()
        with open_store(pair.standby.url("postgres")) as promoted:
            assert promoted.generation() == acknowledged[-1]
            assert [current(promoted, key(f"s{n}")).generation for n in range(4)] == acknowledged
            # The lost generation's number is given out again, to something else.
            again = promoted.publish([skill("new")], tenant="acme", publisher="ci")
            assert again.generation == lost
            follower.store = promoted
            assert promoted.changes(follower.position).whole
            assert set(follower.follow()) == {*(key(f"s{n}") for n in range(4)), key("new")}
    finally:
        pair.standby.destroy()
        pair.primary.destroy()
