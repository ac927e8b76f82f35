"""What SQLite says in its own way. Temporary tables and views belong to one connection."""

from __future__ import annotations

from skillyard.store.rows import WEIGHED, StoredRow
from skillyard.store.statements import ALL_COLUMNS, CONTENT_COLUMNS, STAGED_COLUMNS, Dialect

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

_WEIGHT = " + ".join(f"coalesce(length(CAST({name} AS BLOB)), 0)" for name in WEIGHED)


def _page(relation: str) -> str:
    """Return the statement of a page. Rows are fetched one by one, so the reader stops in time."""
    return f"""
SELECT {ALL_COLUMNS}, {_WEIGHT} FROM {relation}
WHERE (generation, ordinal) > (:at_generation, :at_ordinal) AND generation <= :until
  AND (superseded IS NULL OR superseded > :until)
ORDER BY generation, ordinal LIMIT :limit
"""


DIALECT = Dialect(
    schema="",
    temporary="temp.",
    style=r":\1",
    page=_page("entries"),
    page_of_view=_page("visible"),
    # SQLite runs a cross join in the written order: one lookup for each key.
    standing="""
SELECT v.tenant, v.namespace, v.source, v.place, v.digest, v.installs
FROM json_each(:keys) k
CROSS JOIN main.versions v ON v.tenant = :tenant
  AND v.namespace = json_extract(k.value, '$.namespace')
  AND v.source = json_extract(k.value, '$.source')
  AND v.place = json_extract(k.value, '$.place')
  AND v.superseded IS NULL AND v.digest IS NOT NULL
""",
    seconds="published_at",
    # SQLite takes bare columns from the row of min().
    first="(SELECT *, min(number) FROM temp.staged GROUP BY namespace, source, place)",
    current="""
LEFT JOIN versions v ON v.tenant = :tenant AND v.namespace = s.namespace
    AND v.source = s.source AND v.place = s.place AND v.superseded IS NULL
""",
    restored="""
LEFT JOIN versions t ON t.tenant = v.tenant AND t.namespace = v.namespace
    AND t.source = v.source AND t.place = v.place
    AND t.generation <= :to AND (t.superseded IS NULL OR t.superseded > :to)
""",
    supersede="""
UPDATE versions SET superseded = :generation
WHERE (generation, ordinal) IN (
    SELECT was_generation, was_ordinal FROM temp.moves
    WHERE kind <> 'unchanged' AND was_generation IS NOT NULL
)
""",
)
