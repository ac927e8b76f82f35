"""No statement reads or sorts all versions for the sake of a few, with statistics or without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from skillyard.store.backend import Options
from skillyard.store.backends.postgres import PostgresBackend
from skillyard.store.backends.postgres_statements import STATEMENTS
from skillyard.store.opening import open_store
from skillyard.store.rows import row_of
from tests.store.servers import Server
from tests.store.skills import skills

FROM_START = {
    "at_generation": 0, "at_ordinal": 0, "until": 1, "limit": 10, "most_bytes": 100_000,
}  # fmt: skip


@pytest.fixture(scope="module", params=["unknown", "analysed"])
def backend(request: pytest.FixtureRequest, server: Server) -> Iterator[PostgresBackend]:
    """A store of 3,000 skills in a database of its own; no test changes it."""
    database = f"plans_{request.param}"
    server.sql(f"CREATE DATABASE {database}")
    with open_store(server.url(database), migrate=True) as store:
        store.publish(skills(3_000), tenant="acme", publisher="ci")
    if request.param == "analysed":
        server.sql("ANALYZE", database)
    made = PostgresBackend(server.url(database), Options())
    yield made
    made.close()
    server.sql(f"DROP DATABASE {database} WITH (FORCE)")


def plan(session: Any, sql: str, parameters: dict[str, Any]) -> str:
    return "\n".join(row[0] for row in session.execute(f"EXPLAIN {sql}", parameters).fetchall())


def test_a_page_is_read_along_the_key(backend: PostgresBackend) -> None:
    with backend.reading(None) as session:
        found = plan(session, STATEMENTS.page, FROM_START)
    assert "Index Scan using versions_pkey" in found
    assert "Sort" not in found


def test_a_publish_looks_up_what_it_touches(backend: PostgresBackend) -> None:
    with backend.writing("local") as work:
        work.stage([row_of(one, tenant="acme") for one in skills(40, "two")])
        found = plan(work, STATEMENTS.decide_publish, {"tenant": "acme"})
        work.execute(STATEMENTS.decide_publish, {"tenant": "acme"})
        found += plan(work, STATEMENTS.supersede, {"generation": 2})
    assert "Seq Scan on versions" not in found
    assert "Materialize" not in found
    assert found.count(" using versions_") == 2


def test_what_stands_is_looked_up_key_by_key(backend: PostgresBackend) -> None:
    words = [{"namespace": "", "source": "", "place": f"s{number:05}"} for number in range(40)]
    parameters = {"tenant": "acme", "keys": json.dumps(words)}
    with backend.reading(None) as session:
        found = plan(session, STATEMENTS.standing, parameters)
    assert "Seq Scan" not in found
    assert "Materialize" not in found
    assert found.count(" using versions_") == found.count(" using contents_pkey") == 1


def test_places_are_listed_along_the_index_of_what_stands(backend: PostgresBackend) -> None:
    parameters = {"tenant": "acme", "namespace": "", "source": "", "after": "s00100", "limit": 10}
    with backend.reading(None) as session:
        found = plan(session, STATEMENTS.places, parameters)
    assert " using versions_current" in found
    assert "Sort" not in found
