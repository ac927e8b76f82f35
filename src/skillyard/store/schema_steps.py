"""The numbered migrations of a store's schema, forward only. Released migrations never change.

A migration is ``migrations/<backend>/<number>_<name>.sql``, without gaps from 1. Each runs in one
transaction with its row of ``schema_versions``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from skillyard.base.errors import StoreSchema

_FOLDER = Path(__file__).parent / "migrations"
_FILE = re.compile(r"(\d{4})_([a-z_]+)\.sql")


class Migration(NamedTuple):
    """One migration."""

    number: int
    name: str
    sql: str


@cache
def migrations(backend: str) -> tuple[Migration, ...]:
    """Return every migration of a backend, in order."""
    steps = []
    for path in sorted((_FOLDER / backend).glob("*.sql")):
        match = _FILE.fullmatch(path.name)
        assert match is not None, path
        steps.append(Migration(int(match[1]), match[2], path.read_text(encoding="utf-8")))
    assert [step.number for step in steps] == list(range(1, len(steps) + 1)), backend
    return tuple(steps)


def latest(backend: str) -> int:
    """Return the schema version that this program needs."""
    return len(migrations(backend))


def pending(backend: str, version: int | None, store: str) -> tuple[Migration, ...]:
    """Return the migrations from schema ``version`` (None: no schema) to the latest.

    Raises StoreSchema for a newer version.
    """
    known = latest(backend)
    if version is not None and version > known:
        raise StoreSchema(
            store,
            f"has schema version {version} of a newer skillyard; this one knows up to {known}",
            hint="update skillyard here; a schema never goes back",
            found=version,
            known=known,
        )
    return migrations(backend)[version or 0 :]


def check_schema(backend: str, version: int | None, store: str) -> None:
    """Raise StoreSchema unless ``version`` is the one that this program needs."""
    is_old, known = bool(pending(backend, version, store)), latest(backend)
    if version is None:
        raise StoreSchema(
            store, "holds no catalog", hint="make one: skillyard store init", known=known
        )
    if is_old:
        raise StoreSchema(
            store,
            f"has schema version {version}, and this program needs {known}",
            hint="bring it up to date: skillyard store migrate",
            found=version,
            known=known,
        )
