"""The guide's commands for a dead primary, on a real one and its standby."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from skillyard.base.errors import NoStandby, StoreUnavailable
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.deploy.catalogs import everything, fill_with_grants, made_logins, owners_url
from tests.deploy.files import section
from tests.deploy.shell import own_folder, run, server_environment
from tests.store.conftest import need_server
from tests.store.follower_contract import Follower, texts
from tests.store.servers import USER, Server
from tests.store.skills import key, skill, standing

pytestmark = pytest.mark.slow

STREAMING = (
    "SELECT EXISTS (SELECT FROM pg_stat_replication"
    " WHERE state = 'streaming' AND sync_state = 'sync')"
)


class Pair(NamedTuple):
    primary: Server
    standby: Server
    folder: Path

    def url(self, options: str = "") -> str:
        """Return an address that names both."""
        url = owners_url(self.primary, options)
        one = f"127.0.0.1:{self.primary.port}"
        return url.replace(one, f"{one},127.0.0.1:{self.standby.port}")


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A primary that waits for its standby, with a filled store."""
    need_server()
    primary = Server.make(durable=True)
    try:
        # What is told at a start is not in the data folder, and a copy of it starts without.
        primary.sql(f"ALTER SYSTEM SET unix_socket_directories = '{primary.folder}'")
        with own_folder() as folder:
            made_logins(primary, server_environment(primary, folder), folder)
            with open_store(owners_url(primary), migrate=True) as store:
                fill_with_grants(store)
            standby = primary.replica("standby_1")
            try:
                primary.set(synchronous_standby_names="FIRST 1 (standby_1)")
                primary.wait_until(STREAMING)
                yield Pair(primary, standby, folder)
            finally:
                standby.destroy()
    finally:
        primary.destroy()


def synchronous(store: CatalogStore, name: str, text: str = "one") -> int:
    done = store.publish(
        [skill(name, text)], tenant="acme", publisher="ci", durability="synchronous"
    )
    return done.generation


def test_the_standby_takes_over_with_the_commands_of_the_guide(pair: Pair) -> None:
    old = server_environment(pair.primary, pair.folder)
    new = server_environment(pair.standby, pair.folder)
    stop, promote, anew, wait = (
        *section("When the primary dies"),
        *section("Promote the standby"),
        *section("Make a new standby"),
        *section("Wait for it"),
    )
    with (
        open_store(pair.url("target_session_attrs=read-write")) as publisher,
        open_store(pair.url()) as reading,
    ):
        node = Follower(reading)
        head = synchronous(publisher, "safe")
        before = everything(publisher)
        node.follow()
        run(stop.text, pair.folder, old)
        with pytest.raises(StoreUnavailable):
            publisher.publish([skill("x")], tenant="acme", publisher="ci")
        run(promote.text, pair.folder, new)
        # Both find the other server by themselves.
        assert everything(publisher) == before
        assert not reading.changes(node.position).whole
        with pytest.raises(NoStandby) as caught:
            synchronous(publisher, "unsafe")
        assert caught.value.committed is False
        done = publisher.publish([skill("new")], tenant="acme", publisher="ci")
        assert done.generation == head + 1
        assert key("new") in node.follow()
        # The machine of the old primary makes a standby of the new one.
        primary = f"host=127.0.0.1 port={pair.standby.port} user={USER}"
        run(anew.text, pair.folder, {**old, "PRIMARY": primary})
        run(wait.text, pair.folder, new)
        pair.standby.wait_until(STREAMING)
        assert synchronous(publisher, "safe again") == head + 2
        assert [(s.name, s.state) for s in publisher.status().standbys] == [("standby_1", "sync")]
        with open_store(owners_url(pair.primary)) as follows:
            assert follows.status().writable is False
            assert texts(standing(follows)) == texts(standing(publisher)) == node.follow()
