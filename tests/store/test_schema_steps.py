"""Schemas lead forward only: from every released one, in one step or none, and never back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from skillyard.base.errors import StoreRefused, StoreSchema
from skillyard.store import schema_steps
from skillyard.store.opening import open_store
from skillyard.store.schema_steps import Migration, latest, migrations
from skillyard.store.values import Grant, Version
from tests.store.schema_release import RELEASED, fill
from tests.store.servers import Server
from tests.store.skills import key, seen_by, skill, standing
from tests.tables import for_each

BACKENDS = ("sqlite", "postgresql")
PINNED = {
    "postgresql/0001_catalog": "588b73bbfa867bee",
    "postgresql/0002_callers": "de3fb50df1df7f1b",
    "sqlite/0001_catalog": "b24e16798faedb03",
    "sqlite/0002_callers": "b82fdc025bcd7f45",
}
"""A released step never changes: what it made once is what stores out there have."""
FIXTURES = sorted(path.stem for path in RELEASED.glob("*.sql"))

Sql = Callable[[str], list[Any]]


@pytest.fixture
def sql(url: str, request: pytest.FixtureRequest) -> Sql:
    """Runs SQL on the database behind the address, past the store."""
    if url.startswith("sqlite"):
        path = url.removeprefix("sqlite:///")

        def run(script: str) -> list[Any]:
            with closing(sqlite3.connect(path)) as database:
                if script.count(";") > 1:
                    database.executescript(script)
                    return []
                rows = database.execute(script).fetchall()
                database.commit()
                return rows

        return run
    server: Server = request.getfixturevalue("server")
    database = request.getfixturevalue("database")
    return lambda script: server.sql(script, database)


def backend_of(url: str) -> str:
    return url.partition(":")[0]


def table(url: str) -> str:
    return "schema_versions" if url.startswith("sqlite") else "skillyard.schema_versions"


def known(version: Version) -> tuple[Any, ...]:
    """Return what two stores that were filled alike have in common."""
    return (
        *(version.key, version.version, version.generation, version.skill, version.digest),
        *(version.files, version.commit, version.url, version.publisher),
    )


@for_each("backend", BACKENDS)
def test_a_released_step_is_what_it_was(backend: str) -> None:
    for step in migrations(backend):
        name = f"{backend}/{step.number:04}_{step.name}"
        assert PINNED.get(name) == sha256(step.sql.encode()).hexdigest()[:16], name


@for_each("backend", BACKENDS)
def test_every_released_schema_but_the_newest_has_a_fixture(backend: str) -> None:
    expected = {f"{backend}-{number}" for number in range(1, latest(backend))}
    assert expected <= set(FIXTURES)


@pytest.mark.parametrize("number", [1])
def test_a_released_store_is_brought_up_to_date_and_loses_nothing(
    url: str, sql: Sql, number: int, tmp_path: Path
) -> None:
    backend = backend_of(url)
    sql((RELEASED / f"{backend}-{number}.sql").read_text(encoding="utf-8"))
    with pytest.raises(StoreSchema) as caught:
        open_store(url)
    assert (caught.value.found, caught.value.known) == (number, latest(backend))
    with (
        open_store(url, migrate=True) as old,
        open_store(f"sqlite:///{tmp_path}/new.db", migrate=True) as new,
    ):
        fill(new)
        assert old.status().schema_version == latest(backend)
        assert list(map(known, standing(old))) == list(map(known, standing(new)))
        assert old.history(key("csv"))[0].skill == new.history(key("csv"))[0].skill
        assert old.publish([skill("csv", "three")], tenant="acme", publisher="x").unchanged == 1
        assert old.publish([skill("more")], tenant="acme", publisher="x").generation == 6
        old.grant(Grant("bob", "acme", "team"))
        assert [v.key.namespace for v in standing(seen_by(old, "bob"))] == ["team/eu"]


def test_a_schema_from_the_future_is_refused_by_name(url: str, sql: Sql) -> None:
    backend = backend_of(url)
    open_store(url, migrate=True).close()
    sql(f"INSERT INTO {table(url)} (version, name) VALUES (99, 'telepathy')")
    for migrate in (False, True):
        with pytest.raises(StoreSchema, match="schema version 99 of a newer skillyard") as caught:
            open_store(url, migrate=migrate)
        assert (caught.value.found, caught.value.known) == (99, latest(backend))
    assert sql(f"SELECT max(version) FROM {table(url)}") == [(99,)]


def test_many_may_migrate_at_once(url: str) -> None:
    def migrate(_: int) -> int:
        with open_store(url, migrate=True) as store:
            return store.status().schema_version

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(migrate, range(4))) == {latest(backend_of(url))}


def test_a_step_that_fails_leaves_the_schema_before_it(
    url: str, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = backend_of(url)
    before = latest(backend)
    with open_store(url, migrate=True) as store:
        store.publish([skill("a")], tenant="acme", publisher="ci")
    # It makes a table, and then asks for one that is not there.
    broken = Migration(
        before + 1, "broken", "CREATE TABLE extra (x int);\nSELECT 1 FROM missing;\n"
    )
    monkeypatch.setattr(schema_steps, "migrations", lambda _: (*migrations(backend), broken))
    with pytest.raises(StoreSchema):
        open_store(url, migrate=True)
    monkeypatch.undo()
    with open_store(url) as again:
        status = again.status()
        assert (status.schema_version, status.generation, status.skills) == (before, 1, 1)
    there = "sqlite_schema WHERE name" if backend == "sqlite" else "pg_class WHERE relname"
    assert sql(f"SELECT count(*) FROM {there} = 'extra'") == [(0,)]


def test_a_file_of_another_kind_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(b"this is not a database" * 200)
    with pytest.raises(StoreSchema, match="no SQLite database"):
        open_store(f"sqlite:///{tmp_path}/noise")
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE schema_versions (x)")
    with pytest.raises(StoreSchema):
        open_store(f"sqlite:///{tmp_path}/other.db")
    with pytest.raises(StoreRefused, match="cannot be made"):
        open_store(f"sqlite:///{tmp_path}", migrate=True)
