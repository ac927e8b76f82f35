"""Writes what a store of today's schema looks like, for the tests of tomorrow's migrations.

``python -m tests.store.schema_release`` at a release that brought a new schema: it adds
``released/<backend>-<version>.sql``, and never changes one that is there.
"""

from __future__ import annotations

import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

from skillyard import Skill
from skillyard.store.opening import open_store
from skillyard.store.schema_steps import latest
from skillyard.store.sql_store import CatalogStore
from skillyard.store.values import FileDigest, Submission
from tests.store.servers import PASSWORD, Server, binaries
from tests.store.skills import key, skill

__all__ = ["RELEASED", "fill", "release"]

RELEASED = Path(__file__).parent / "released"


def fill(store: CatalogStore) -> None:
    """Publish what every released store holds."""
    first: list[Skill | Submission] = [
        Submission(
            skill("csv", tags=["data", "é"], metadata={"k": [1, None, "x"]}, install_count=3),
            files=(FileDigest("scripts/run.py", "ab" * 32, 12),),
            commit="c0ffee",
            url="https://example.com/csv",
        ),
        skill("odd").replace(body="NUL \0 and half a pair \ud800"),
        skill("gone"),
        skill("pointer", source="owner/repo").replace(body=None),
    ]
    store.publish(first, tenant="acme", publisher="ci")
    store.publish([skill("csv", "two")], tenant="acme", publisher="ci", namespace="team/eu")
    store.publish([skill("csv", "three")], tenant="acme", publisher="ci")
    store.withdraw([key("gone")], tenant="acme", publisher="people")
    store.publish([skill("csv")], tenant="other", publisher="ci")


def release() -> None:
    """Write what is missing."""
    target = RELEASED / f"sqlite-{latest('sqlite')}.sql"
    if not target.exists():
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/store.db"
            with open_store(f"sqlite:///{path}", migrate=True) as store:
                fill(store)
            with closing(sqlite3.connect(path)) as database:
                target.write_text("\n".join(database.iterdump()) + "\n", encoding="utf-8")
    target = RELEASED / f"postgresql-{latest('postgresql')}.sql"
    if not target.exists():
        server = Server.make()
        try:
            with open_store(server.url("postgres"), migrate=True) as store:
                fill(store)
            target.write_text(_dumped(server), encoding="utf-8")
        finally:
            server.destroy()


def _dumped(server: Server) -> str:
    folder = binaries()
    assert folder is not None
    done = subprocess.run(
        [
            *(str(folder / "pg_dump"), "--schema=skillyard", "--inserts", "--no-owner"),
            f"--dbname={server.url('postgres')}",
        ],
        capture_output=True,
        check=True,
        text=True,
    )
    # Lines that differ from one dump, or one pg_dump, to the next.
    lines = [
        line
        for line in done.stdout.splitlines()
        if not line.startswith(("--", "\\", "SET ", "SELECT pg_catalog.set_config"))
    ]
    assert PASSWORD not in done.stdout
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    release()
