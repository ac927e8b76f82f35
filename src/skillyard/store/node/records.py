"""Converts a stored version to a record of the node's index, and back to a skill."""

from __future__ import annotations

import json
import zlib
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from skillyard.base.errors import Diagnostic
from skillyard.engine.catalog.roots import Admission
from skillyard.engine.index.document import IndexedDocument
from skillyard.engine.index.document_builder import build_document
from skillyard.engine.index.segment_reader import EXCLUDED
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.skill import SKILL_FIELDS, STORED, Origin, Skill
from skillyard.store.values import StoreKey, Version

VERSION = "2"
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


def document_of_version(
    version: Version, table: TokenTable, known: IndexedDocument | None = None
) -> IndexedDocument:
    """Return the index document of a version.

    ``known`` is the existing document with the same key. If its content is equal, it is not
    analysed again. Raises ValueError, TypeError, KeyError for an unreadable one.
    """
    skill = version.skill
    out = skill.hidden or skill.origin == Origin.CONVENTION
    flags = (EXCLUDED if out else 0) | (HIDDEN if skill.hidden else 0)
    if skill.triggers.files and not out:
        flags |= PATTERNS
    if known is not None and _is_same(known.record, version):
        return known._replace(record=_record(version), flags=flags)
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


def _is_same(record: bytes, version: Version) -> bool:
    """True when the record is of a version with the same content and the same install count."""
    fields, digest = _read(record)
    installs = fields.get("install_count", 0)
    return bool(digest == version.digest and installs == version.skill.install_count)


def _record(version: Version) -> bytes:
    skill = version.skill
    fields: dict[str, Any] = {
        name: each.encode(value)
        for name, each in SKILL_FIELDS.items()
        if (value := getattr(skill, name)) != each.default
    }
    fields["path"] = path_of(version.key)
    text = json.dumps([fields, version.digest], separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), LEVEL)


def skill_in(record: bytes) -> Skill:
    """Return the skill of a record. Raises ValueError, TypeError, KeyError for anything else."""
    fields = {name: SKILL_FIELDS[name].decode(value) for name, value in _read(record)[0].items()}
    return Skill(**{"body": None, **fields})


def _read(record: bytes) -> Any:
    try:
        record_parts = json.loads(zlib.decompress(record))
    except zlib.error as error:
        raise ValueError(f"not a record: {error}") from None
    if not isinstance(record_parts, list) or len(record_parts) != 2:
        raise ValueError("not a record: it has other parts")
    return record_parts
