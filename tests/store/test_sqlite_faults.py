"""SQLite under faults: a full disk, damage, a busy writer, a slow statement, a torn log."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from skillyard.base.errors import (
    StoreFailed,
    StoreRefused,
    StoreSchema,
)
from skillyard.store.backend import Options
from skillyard.store.backends.sqlite import SqliteBackend
from skillyard.store.opening import open_store
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import Grant
from tests.shared_data import PACKAGES
from tests.store.skills import skill, skills, standing


@pytest.fixture
def store(sqlite_url: str) -> Iterator[CatalogStore]:
    with open_store(sqlite_url, migrate=True) as opened:
        yield opened


def sound(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as database:
        checked = database.execute("PRAGMA integrity_check").fetchall()
        return checked == [("ok",)] and not database.execute("PRAGMA foreign_key_check").fetchall()


@pytest.mark.skipif(os.name != "posix", reason="rights of a user, group and others are POSIX's")
def test_the_files_of_a_store_are_the_users_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with open_store(f"sqlite:///{tmp_path}/store.db", migrate=True) as store:
            store.publish([skill("private")], tenant="acme", publisher="ci")
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm"), 0o600)


FULL = """
import resource, sys
from skillyard.base.errors import StoreUnavailable
from skillyard.engine.skill import Skill
from skillyard.store.opening import open_store

with open_store(sys.argv[1]) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
    big = [Skill(f"b{n}", "d", "x" * 100_000 + str(n)) for n in range(100)]
    try:
        store.publish(big, tenant="acme", publisher="ci")
    except StoreUnavailable as error:
        assert error.committed is False, error
        print(error.what)
    print(store.generation(), store.status().skills)
"""


def test_a_full_disk_is_named_and_what_stood_still_stands(
    store: CatalogStore, sqlite_url: str, tmp_path: Path
) -> None:
    store.publish(skills(3), tenant="acme", publisher="ci")
    done = subprocess.run(
        [sys.executable, "-c", FULL, sqlite_url],
        capture_output=True, text=True, timeout=120, check=False,
        env={"PYTHONPATH": str(PACKAGES)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    what, counts = done.stdout.splitlines()
    assert what.startswith(("the disk is full", "its file cannot be read or written"))
    assert counts == "1 3"
    assert store.publish([skill("more")], tenant="acme", publisher="ci").generation == 2
    assert sound(tmp_path / "store.db")


def test_a_new_file_that_two_open_at_once_opens_for_both(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite refuses the switch to write-ahead logging at once, whatever its timeout."""
    path = sqlite_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr("time.sleep", lambda _: other.rollback())
        with open_store(sqlite_url, migrate=True) as store:
            assert store.generation() == 0


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM versions", "SELECT count(*) FROM contents", "SELECT * FROM entries",
        "SELECT publisher FROM main.generations", "SELECT * FROM grants", "SELECT * FROM callers",
        "SELECT * FROM temp.staged", "DELETE FROM grants", "PRAGMA query_only",
        "INSERT INTO grants VALUES ('bob', 'other', '', '')", "ATTACH ':memory:' AS x",
        "CREATE TEMP TABLE x (y)", "UPDATE versions SET tenant = 'acme'",
        "SELECT * FROM sqlite_schema",
    ],
)  # fmt: skip
def test_a_statement_without_the_filter_is_refused_in_a_view(
    store: CatalogStore, tmp_path: Path, statement: str
) -> None:
    store.publish([skill("secret")], tenant="other", publisher="ci")
    store.grant(Grant("bob", "acme"))
    backend = SqliteBackend(str(tmp_path / "store.db"), Options())
    try:
        with pytest.raises(StoreFailed) as caught, backend.reading("bob") as session:
            session.execute(statement, {}).fetchall()
        assert isinstance(caught.value, StoreRefused)
        with backend.reading("bob") as session:
            assert session.execute("SELECT * FROM visible", {}).fetchall() == []
        # The same connection, lent to the owner afterwards, is not held to the view.
        with backend.reading(None) as session:
            assert len(session.execute("SELECT * FROM entries", {}).fetchall()) == 1
    finally:
        backend.close()


def test_damage_is_named(store: CatalogStore, sqlite_url: str, tmp_path: Path) -> None:
    store.publish(skills(200), tenant="acme", publisher="ci")
    store.close()
    path = tmp_path / "store.db"
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 64] = b"\xff" * 64
    path.write_bytes(data)
    with pytest.raises(StoreSchema, match="damaged"), open_store(sqlite_url) as damaged:
        standing(damaged)


def test_a_log_that_was_torn_anywhere_leaves_whole_generations(
    store: CatalogStore, tmp_path: Path
) -> None:
    states = [0]
    for number in range(4):
        store.publish(skills(number + 2, f"{number}"), tenant="acme", publisher="ci")
        states.append(number + 2)
    log = (tmp_path / "store.db-wal").read_bytes()
    assert len(log) > 50_000
    seen = set()
    for cut in range(0, len(log) + 1, len(log) // 24):
        folder = tmp_path / f"cut-{cut}"
        folder.mkdir()
        shutil.copy(tmp_path / "store.db", folder / "store.db")
        (folder / "store.db-wal").write_bytes(log[:cut])
        # What was torn before the schema was whole is made whole first.
        with open_store(f"sqlite:///{folder}/store.db", migrate=True) as opened:
            generation = opened.generation()
            seen.add(generation)
            found = standing(opened)
            assert len(found) == states[generation]
            assert {v.skill.description for v in found} <= {f"Says {generation - 1}."}
            opened.publish([skill("more")], tenant="acme", publisher="ci")
        assert sound(folder / "store.db")
    assert len(seen) >= 4
