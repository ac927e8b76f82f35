"""The SQL of PostgreSQL. Temporary tables belong to one connection."""

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
from skillyard.store.rows import MAX_STATE_BYTES, WEIGHED

TABLES = """
CREATE TEMP TABLE IF NOT EXISTS staged (
    number bigint GENERATED ALWAYS AS IDENTITY,
    namespace text COLLATE "C", source text COLLATE "C", place text COLLATE "C",
    digest text COLLATE "C", skill_id text, slug text, name text, description text,
    tags text[], frontmatter jsonb, document text, body text, files text, around text,
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

# Of a skill that was submitted twice, the first counts.
_FIRST = """(
    SELECT DISTINCT ON (namespace, source, place)
        namespace, source, place, digest, around, installs, commit_id, url, expected
    FROM pg_temp.staged ORDER BY namespace, source, place, number
)"""
# One index lookup per row, regardless of the planner's estimates.
_CURRENT = """
LEFT JOIN LATERAL (
    SELECT * FROM skillyard.versions o
    WHERE o.tenant = %(tenant)s AND o.namespace = s.namespace AND o.source = s.source
      AND o.place = s.place AND o.superseded IS NULL
    ORDER BY o.generation DESC LIMIT 1
) v ON true
"""
_INTO_MOVES = "INSERT INTO pg_temp.moves"

# Longer documents are not read: many of them at once would not fit into memory.
_SMALL = f"octet_length(c.document) + octet_length(c.files) <= {MAX_STATE_BYTES}"
_LOOKED_AT = f"CASE WHEN {_SMALL} THEN c.document END, CASE WHEN {_SMALL} THEN c.files END"

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
WHERE before < %(most_bytes)s
ORDER BY generation, ordinal
"""


