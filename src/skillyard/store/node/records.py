"""Converts a stored version to a record of the node's index, and back to a skill."""

from __future__ import annotations

import json
import zlib
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from skillyard.base.errors import Diagnostic
from skillyard.engine.catalog.roots import Admission
from skillyard.engine.index.document_builder import build_document
from skillyard.engine.index.segment_reader import EXCLUDED, IndexedDocument
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.skill import SKILL_FIELDS, STORED, Origin, Skill
from skillyard.store.values import StoreKey, Version

VERSION = "3"
"""Version of records, marks and flags. An index of another version is rebuilt."""

HIDDEN = 2
"""Flag: the skill is only selected by an explicit call. It is combined with EXCLUDED."""
PATTERNS = 4
"""Flag: the skill declares file patterns."""

NAMED = "\x0e"
"""Mark: followed by the whole name."""
ID = "\x0f"
"""Mark: followed by the document id."""
SLUG = "\x10"
"""Mark: followed by the slug, when it differs from the name."""
FULL = 0.999
"""The impact of every mark."""
LEVEL = 1
"""Compression level: a third of the size, in a tenth of a millisecond."""


def key_text(key: StoreKey) -> str:
    """Return a store key as the key of a document. Its parts contain no NUL."""
    return "\0".join(key)


def path_of(key: StoreKey) -> str:
    """Return the path of a stored skill: its place in the store, unique for each key."""
    where = f"{STORED}{quote(key.tenant)}/{quote(key.place)}"
    parts = {"namespace": key.namespace, "source": key.source}
    query = urlencode({name: text for name, text in parts.items() if text}, safe="/")
    return f"{where}?{query}" if query else where


def refusal(version: Version, policy: Admission | None) -> Diagnostic | None:
    """Return why a policy refuses a stored skill, or None."""
    if policy is None:
        return None
    return policy.diagnostic(version.skill.replace(path=path_of(version.key)))


def key_at(path: str) -> StoreKey:
    """Return the key of a path from :func:`path_of`."""
    where, _, query = path.removeprefix(STORED).partition("?")
    tenant, _, place = where.partition("/")
    parts = dict(parse_qsl(query))
    return StoreKey(
        unquote(tenant), parts.get("namespace", ""), parts.get("source", ""), unquote(place)
    )


def document_of_version(version: Version, table: TokenTable) -> IndexedDocument:
    """Return the index document of a version."""
    skill = version.skill
    out = skill.hidden or skill.origin == Origin.CONVENTION
    flags = (EXCLUDED if out else 0) | (HIDDEN if skill.hidden else 0)
    if skill.triggers.files and not out:
        flags |= PATTERNS
    document = build_document(skill, table, excluded=out)
    marks = {NAMED + skill.name: FULL, ID + skill.id: FULL}
    if skill.slug != skill.name:
        marks[SLUG + skill.slug] = FULL
    return document._replace(
        key=key_text(version.key),
        record=_record(version),
        flags=flags,
        terms=(*document.terms, *marks),
        impacts=(*document.impacts, *marks.values()),
    )


def _record(version: Version) -> bytes:
    skill = version.skill
    fields: dict[str, Any] = {
        name: each.encode(value)
        for name, each in SKILL_FIELDS.items()
        if (value := getattr(skill, name)) != each.default
    }
    fields["path"] = path_of(version.key)
    text = json.dumps(fields, separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), LEVEL)


def skill_in(record: bytes) -> Skill:
    """Return the skill of a record. Raises ValueError, TypeError, KeyError for anything else."""
    try:
        members = json.loads(zlib.decompress(record))
    except zlib.error as error:
        raise ValueError(f"not a record: {error}") from None
    fields = {name: SKILL_FIELDS[name].decode(value) for name, value in dict(members).items()}
    return Skill(**{"body": None, **fields})
