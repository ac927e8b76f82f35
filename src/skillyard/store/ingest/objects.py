"""The skill of a JSON line, with every field validated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skillyard.base.errors import Diagnostic, InvalidInput, ResourceRefused
from skillyard.base.limits import Limits
from skillyard.engine.formats.agentskills import (
    SkillText,
    check_content,
    content_digest,
    parse_document,
)
from skillyard.engine.resources import safe_parts
from skillyard.engine.skill import Origin, Reference, Skill
from skillyard.store.values import FileDigest, Standing, Submission

_FILE = "SKILL.md"
_SHA256 = re.compile("[0-9a-f]{64}")
_WEB = ("https://", "http://")


def is_unchanged(record: Mapping[str, Any], place: str, standing: Standing) -> bool:
    """True when the stored version has this content, install count and list of files.

    Nothing is parsed. Always False for a line with references or without ``content``. Raises
    InvalidInput.
    """
    content = record.get("content")
    if not isinstance(content, str) or standing.hash is None or record.get("references"):
        return False
    return (
        (standing.slug, standing.origin) == (_folder(place), Origin.AGENTSKILLS)
        and standing.installs == _count(record)
        and not standing.references
        and standing.hash == content_digest(content)
        and standing.files == tuple(sorted(_files(record)))
    )


def submission(
    record: Mapping[str, Any], source: str, place: str | None, limits: Limits
) -> tuple[Submission, list[Diagnostic]]:
    """Return the skill to publish and the diagnostics of a line's object.

    The object has ``content``, the text of a SKILL.md, or else ``name``, ``description`` and
    ``text`` with optional ``tags`` and ``license``. Raises InvalidInput for a field of a wrong type
    or size, and SkillError for invalid content.
    """
    path = _FILE if place is None else f"{place}/{_FILE}"
    references = _references(record, limits)
    if record.get("content") is not None:
        content = _text(record, "content")
        check_content(content, path, limits)
        document = SkillText(path, _folder(place), Origin.AGENTSKILLS, references=references)
        parsed = parse_document(document, content, strict=False, limits=limits)
        skill, diagnostics = parsed.skill, parsed.diagnostics
    else:
        skill, diagnostics = _from_fields(record, path, place, references, limits), []
    installs = _count(record)
    if source or installs:
        skill = skill.replace(source=source or None, install_count=installs)
    url = _optional(record, "url")
    if url is not None and not url.startswith(_WEB):
        raise InvalidInput("url must begin with https:// or http://")
    return Submission(skill, place, _files(record), _optional(record, "commit"), url), diagnostics


def _folder(place: str | None) -> str | None:
    return None if place is None else place.rsplit("/", 1)[-1]


def _from_fields(
    record: Mapping[str, Any],
    path: str,
    place: str | None,
    references: tuple[Reference, ...],
    limits: Limits,
) -> Skill:
    if record.get("text") is None and record.get("name") is None:
        raise InvalidInput("the object has neither content nor name, description and text")
    tags = record.get("tags")
    if isinstance(tags, str):
        tags = [tag.strip() for tag in tags.split(",") if tag.strip()]
    if tags is not None and (not isinstance(tags, list) or len(tags) > limits.list_items):
        raise InvalidInput(f"tags must be a list of at most {limits.list_items} texts")
    for tag in tags or ():
        _short("tags", tag, limits.field_chars)
    license = _optional(record, "license")
    _short("license", license or "", limits.field_chars)
    body = _text(record, "text")
    check_content(body, path, limits)
    return Skill(
        _short("name", _required_text(record, "name"), limits.name_chars),
        _short("description", _required_text(record, "description"), limits.description_chars),
        body,
        path,
        slug=_folder(place),
        tags=tags or (),
        license=license,
        references=references,
    )


def _text(record: Mapping[str, Any], field: str) -> str:
    value = record.get(field)
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be text")
    return value


def _optional(record: Mapping[str, Any], field: str) -> str | None:
    return None if record.get(field) is None else _text(record, field)


def _required_text(record: Mapping[str, Any], field: str) -> str:
    value = _text(record, field).strip()
    if not value:
        raise InvalidInput(f"{field} is empty")
    return value


def _short(field: str, value: object, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise InvalidInput(f"{field} must be text of at most {most:,} characters")
    return value


def _count(record: Mapping[str, Any]) -> int:
    value = record.get("install_count")
    if value is None:
        return 0
    if type(value) is not int or not 0 <= value < 2**63:
        raise InvalidInput("install_count must be a whole number from 0")
    return value


def _objects(record: Mapping[str, Any], field: str, most: int) -> list[Mapping[str, Any]]:
    value = record.get(field)
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > most:
        raise InvalidInput(f"{field} must be a list of at most {most:,} objects")
    if not all(isinstance(each, dict) for each in value):
        raise InvalidInput(f"{field} must be a list of objects")
    return value


def _references(record: Mapping[str, Any], limits: Limits) -> tuple[Reference, ...]:
    references = []
    for each in _objects(record, "references", limits.resources_listed):
        path = _path(each, "references")
        content = _optional(each, "content")
        if content is not None and len(content) > limits.resource_bytes:
            raise InvalidInput(f"the reference {path} is larger than {limits.resource_bytes:,}")
        references.append(
            Reference(_optional(each, "name") or path.rsplit("/", 1)[-1], path, content)
        )
    return tuple(references)


def _files(record: Mapping[str, Any]) -> tuple[FileDigest, ...]:
    files = []
    for each in _objects(record, "files", 10_000):
        path, digest, size = _path(each, "files"), each.get("sha256"), each.get("size")
        if not isinstance(digest, str) or _SHA256.fullmatch(digest) is None:
            raise InvalidInput(f"the sha256 of {path} must be 64 hexadecimal digits")
        if type(size) is not int or not 0 <= size < 2**63:
            raise InvalidInput(f"the size of {path} must be a whole number of bytes")
        files.append(FileDigest(path, digest, size))
    return tuple(files)


def _path(each: Mapping[str, Any], field: str) -> str:
    try:
        return "/".join(safe_parts(_text(each, "path")))
    except ResourceRefused as error:
        raise InvalidInput(f"{field}: {error.message}") from None
