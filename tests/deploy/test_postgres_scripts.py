"""The scripts of ``deploy/compose/postgres``, on a real primary and the standby that they make."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillyard.base.errors import NoStandby
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.deploy.databases import (
    REPLICATION,
    Made,
    made_primary,
    owners_url,
    standby,
    streaming,
)
from tests.deploy.shell import give_away
from tests.store.skills import current, key, seen_by, skill, standing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made() -> Iterator[Made]:
    """A primary set up as compose does it."""
    with made_primary() as primary:
        yield primary


def publish(store: CatalogStore, name: str, text: str = "one") -> int:
    return store.publish(
        [skill(name, text)], tenant="acme", publisher="ci", durability="synchronous"
    ).generation


def test_the_roles_are_enough_for_the_catalog_and_no_more(made: Made) -> None:
    with open_store(owners_url(made.primary.port), migrate=True) as store:
        with pytest.raises(NoStandby, match="is connected"):
            publish(store, "unsafe")
        # A publish that does not ask for the standby does not wait for it.
        before = store.generation()
        done = store.publish([skill("local")], tenant="acme", publisher="ci")
        assert done.generation == before + 1
        assert standing(seen_by(store, "nobody")) == []
    rights = made.primary.sql(
        "SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles"
        " WHERE rolname IN ('skillyard', 'skillyard_reader', 'replicator') ORDER BY rolname"
    )
    assert rights == [
        ("replicator", False, False, False, True),
        ("skillyard", False, False, False, False),
        ("skillyard_reader", False, False, False, False),
    ]


def test_the_standby_is_copied_once_and_synchronous_publishes_reach_it(made: Made) -> None:
    open_store(owners_url(made.primary.port), migrate=True).close()
    data = made.folder / "standby"
    data.mkdir()
    data.chmod(0o777)  # as a new volume comes
    give_away(data)
    with standby(made, data) as port:
        streaming(made)
        with open_store(owners_url(made.primary.port)) as store:
            generation = publish(store, "safe")
            with open_store(owners_url(port)) as reading:
                assert reading.generation() == generation
                assert reading.status().writable is False
    assert REPLICATION not in (data / "postgresql.auto.conf").read_text(encoding="utf-8")
    assert (made.folder / "replication.pgpass").stat().st_mode & 0o077 == 0
    # Started again it goes on, from the same folder.
    mark = data / "made-once"
    mark.touch()
    with standby(made, data) as port:
        streaming(made)
        with open_store(owners_url(made.primary.port)) as store:
            generation = publish(store, "safe", "two")
            with open_store(owners_url(port)) as reading:
                assert current(reading, key("safe")).generation == generation
    assert mark.exists()
