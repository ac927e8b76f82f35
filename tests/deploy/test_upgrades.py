"""What the guide says of versions and schemas: who refuses whom, and who goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.base.errors import StoreSchema
from skillyard.store import schema_steps
from skillyard.store.node.follower import Follower as Node
from skillyard.store.opening import open_store
from skillyard.store.schema_steps import Migration, migrations
from tests.deploy.catalogs import fill_with_grants
from tests.store.conftest import need_server
from tests.store.follower_contract import Follower
from tests.store.servers import Server
from tests.store.skills import key, skill

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty store."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/catalog.db"
        return
    need_server()
    server = Server.make()
    try:
        yield server.url("postgres")
    finally:
        server.destroy()


def test_a_new_program_refuses_an_older_schema_and_says_what_to_do(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(address, migrate=True).close()
    kind = address.partition(":")[0]
    known = migrations(kind)
    step = Migration(len(known) + 1, "more", "CREATE TABLE more (x int);\n")
    monkeypatch.setattr(schema_steps, "migrations", lambda _: (*known, step))
    with pytest.raises(StoreSchema) as caught:
        open_store(address)
    assert "skillyard store migrate" in caught.value.hint


def test_an_old_program_goes_on_while_it_runs_and_does_not_start_again(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = address.partition(":")[0]
    known = migrations(kind)
    step = Migration(len(known) + 1, "more", "CREATE TABLE more (x int);\n")
    with open_store(address, migrate=True) as running:
        fill_with_grants(running)
        node = Follower(running)
        node.follow()
        with monkeypatch.context() as newer:
            newer.setattr(schema_steps, "migrations", lambda _: (*known, step))
            with open_store(address, migrate=True) as new:
                new.publish([skill("by the new one")], tenant="acme", publisher="ci")
        assert key("by the new one") in node.follow()
        running.publish([skill("by the old one")], tenant="acme", publisher="ci")
        assert key("by the old one") in node.follow()
        for migrate in (False, True):
            with pytest.raises(StoreSchema, match="of a newer skillyard") as caught:
                open_store(address, migrate=migrate)
            assert "update skillyard" in caught.value.hint


def test_an_old_node_that_starts_answers_from_its_disk_and_takes_nothing_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"sqlite:///{tmp_path}/catalog.db"
    known = migrations("sqlite")
    step = Migration(len(known) + 1, "more", "CREATE TABLE more (x int);\n")
    with open_store(address, migrate=True) as store:
        fill_with_grants(store)
        held = store.generation()
    with Node(address, str(tmp_path / "node")) as node:
        assert node.wait(60) is not None
    with monkeypatch.context() as newer:
        newer.setattr(schema_steps, "migrations", lambda _: (*known, step))
        with open_store(address, migrate=True) as store:
            store.publish([skill("new")], tenant="acme", publisher="ci")
    with Node(address, str(tmp_path / "node")) as node:
        for _ in range(1_000):
            if node.following.failure:
                break
            threading.Event().wait(0.02)
        assert "newer skillyard" in node.following.failure
        catalog = node.catalog
        assert catalog is not None
        assert catalog.position.generation == held
        assert "new" not in [found.name for found in catalog]
