"""The SQL of SQLite. Temporary tables and views belong to one connection."""

from __future__ import annotations

from skillyard.store.backend import Statements
from skillyard.store.backends.shared_statements import (
    ALL_COLUMNS,
    CONTENT_COLUMNS,
    COUNT,
    MOVES_OF_PUBLISH,
    MOVES_OF_ROLLBACK,
    MOVES_OF_WITHDRAWAL,
    STAGED_COLUMNS,
    VERSION_COLUMNS,
)
from skillyard.store.rows import MAX_STATE_BYTES, WEIGHED, StoredRow

_ENTRY = """
    SELECT
        v.tenant, v.namespace, v.source, v.place, v.version, v.generation, v.ordinal, v.digest,
        c.document, c.body, c.files, v.around, v.installs, v.commit_id, v.url, g.publisher,
        g.published_at, v.superseded, c.skill_id
    FROM main.versions v
    JOIN main.generations g ON g.generation = v.generation
    LEFT JOIN main.contents c ON c.tenant = v.tenant AND c.digest = v.digest
"""
VIEWS = ("visible", "heads", "view_generations")
"""Everything that a caller's transaction may read; an authorizer checks every statement."""

SET_UP = f"""
CREATE TEMP TABLE staged (number INTEGER PRIMARY KEY, {STAGED_COLUMNS});
CREATE TEMP TABLE moves (
    namespace, source, place, kind, found, version, digest, around, installs, commit_id, url,
    expected, was_generation, was_ordinal
);
CREATE TEMP VIEW entries AS {_ENTRY};
CREATE TEMP VIEW visible AS {_ENTRY}
WHERE EXISTS (
    SELECT 1 FROM main.grants a
    WHERE a.caller = skillyard_caller()
      AND a.tenant = v.tenant
      AND (a.namespace = '' OR a.namespace = v.namespace
           OR substr(v.namespace, 1, length(a.namespace) + 1) = a.namespace || '/')
      AND (a.place = '' OR a.place = v.place)
);
CREATE TEMP VIEW heads AS SELECT generation, stamp FROM main.generations;
CREATE TEMP VIEW view_generations AS
    SELECT generation FROM main.callers WHERE caller = skillyard_caller();
"""

STAGE = (
    f"INSERT INTO temp.staged ({STAGED_COLUMNS}) VALUES ({', '.join('?' * len(StoredRow._fields))})"
)

KEEP_CONTENTS = f"""
INSERT INTO contents (
    tenant, {CONTENT_COLUMNS}
)
SELECT
    :tenant, {CONTENT_COLUMNS}
FROM temp.staged
WHERE digest IS NOT NULL
ORDER BY number
ON CONFLICT (tenant, digest) DO NOTHING
"""

# Of a skill that was submitted twice, the first counts. SQLite takes bare columns from the row of
# min().
_FIRST = "(SELECT *, min(number) FROM temp.staged GROUP BY namespace, source, place)"
_CURRENT = """
LEFT JOIN versions v ON v.tenant = :tenant AND v.namespace = s.namespace
    AND v.source = s.source AND v.place = s.place AND v.superseded IS NULL
"""
_INTO_MOVES = "INSERT INTO temp.moves"

# Longer documents are not read: many of them at once would not fit into memory.
_SMALL = f"length(c.document) + length(c.files) <= {MAX_STATE_BYTES}"
_LOOKED_AT = f"CASE WHEN {_SMALL} THEN c.document END, CASE WHEN {_SMALL} THEN c.files END"

_WEIGHT = " + ".join(f"coalesce(length(CAST({name} AS BLOB)), 0)" for name in WEIGHED)
# Rows are fetched one by one, so the reader stops when it has enough bytes.
_PAGE = f"""
SELECT {ALL_COLUMNS}, {_WEIGHT} FROM {{entries}}
WHERE (generation, ordinal) > (:at_generation, :at_ordinal) AND generation <= :until
  AND (superseded IS NULL OR superseded > :until)
ORDER BY generation, ordinal LIMIT :limit
"""

