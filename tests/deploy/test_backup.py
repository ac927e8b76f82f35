"""The guide's commands for backups: nothing is lost, and everybody goes on from what was kept."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from tests.deploy.catalogs import (
    DATABASE,
    check_roles,
    everything,
    fill_with_grants,
    made_logins,
    owners_url,
)
from tests.deploy.files import section
from tests.deploy.shell import own_folder, run, server_environment
from tests.store.conftest import need_server
from tests.store.follower_contract import Follower, texts
from tests.store.servers import Server
from tests.store.skills import key, skill, standing

pytestmark = pytest.mark.slow


def commands(heading: str) -> str:
    """Return the one block of commands that a section of the guide has."""
    (block,) = section(heading)
    return block.text


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where backups go; the user that runs PostgreSQL may write there."""
    need_server()
    with own_folder() as made:
        yield made


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    """A server with the logins of the guide and a filled store."""
    made = Server.make()
    try:
        # What is told at a start is not in the data folder, and a copy of it starts without.
        made.sql(f"ALTER SYSTEM SET unix_socket_directories = '{made.folder}'")
        made_logins(made, server_environment(made, folder), folder)
        with open_store(owners_url(made), migrate=True) as store:
            fill_with_grants(store)
        yield made
    finally:
        made.destroy()


def publish(store: CatalogStore, name: str, text: str = "one") -> int:
    return store.publish([skill(name, text)], tenant="acme", publisher="ci").generation


def test_a_dump_brings_back_everything_and_who_may_see_it(server: Server, folder: Path) -> None:
    with open_store(owners_url(server)) as store:
        before = everything(store)
        at_head, ahead = Follower(store), Follower(store)
        at_head.follow()
        names = {"PGDATABASE": DATABASE}
        run(commands("Into one file"), folder, server_environment(server, folder, **names))
        publish(store, "lost")
        ahead.follow()
    new = Server.make()
    try:
        run(commands("From one file"), folder, server_environment(new, folder, **names))
        with open_store(owners_url(new), migrate=True) as restored:
            assert everything(restored) == before
            check_roles(new)
            # Publishing goes on: what stands there is known, the next generation is the next one.
            same = restored.publish([skill("csv")], tenant="other", publisher="ci")
            assert (same.unchanged, same.generation) == (1, before["head"])
            for follower in (at_head, ahead):
                follower.store = restored
            assert not restored.changes(at_head.position).whole
            assert publish(restored, "new") == before["head"] + 1
            # It saw a generation of this number, and it was another one.
            assert restored.changes(ahead.position).whole
            whole = texts(standing(restored))
            assert key("new") in whole
            assert key("lost") not in whole
            for follower in (at_head, ahead):
                assert follower.follow() == whole
    finally:
        new.destroy()


def test_a_base_backup_and_the_log_bring_back_any_moment(server: Server, folder: Path) -> None:
    environment = server_environment(server, folder)
    archive, base = section("For any moment")
    run(archive.text, folder, environment)
    run(base.text, folder, environment)
    with open_store(owners_url(server)) as store:
        publish(store, "after-the-backup")
        before = everything(store)
        at_head, ahead = Follower(store), Follower(store)
        at_head.follow()
        ((until,),) = server.sql("SELECT clock_timestamp()::text")
        store.withdraw([key("csv")], tenant="acme", publisher="mistake")
        publish(store, "mistake")
        ahead.follow()
    run(commands("To any moment"), folder, {**environment, "UNTIL": until})
    with open_store(owners_url(server), migrate=True) as restored:
        assert everything(restored) == before
        check_roles(server)
        # The next start is an ordinary one.
        assert server.sql("SELECT name FROM pg_file_settings WHERE name ~ 'recovery|restore'") == []
        for follower in (at_head, ahead):
            follower.store = restored
        assert not restored.changes(at_head.position).whole
        assert publish(restored, "new") == before["head"] + 1
        assert restored.changes(ahead.position).whole
        whole = texts(standing(restored))
        assert key("mistake") not in whole
        assert at_head.follow() == ahead.follow() == whole


def test_a_file_is_copied_while_it_is_published_to(tmp_path: Path) -> None:
    catalog = tmp_path / "live" / "catalog.db"
    catalog.parent.mkdir()
    environment = {"CATALOG": str(catalog), "BACKUPS": str(tmp_path)}
    stop, started = threading.Event(), threading.Event()
    with open_store(f"sqlite:///{catalog}", migrate=True) as store:
        fill_with_grants(store)

        def keep_publishing() -> None:
            turn = 0
            while not stop.is_set():
                turn += 1
                publish(store, "busy", f"{turn}")
                started.set()

        publisher = threading.Thread(target=keep_publishing)
        publisher.start()
        try:
            assert started.wait(60)
            run(commands("SQLite"), tmp_path, environment, as_server=False)
        finally:
            stop.set()
            publisher.join()
        publish(store, "lost")
        ahead = Follower(store)
        ahead.follow()
        with open_store(f"sqlite:///{tmp_path}/catalog.db") as copy:
            head = copy.generation()
            assert 5 < head < store.generation()
            kept = everything(copy)
            assert all(each in store.history(each.key) for each in standing(copy))
            assert copy.grants() == store.grants()
        # A machine that died leaves its log beside the file; it must not be read into the copy.
        died = tmp_path / "died"
        shutil.copytree(catalog.parent, died)
        assert (died / "catalog.db-wal").stat().st_size > 0
    environment["CATALOG"] = str(died / "catalog.db")
    run(commands("Back to SQLite"), tmp_path, environment, as_server=False)
    with open_store(f"sqlite:///{died}/catalog.db", migrate=True) as restored:
        assert everything(restored) == kept
        assert publish(restored, "new") == head + 1
        ahead.store = restored
        assert restored.changes(ahead.position).whole
        assert ahead.follow() == texts(standing(restored))
