"""Convert a skill to the columns of a row and back, without loss.

One JSON document holds the skill (ASCII, so that NUL and surrogates survive); its body has a
column of its own. Name, description and tags are also stored as plain columns for people's queries,
without the characters that a database cannot store. The column of the frontmatter is not used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from skillyard.base.errors import InvalidInput, SkillyardError, StoreRefused, StoreSchema
from skillyard.engine.skill import SKILL_FIELDS, Skill
from skillyard.store.identifiers import checked_key, plain, refuse_odd, to_plain
from skillyard.store.values import FileDigest, StoreKey, Submission, Version

MAX_BYTES = 16_777_216
"""Maximum bytes of one skill. A file has at most 1 MiB (limits.skill_file_bytes), plus its
references."""
MAX_INSTALLS = 2**63 - 1
MAX_TAG_BYTES = 512
"""Maximum bytes of a tag in the column for queries; PostgreSQL can index 2,712."""

LOCATION_FIELDS = tuple(each.name for each in SKILL_FIELDS.values() if each.around)
"""Fields about the location of a copy. They are not part of the content, so that publishing the
same skill from elsewhere is no change."""
_SEPARATE_FIELDS = {*LOCATION_FIELDS, "body", "install_count"}
_CONTENT = tuple(each for each in SKILL_FIELDS.values() if each.name not in _SEPARATE_FIELDS)
COLUMNS = (
    *("tenant", "namespace", "source", "place", "version", "generation", "ordinal", "digest"),
    *("document", "body", "files", "around", "installs", "commit_id", "url"),
    *("publisher", "published_at"),
)
"""The selected columns of an entry, in order. ``digest`` is None for a withdrawn skill."""
WEIGHED = ("document", "body", "files")
"""The columns that make an entry large."""


class StoredRow(NamedTuple):
    """The row of one skill to be published."""

    namespace: str
    source: str
    place: str
    digest: str
    skill_id: str
    slug: str
    name: str
    description: str
    tags: tuple[str, ...]
    document: str
    body: str | None
    files: str
    around: str
    installs: int
    commit_id: str | None
    url: str | None
    expected: int | None


def row_of(
    skill: Skill | Submission,
    *,
    tenant: str,
    namespace: str = "",
    expected: int | None = None,
    store: str = "store",
) -> StoredRow:
    """Return the row of a skill. ``tenant`` and ``namespace`` are already validated.

    Raises InvalidInput for an invalid skill, and StoreRefused, naming the skill and the field, for
    content that cannot be stored without loss.
    """
    submission = skill if isinstance(skill, Submission) else Submission(skill)
    skill = submission.skill
    if not isinstance(skill, Skill):
        raise InvalidInput(f"a store holds Skill values, not {type(skill).__name__}")
    place = skill.slug if submission.place is None else submission.place
    key = checked_key(StoreKey(tenant, namespace, skill.source or "", place), store)
    refuse_odd(store, key, "id", skill.id)
    for what, text in (("commit", submission.commit), ("url", submission.url)):
        if text is not None:
            refuse_odd(store, key, what, text)
    if abs(skill.install_count) > MAX_INSTALLS:
        raise StoreRefused(store, f"{key}: the install count does not fit 64 bits")
    body = skill.body
    files = _json([(f.path, f.sha256, f.size) for f in _files(submission, key, store)])
    try:
        document = _document(skill, key, store)
        around = _json({name: getattr(skill, name) for name in LOCATION_FIELDS})
    except ValueError:
        raise StoreRefused(store, f"{key}: a number is too long to be kept") from None
    size = len(document) + len(files) + (len(body.encode("utf-8", "surrogatepass")) if body else 0)
    if size > MAX_BYTES:
        raise StoreRefused(store, f"{key}: {size:,} bytes are more than {MAX_BYTES:,}")
    return StoredRow(
        namespace,
        key.source,
        key.place,
        _digest(document, body, files),
        skill.id,
        to_plain(skill.slug),
        to_plain(skill.name),
        to_plain(skill.description),
        tuple(tag for tag in map(to_plain, skill.tags) if len(tag.encode()) <= MAX_TAG_BYTES),
        document,
        body if body is None or plain(body) else None,
        files,
        around,
        skill.install_count,
        submission.commit,
        submission.url,
        expected if submission.expected is None else submission.expected,
    )


def version_of(columns: Sequence[Any], store: str = "store") -> Version:
    """Return the version of a selected row (see :data:`COLUMNS`).

    Raises StoreSchema for a row that is damaged, or that a newer skillyard wrote.
    """
    row = dict(zip(COLUMNS, columns, strict=True))
    key = key_of(columns)
    try:
        fields = _fields(json.loads(row["document"]))
        fields.setdefault("body", row["body"])
        skill = Skill(**fields, **json.loads(row["around"]), install_count=row["installs"])
        files = tuple(FileDigest(*file) for file in json.loads(row["files"]))
    except (ValueError, TypeError, KeyError, RecursionError, SkillyardError) as error:
        raise StoreSchema(
            store,
            f"version {row['version']} of {key} cannot be read ({type(error).__name__})",
            hint="it is damaged, or a newer skillyard wrote it: update this one",
        ) from None
    return Version(
        key,
        row["version"],
        row["generation"],
        skill,
        row["digest"],
        files,
        row["commit_id"],
        row["url"],
        row["publisher"],
        row["published_at"],
    )


def key_of(columns: Sequence[Any]) -> StoreKey:
    """Return the key of a selected row."""
    return StoreKey(*columns[:4])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _document(skill: Skill, key: StoreKey, store: str) -> str:
    """Return the skill's content as JSON, without fields that have their default value."""
    fields: dict[str, Any] = {
        each.name: each.encode(value)
        for each in _CONTENT
        if (value := getattr(skill, each.name)) != each.default and each.name != "metadata"
    }
    if skill.metadata:
        fields["metadata"] = _metadata(skill.metadata, key, store)
    if skill.body is not None and not plain(skill.body):
        fields["body"] = skill.body
    return _json(fields)


def _metadata(metadata: Mapping[str, Any], key: StoreKey, store: str) -> dict[str, Any]:
    """Return the metadata as JSON. Raises StoreRefused when JSON would change it."""
    known = dict(metadata)
    try:
        is_same = json.loads(_json(known)) == known
    except (ValueError, TypeError, RecursionError):
        is_same = False
    if not is_same:
        raise StoreRefused(
            store,
            f"{key}: metadata holds what JSON cannot",
            hint="keep text, finite numbers, true, false, null, lists and maps with text keys",
        )
    return known


def _fields(document: dict[str, Any]) -> dict[str, Any]:
    return {name: SKILL_FIELDS[name].decode(value) for name, value in document.items()}


def _files(submission: Submission, key: StoreKey, store: str) -> tuple[FileDigest, ...]:
    files = tuple(submission.files)
    for file in files:
        if not isinstance(file, FileDigest):
            raise InvalidInput("the files of a submission must be FileDigest values")
    if len({file.path for file in files}) < len(files):
        raise StoreRefused(store, f"{key}: a file is listed twice")
    return tuple(sorted(files))


def _digest(document: str, body: str | None, files: str) -> str:
    """SHA-256 over document, body and files, with unambiguous separators."""
    text = b"" if body is None else b"+" + body.encode("utf-8", "surrogatepass")
    # The document and the list of files are ASCII JSON without NUL; the body comes last.
    return sha256(b"\0".join([document.encode(), files.encode(), text])).hexdigest()
