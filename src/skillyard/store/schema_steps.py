"""The numbered steps of a store's schema. They lead forward only, and a released one never changes.

A step is ``migrations/<backend>/<number>_<name>.sql``, without gaps from 1. Each runs in one
transaction with the row of ``schema_versions`` that says so.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from skillyard.errors import StoreSchema

__all__ = ["Migration", "check_schema", "latest", "migrations", "pending"]

_FOLDER = Path(__file__).parent / "migrations"
_FILE = re.compile(r"(\d{4})_([a-z_]+)\.sql")


class Migration(NamedTuple):
    """One step."""

    number: int
    name: str
    sql: str


@cache
def migrations(backend: str) -> tuple[Migration, ...]:
    """Return every step of a backend, in order."""
    found = []
    for path in sorted((_FOLDER / backend).glob("*.sql")):
        named = _FILE.fullmatch(path.name)
        assert named is not None, path
        found.append(Migration(int(named[1]), named[2], path.read_text(encoding="utf-8")))
    assert [step.number for step in found] == list(range(1, len(found) + 1)), backend
    return tuple(found)


def latest(backend: str) -> int:
    """Return the schema version that this program needs."""
    return len(migrations(backend))


def pending(backend: str, found: int | None, store: str) -> tuple[Migration, ...]:
    """Return the steps from schema version ``found`` (None: no schema) to the latest.

    Raises StoreSchema for a version from the future.
    """
    _refuse_future(backend, found, store)
    return migrations(backend)[found or 0 :]


def check_schema(backend: str, found: int | None, store: str) -> None:
    """Raise StoreSchema unless ``found`` is the version that this program needs."""
    _refuse_future(backend, found, store)
    known = latest(backend)
    if found is None:
        raise StoreSchema(
            store, "holds no catalog", hint="make one: skillyard store init", known=known
        )
    if found < known:
        raise StoreSchema(
            store,
            f"has schema version {found}, and this program needs {known}",
            hint="bring it up to date: skillyard store migrate",
            found=found,
            known=known,
        )


def _refuse_future(backend: str, found: int | None, store: str) -> None:
    known = latest(backend)
    if found is not None and found > known:
        raise StoreSchema(
            store,
            f"has schema version {found} of a newer skillyard; this one knows up to {known}",
            hint="update skillyard here; a schema never goes back",
            found=found,
            known=known,
        )
