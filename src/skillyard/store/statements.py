"""The SQL of a store, in the words that both databases share.

``{s}`` is the schema of the tables, ``{t}`` that of temporary tables, ``{entries}`` the relation
that a caller reads. A :class:`Dialect` has the rest; :meth:`Dialect.render` returns a statement as
a database takes it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from skillyard.store.rows import COLUMNS, StoredRow

STAGED_AT_ONCE = 1_000
"""Number of staged rows that are in memory at a time."""

ALL_COLUMNS = ", ".join(COLUMNS)
STAGED_COLUMNS = ", ".join(StoredRow._fields)
CONTENT_COLUMNS = """digest, skill_id, slug, name, description, tags, document, body, files"""
_VERSION_COLUMNS = "namespace, source, place, version, digest, around, installs, commit_id, url"
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")


class Dialect(NamedTuple):
    """What a database says in its own way."""

    schema: str
    temporary: str
    style: str
    """A parameter, with ``\\1`` for its name."""
    page: str
    """The rows between two positions, in order. The last column is the weight of a row in bytes. It
    may end once the preceding rows weigh ``most_bytes``, and not earlier."""
    page_of_view: str
    standing: str
    seconds: str
    """``published_at`` of a generation, in Unix seconds."""
    first: str
    """The staged rows; of a skill that was submitted twice, the first counts."""
    current: str
    """Joins the current version ``v`` of a staged row ``s``."""
    restored: str
    """Joins the version ``t`` that a skill ``v`` had in the generation ``:to``."""
    supersede: str

    def render(self, statement: str) -> str:
        """Return a statement with the names and parameters of this database."""
        return _rendered(self, statement)


@lru_cache(256)
def _rendered(dialect: Dialect, statement: str) -> str:
    names = {"s": dialect.schema, "t": dialect.temporary, **dialect._asdict()}
    return _PARAMETER.sub(dialect.style, statement.format_map(names))


HEAD = "SELECT generation, stamp FROM {s}heads ORDER BY generation DESC LIMIT 1"
STAMP_OF = "SELECT stamp FROM {s}heads WHERE generation = :generation"
VIEW_GENERATION = "SELECT generation FROM {s}view_generations"
HISTORY = f"""
SELECT {ALL_COLUMNS} FROM {{entries}}
WHERE tenant = :tenant AND namespace = :namespace AND source = :source AND place = :place
  AND digest IS NOT NULL
ORDER BY generation
"""
COUNT = "SELECT count(publisher) FROM {entries} WHERE superseded IS NULL AND digest IS NOT NULL"
PLACES = """
SELECT place FROM {s}versions
WHERE tenant = :tenant AND namespace = :namespace AND source = :source
  AND place > :after AND superseded IS NULL AND digest IS NOT NULL
ORDER BY place LIMIT :limit
"""
GENERATIONS = """
SELECT generation, {seconds}, tenant, publisher, action, added, changed, withdrawn
FROM {s}generations ORDER BY generation DESC LIMIT :limit
"""
DOUBLED = """
SELECT namespace, source, place FROM {t}staged
GROUP BY namespace, source, place HAVING count(DISTINCT digest) > 1
ORDER BY namespace, source, place LIMIT 1
"""
# The move for each staged row ``s``, given the current version ``v`` of its skill.
DECIDE_PUBLISH = """
INSERT INTO {t}moves SELECT
    s.namespace, s.source, s.place,
    CASE
        WHEN v.digest IS NULL THEN 'added'
        WHEN v.digest <> s.digest OR v.installs <> s.installs THEN 'changed'
        ELSE 'unchanged'
    END,
    CASE WHEN v.digest IS NULL THEN 0 ELSE v.version END,
    CASE WHEN v.digest = s.digest THEN v.version ELSE coalesce(v.version, 0) + 1 END,
    s.digest, s.around, s.installs, s.commit_id, s.url, s.expected, v.generation, v.ordinal
FROM {first} s {current}
"""
DECIDE_WITHDRAW = """
INSERT INTO {t}moves SELECT
    s.namespace, s.source, s.place,
    CASE WHEN v.digest IS NULL THEN 'unchanged' ELSE 'withdrawn' END,
    0, coalesce(v.version, 0), NULL, coalesce(v.around, ''), coalesce(v.installs, 0),
    v.commit_id, v.url, NULL, v.generation, v.ordinal
FROM {first} s {current}
"""
# The move for each current version ``v``, given the version ``t`` of the restored generation.
DECIDE_ROLLBACK = """
INSERT INTO {t}moves SELECT
    v.namespace, v.source, v.place,
    CASE
        WHEN t.digest = v.digest THEN 'unchanged'
        WHEN t.digest IS NULL THEN 'withdrawn'
        WHEN v.digest IS NULL THEN 'added'
        ELSE 'changed'
    END,
    0, CASE WHEN t.digest IS NULL THEN v.version ELSE v.version + 1 END,
    t.digest, coalesce(t.around, v.around), v.installs, t.commit_id, t.url, NULL,
    v.generation, v.ordinal
FROM {s}versions v {restored}
WHERE v.tenant = :tenant AND v.superseded IS NULL
  AND (t.digest IS NOT NULL OR v.digest IS NOT NULL)
"""
UNEXPECTED = """
SELECT namespace, source, place, expected, found FROM {t}moves
WHERE expected IS NOT NULL AND expected <> found AND version <> found
ORDER BY namespace, source, place LIMIT 1
"""
KINDS = "SELECT kind, count(*) FROM {t}moves GROUP BY kind"
ADD_GENERATION = """
INSERT INTO {s}generations
    (generation, stamp, tenant, publisher, action, added, changed, withdrawn)
VALUES (:generation, :stamp, :tenant, :publisher, :action, :added, :changed, :withdrawn)
"""
ADD_VERSIONS = f"""
INSERT INTO {{s}}versions (generation, ordinal, tenant, {_VERSION_COLUMNS})
SELECT
    :generation, row_number() OVER (ORDER BY namespace, source, place), :tenant,
    {_VERSION_COLUMNS}
FROM {{t}}moves WHERE kind <> 'unchanged'
"""
GRANTED = """
SELECT caller, tenant, namespace, place FROM {s}grants
WHERE CAST(:caller AS text) IS NULL OR caller = :caller
ORDER BY caller, tenant, namespace, place
"""
ADD_GRANT = """
INSERT INTO {s}grants (caller, tenant, namespace, place)
VALUES (:caller, :tenant, :namespace, :place) ON CONFLICT DO NOTHING
"""
DROP_GRANTS = """
DELETE FROM {s}grants WHERE caller = :caller AND tenant = :tenant AND namespace = :namespace
"""
DROP_GRANT = f"{DROP_GRANTS} AND place = :place"
VIEW_CHANGED = """
INSERT INTO {s}callers (caller, generation) VALUES (:caller, :generation)
ON CONFLICT (caller) DO UPDATE SET generation = excluded.generation
"""
