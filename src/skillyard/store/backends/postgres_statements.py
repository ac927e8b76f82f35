"""What PostgreSQL says in its own way. Temporary tables belong to one connection."""

from __future__ import annotations

from skillyard.store.rows import WEIGHED
from skillyard.store.statements import ALL_COLUMNS, CONTENT_COLUMNS, STAGED_COLUMNS, Dialect

TABLES = """
CREATE TEMP TABLE IF NOT EXISTS staged (
    number bigint GENERATED ALWAYS AS IDENTITY,
    namespace text COLLATE "C", source text COLLATE "C", place text COLLATE "C",
    digest text COLLATE "C", skill_id text, slug text, name text, description text,
    tags text[], document text, body text, files text, around text,
    installs bigint, commit_id text, url text, expected bigint
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE IF NOT EXISTS moves (
    namespace text COLLATE "C", source text COLLATE "C", place text COLLATE "C",
    kind text, found bigint, version bigint, digest text COLLATE "C", around text,
    installs bigint, commit_id text, url text, expected bigint,
    was_generation bigint, was_ordinal bigint
) ON COMMIT DELETE ROWS;
"""

# The planner lacks statistics for temporary and just grown tables, and then prefers to read or
# sort all versions. These settings make it use an index.
READING = "SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off;"
WRITING = (
    "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;"
    " SET LOCAL enable_bitmapscan = off;"
)

STAGE = f"COPY pg_temp.staged ({STAGED_COLUMNS}) FROM STDIN"

# Sorted, so that publishers of the same contents lock rows in the same order and cannot deadlock.
KEEP_CONTENTS = f"""
INSERT INTO skillyard.contents (
    tenant, {CONTENT_COLUMNS}
)
SELECT DISTINCT ON (digest)
    %(tenant)s, {CONTENT_COLUMNS}
FROM pg_temp.staged
WHERE digest IS NOT NULL
ORDER BY digest, number
ON CONFLICT (tenant, digest) DO NOTHING
"""

# Held until the transaction has ended and is visible, so that generations are numbered in commit
# order. The number is the word "skillyard", shortened.
LOCK = "SELECT pg_advisory_xact_lock(x'736b696c6c796172'::bigint)"

WAITED_FOR = """
SELECT
    current_setting('synchronous_standby_names') AS names,
    count(*) FILTER (WHERE sync_state IN ('sync', 'quorum') AND state = 'streaming') AS waited_for,
    count(*) FILTER (WHERE sync_state IS NULL) AS hidden,
    count(*) AS connected
FROM pg_stat_replication
"""

STANDBYS = """
SELECT application_name, sync_state, extract(epoch FROM replay_lag)::float8
FROM pg_stat_replication WHERE state = 'streaming' ORDER BY application_name, pid
"""

_WEIGHT = " + ".join(f"coalesce(octet_length({name}), 0)" for name in WEIGHED)


def _page(rows: str) -> str:
    """Return the statement of a page of these rows.

    The server sends a page as a whole, so the statement itself ends where the page is heavy enough.
    The server knows the length of a text without reading it.
    """
    return f"""
SELECT {ALL_COLUMNS}, weight FROM (
    SELECT *, sum(weight) OVER (ORDER BY generation, ordinal) - weight AS before
    FROM (SELECT *, {_WEIGHT} AS weight FROM ({rows}) listed) weighed
) summed
WHERE before < :most_bytes
ORDER BY generation, ordinal
"""


DIALECT = Dialect(
    schema="skillyard.",
    temporary="pg_temp.",
    style=r"%(\1)s",
    page=_page("""
SELECT * FROM skillyard.entries
WHERE (generation, ordinal) > (:at_generation, :at_ordinal) AND generation <= :until
  AND (superseded IS NULL OR superseded > :until)
ORDER BY generation, ordinal LIMIT :limit
"""),
    page_of_view=_page("""
SELECT * FROM skillyard.visible_after(
    :at_generation::bigint, :at_ordinal::bigint, :until::bigint, :limit::bigint
)
"""),
    standing="""
SELECT :tenant, k.namespace, k.source, k.place, v.digest, v.installs
FROM json_to_recordset(:keys::json) AS k (namespace text, source text, place text)
CROSS JOIN LATERAL (
    SELECT * FROM skillyard.versions o
    WHERE o.tenant = :tenant AND o.namespace = k.namespace COLLATE "C"
      AND o.source = k.source COLLATE "C" AND o.place = k.place COLLATE "C"
      AND o.superseded IS NULL AND o.digest IS NOT NULL
    ORDER BY o.generation DESC LIMIT 1
) v
""",
    seconds="extract(epoch FROM published_at)::bigint",
    first="""(
    SELECT DISTINCT ON (namespace, source, place)
        namespace, source, place, digest, around, installs, commit_id, url, expected
    FROM pg_temp.staged ORDER BY namespace, source, place, number
)""",
    # One index lookup per row, regardless of the planner's estimates.
    current="""
LEFT JOIN LATERAL (
    SELECT * FROM skillyard.versions o
    WHERE o.tenant = :tenant AND o.namespace = s.namespace AND o.source = s.source
      AND o.place = s.place AND o.superseded IS NULL
    ORDER BY o.generation DESC LIMIT 1
) v ON true
""",
    restored="""
LEFT JOIN LATERAL (
    SELECT * FROM skillyard.versions o
    WHERE o.tenant = v.tenant AND o.namespace = v.namespace AND o.source = v.source
      AND o.place = v.place
      AND o.generation <= :to AND (o.superseded IS NULL OR o.superseded > :to)
    LIMIT 1
) t ON true
""",
    supersede="""
UPDATE skillyard.versions v SET superseded = :generation
FROM pg_temp.moves m
WHERE m.kind <> 'unchanged' AND v.generation = m.was_generation AND v.ordinal = m.was_ordinal
""",
)
