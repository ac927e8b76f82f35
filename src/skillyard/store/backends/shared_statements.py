"""The SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

from skillyard.store.rows import COLUMNS, StoredRow

STAGED_AT_ONCE = 1_000
"""Number of staged rows that are in memory at a time."""

ALL_COLUMNS = ", ".join(COLUMNS)
STAGED_COLUMNS = ", ".join(StoredRow._fields)

CONTENT_COLUMNS = """digest, skill_id, slug, name, description, tags, frontmatter, document, body,
    files"""
VERSION_COLUMNS = """namespace, source, place, version, digest, around, installs, commit_id, url"""

COUNT = "SELECT count(publisher) FROM {entries} WHERE superseded IS NULL AND digest IS NOT NULL"

# The move for each staged row ``s``, given the current version ``v`` of its skill.
MOVES_OF_PUBLISH = """
    s.namespace, s.source, s.place,
    CASE
        WHEN v.digest IS NULL THEN 'added'
        WHEN v.digest <> s.digest OR v.installs <> s.installs THEN 'changed'
        ELSE 'unchanged'
    END,
    CASE WHEN v.digest IS NULL THEN 0 ELSE v.version END,
    CASE WHEN v.digest = s.digest THEN v.version ELSE coalesce(v.version, 0) + 1 END,
    s.digest, s.around, s.installs, s.commit_id, s.url, s.expected, v.generation, v.ordinal
"""
MOVES_OF_WITHDRAWAL = """
    s.namespace, s.source, s.place,
    CASE WHEN v.digest IS NULL THEN 'unchanged' ELSE 'withdrawn' END,
    0, coalesce(v.version, 0), NULL, coalesce(v.around, ''), coalesce(v.installs, 0),
    v.commit_id, v.url, NULL, v.generation, v.ordinal
"""
# The move for each current version ``v``, given the version ``t`` of the restored generation.
MOVES_OF_ROLLBACK = """
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
"""