STATEMENTS = Statements(
    head="SELECT generation, stamp FROM skillyard.heads ORDER BY generation DESC LIMIT 1",
    stamp_of="SELECT stamp FROM skillyard.heads WHERE generation = %(generation)s",
    view_generation="SELECT generation FROM skillyard.view_generations",
    page=_page("""
SELECT * FROM skillyard.entries
WHERE (generation, ordinal) > (%(at_generation)s, %(at_ordinal)s) AND generation <= %(until)s
  AND (superseded IS NULL OR superseded > %(until)s)
ORDER BY generation, ordinal LIMIT %(limit)s
"""),
    page_of_view=_page("""
SELECT * FROM skillyard.visible_after(
    %(at_generation)s::bigint, %(at_ordinal)s::bigint, %(until)s::bigint, %(limit)s::bigint
)
"""),
    by_id=f"""
SELECT {ALL_COLUMNS} FROM {{entries}}
WHERE skill_id = %(id)s AND superseded IS NULL AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s)
ORDER BY tenant, namespace, source, place
""",
    by_key=f"""
SELECT {ALL_COLUMNS} FROM {{entries}}
WHERE tenant = %(tenant)s AND namespace = %(namespace)s
  AND source = %(source)s AND place = %(place)s
  AND superseded IS NULL AND digest IS NOT NULL
""",
    history=f"""
SELECT {ALL_COLUMNS} FROM {{entries}}
WHERE tenant = %(tenant)s AND namespace = %(namespace)s
  AND source = %(source)s AND place = %(place)s
  AND digest IS NOT NULL
ORDER BY generation
""",
    count=COUNT,
    standing=f"""
SELECT
    %(tenant)s, k.namespace, k.source, k.place, v.version, v.digest, v.installs,
    {_LOOKED_AT}
FROM json_to_recordset(%(keys)s::json) AS k (namespace text, source text, place text)
CROSS JOIN LATERAL (
    SELECT * FROM skillyard.versions o
    WHERE o.tenant = %(tenant)s AND o.namespace = k.namespace COLLATE "C"
      AND o.source = k.source COLLATE "C" AND o.place = k.place COLLATE "C"
      AND o.superseded IS NULL AND o.digest IS NOT NULL
    ORDER BY o.generation DESC LIMIT 1
) v
CROSS JOIN LATERAL (
    SELECT * FROM skillyard.contents o WHERE o.tenant = v.tenant AND o.digest = v.digest LIMIT 1
) c
""",
    places="""
SELECT place FROM skillyard.versions
WHERE tenant = %(tenant)s AND namespace = %(namespace)s AND source = %(source)s
  AND place > %(after)s AND superseded IS NULL AND digest IS NOT NULL
ORDER BY place LIMIT %(limit)s
""",
    generations="""
SELECT generation, extract(epoch FROM published_at)::bigint, tenant, publisher, action,
    added, changed, withdrawn
FROM skillyard.generations
WHERE %(before)s::bigint IS NULL OR generation < %(before)s
ORDER BY generation DESC LIMIT %(limit)s
""",
    doubled="""
SELECT namespace, source, place FROM pg_temp.staged
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
{_INTO_MOVES} SELECT {MOVES_OF_ROLLBACK}FROM skillyard.versions v
LEFT JOIN LATERAL (
    SELECT * FROM skillyard.versions o
    WHERE o.tenant = v.tenant AND o.namespace = v.namespace AND o.source = v.source
      AND o.place = v.place
      AND o.generation <= %(to)s AND (o.superseded IS NULL OR o.superseded > %(to)s)
    LIMIT 1
) t ON true
WHERE v.tenant = %(tenant)s AND v.superseded IS NULL
  AND (t.digest IS NOT NULL OR v.digest IS NOT NULL)
""",
    unexpected="""
SELECT namespace, source, place, expected, found FROM pg_temp.moves
WHERE expected IS NOT NULL AND expected <> found AND version <> found
ORDER BY namespace, source, place LIMIT 1
""",
    kinds="SELECT kind, count(*) FROM pg_temp.moves GROUP BY kind",
    add_generation="""
INSERT INTO skillyard.generations
    (generation, stamp, tenant, publisher, action, added, changed, withdrawn)
VALUES (
    %(generation)s, %(stamp)s, %(tenant)s, %(publisher)s, %(action)s,
    %(added)s, %(changed)s, %(withdrawn)s
)
""",
    supersede="""
UPDATE skillyard.versions v SET superseded = %(generation)s
FROM pg_temp.moves m
WHERE m.kind <> 'unchanged' AND v.generation = m.was_generation AND v.ordinal = m.was_ordinal
""",
    add_versions=f"""
INSERT INTO skillyard.versions (
    generation, ordinal, tenant, {VERSION_COLUMNS}
)
SELECT
    %(generation)s, row_number() OVER (ORDER BY namespace, source, place), %(tenant)s,
    {VERSION_COLUMNS}
FROM pg_temp.moves WHERE kind <> 'unchanged'
""",
    granted="""
SELECT caller, tenant, namespace, place FROM skillyard.grants
WHERE %(caller)s::text IS NULL OR caller = %(caller)s
ORDER BY caller, tenant, namespace, place
""",
    add_grant="""
INSERT INTO skillyard.grants (caller, tenant, namespace, place)
VALUES (%(caller)s, %(tenant)s, %(namespace)s, %(place)s) ON CONFLICT DO NOTHING
""",
    drop_grant="""
DELETE FROM skillyard.grants
WHERE caller = %(caller)s AND tenant = %(tenant)s
  AND namespace = %(namespace)s AND place = %(place)s
""",
    drop_grants="""
DELETE FROM skillyard.grants
WHERE caller = %(caller)s AND tenant = %(tenant)s AND namespace = %(namespace)s
""",
    view_changed="""
INSERT INTO skillyard.callers (caller, generation) VALUES (%(caller)s, %(generation)s)
ON CONFLICT (caller) DO UPDATE SET generation = excluded.generation
""",
)