STATEMENTS = Statements(
    head="SELECT generation, stamp FROM heads ORDER BY generation DESC LIMIT 1",
    stamp_of="SELECT stamp FROM heads WHERE generation = :generation",
    view_generation="SELECT generation FROM view_generations",
    page=_PAGE.format(entries="entries"),
    page_of_view=_PAGE.format(entries="visible"),
    by_id=f"""
SELECT {ALL_COLUMNS} FROM {{entries}}
WHERE skill_id = :id AND superseded IS NULL AND (:tenant IS NULL OR tenant = :tenant)
ORDER BY tenant, namespace, source, place
""",
    by_key=f"""
SELECT {ALL_COLUMNS} FROM {{entries}}
WHERE tenant = :tenant AND namespace = :namespace AND source = :source AND place = :place
  AND superseded IS NULL AND digest IS NOT NULL
""",
    history=f"""
SELECT {ALL_COLUMNS} FROM {{entries}}
WHERE tenant = :tenant AND namespace = :namespace AND source = :source AND place = :place
  AND digest IS NOT NULL
ORDER BY generation
""",
    count=COUNT,
    # SQLite runs a cross join in the written order: one lookup for each key.
    standing=f"""
SELECT
    v.tenant, v.namespace, v.source, v.place, v.version, v.digest, v.installs,
    {_LOOKED_AT}
FROM json_each(:keys) k
CROSS JOIN main.versions v ON v.tenant = :tenant
  AND v.namespace = json_extract(k.value, '$.namespace')
  AND v.source = json_extract(k.value, '$.source')
  AND v.place = json_extract(k.value, '$.place')
  AND v.superseded IS NULL
CROSS JOIN main.contents c ON c.tenant = v.tenant AND c.digest = v.digest
""",
    places="""
SELECT place FROM versions
WHERE tenant = :tenant AND namespace = :namespace AND source = :source
  AND place > :after AND superseded IS NULL AND digest IS NOT NULL
ORDER BY place LIMIT :limit
""",
    generations="""
SELECT generation, published_at, tenant, publisher, action, added, changed, withdrawn
FROM generations
WHERE :before IS NULL OR generation < :before
ORDER BY generation DESC LIMIT :limit
""",
    doubled="""
SELECT namespace, source, place FROM temp.staged
GROUP BY namespace, source, place HAVING count(DISTINCT digest) > 1
ORDER BY namespace, source, place LIMIT 1
""",
    decide_publish=f"""
{_INTO_MOVES} SELECT {MOVES_OF_PUBLISH}FROM {_FIRST} s {_CURRENT}
""",
    decide_withdraw=f"""
{_INTO_MOVES} SELECT {MOVES_OF_WITHDRAWAL}FROM {_FIRST} s {_CURRENT}
""",
    decide_rollback=f"""
{_INTO_MOVES} SELECT {MOVES_OF_ROLLBACK}FROM versions v
LEFT JOIN versions t ON t.tenant = v.tenant AND t.namespace = v.namespace
    AND t.source = v.source AND t.place = v.place
    AND t.generation <= :to AND (t.superseded IS NULL OR t.superseded > :to)
WHERE v.tenant = :tenant AND v.superseded IS NULL
  AND (t.digest IS NOT NULL OR v.digest IS NOT NULL)
""",
    unexpected="""
SELECT namespace, source, place, expected, found FROM temp.moves
WHERE expected IS NOT NULL AND expected <> found AND version <> found
ORDER BY namespace, source, place LIMIT 1
""",
    kinds="SELECT kind, count(*) FROM temp.moves GROUP BY kind",
    add_generation="""
INSERT INTO generations (generation, stamp, tenant, publisher, action, added, changed, withdrawn)
VALUES (:generation, :stamp, :tenant, :publisher, :action, :added, :changed, :withdrawn)
""",
    supersede="""
UPDATE versions SET superseded = :generation
WHERE (generation, ordinal) IN (
    SELECT was_generation, was_ordinal FROM temp.moves
    WHERE kind <> 'unchanged' AND was_generation IS NOT NULL
)
""",
    add_versions=f"""
INSERT INTO versions (
    generation, ordinal, tenant, {VERSION_COLUMNS}
)
SELECT
    :generation, row_number() OVER (ORDER BY namespace, source, place), :tenant,
    {VERSION_COLUMNS}
FROM temp.moves WHERE kind <> 'unchanged'
""",
    granted="""
SELECT caller, tenant, namespace, place FROM grants
WHERE :caller IS NULL OR caller = :caller
ORDER BY caller, tenant, namespace, place
""",
    add_grant="""
INSERT INTO grants (caller, tenant, namespace, place)
VALUES (:caller, :tenant, :namespace, :place) ON CONFLICT DO NOTHING
""",
    drop_grant="""
DELETE FROM grants
WHERE caller = :caller AND tenant = :tenant AND namespace = :namespace AND place = :place
""",
    drop_grants="""
DELETE FROM grants WHERE caller = :caller AND tenant = :tenant AND namespace = :namespace
""",
    view_changed="""
INSERT INTO callers (caller, generation) VALUES (:caller, :generation)
ON CONFLICT (caller) DO UPDATE SET generation = excluded.generation
""",
)
