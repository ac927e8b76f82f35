"""Skill entries: a skill's frontmatter as JSON, and every file with size and digest.

A digest is computed when an entry is first requested, and again when the size, time or identity of
its file changed. All functions read files.

Hosts check every field of an entry against the specification, refuse the whole listing for one
violation, and compare the entry with its file. Many real files violate it, for example with a list
as ``allowed-tools`` or a number in ``metadata``. Such a field is left out of the served SKILL.md,
and the entry contains the digest and size of the served bytes. All other files are served byte for
byte.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from skillyard.base.errors import SkillError, SourceFailed
from skillyard.base.io.files import sha256
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import plural
from skillyard.engine.formats.frontmatter import decode, join_document, split, unify_lines
from skillyard.engine.formats.yaml_guard import plain_value, read_mapping
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.skill import Skill
from skillyard.serve.mcp.skill_uris import DESCRIPTION_CHARS, SKILL_FILE, segment
from skillyard.serve.runtime.local import file_of, is_document

ENTRY_FILES = 512
"""Files of one skill that every host accepts (SEP-2640, "Limits")."""
ENTRY_BYTES = 16_777_216
"""Their total size, by the same limit."""
_LIMITS = DEFAULT_LIMITS._replace(resource_bytes=ENTRY_BYTES, resources_listed=ENTRY_FILES + 1)
_DIGESTS: dict[str, tuple[tuple[int, ...], str]] = {}
"""By path: the size, time and inode of a file, and the digest of its bytes then."""


class Unserved(Exception):
    """A skill has no entry. The message is the reason."""


class EntryFile(NamedTuple):
    """One file of a skill."""

    uri: str
    path: str
    """Relative to the skill's folder; ``SKILL.md`` for the skill's own file, whatever its name."""
    digest: str
    """``sha256:`` and 64 digits."""
    size: int


class ManifestEntry(NamedTuple):
    """The entry of one skill."""

    root: str
    """URI of the skill's folder."""
    skill: Skill
    frontmatter: dict[str, Any]
    files: tuple[EntryFile, ...]
    """SKILL.md first, then by path."""

    @property
    def uri(self) -> str:
        """The URI of its SKILL.md."""
        return f"{self.root}/{SKILL_FILE}"

    def to_dict(self) -> dict[str, Any]:
        """Return the extension's ``Skill``."""
        return {
            "uri": self.uri,
            "frontmatter": self.frontmatter,
            "resources": [
                {"uri": file.uri, "digest": file.digest, "size": file.size} for file in self.files
            ],
        }


def entry_of(root: str, skill: Skill) -> ManifestEntry:
    """Return the entry of a skill that is served at a URI. Raises Unserved."""
    data, frontmatter = _conforming_file(skill)
    if frontmatter.get("name") != skill.name:
        raise Unserved("its frontmatter does not carry its name as text")
    description = frontmatter.get("description")
    if not isinstance(description, str) or not description.strip():
        raise Unserved("its frontmatter does not carry its description as text")
    if len(description) > DESCRIPTION_CHARS:
        raise Unserved(f"its description is longer than {DESCRIPTION_CHARS:,} characters")
    files = [EntryFile(f"{root}/{SKILL_FILE}", SKILL_FILE, _digest(data), len(data))]
    for path, _ in _other_files(skill, len(data)):
        uri = "/".join((root, *map(segment, path.split("/"))))
        try:
            files.append(EntryFile(uri, path, *_digest_and_size(skill, path)))
        except (SkillError, OSError):  # it was removed meanwhile
            continue
    return ManifestEntry(root, skill, frontmatter, tuple(files))


def read_file(skill: Skill, path: str) -> bytes:
    """Return the bytes of a file in the skill's entry. Raises Unserved, SkillError."""
    if path == SKILL_FILE:
        return _conforming_file(skill)[0]
    if path not in {name for name, _ in _other_files(skill)}:
        raise Unserved("it has no such file")
    return read_resource(skill, path, _LIMITS)


def _conforming_file(skill: Skill) -> tuple[bytes, dict[str, Any]]:
    """Return a skill's own file in its served form, and its frontmatter as JSON."""
    try:
        data = file_of(skill)
    except SourceFailed:  # edited since, perhaps broken: what was loaded is served
        data = join_document(skill.frontmatter, skill.body or "", skill.hash)
    return conforming(data, skill.path)


def _digest_and_size(skill: Skill, path: str) -> tuple[str, int]:
    """Return the digest and size of a file beside a skill's own. Raises SkillError, OSError."""
    if skill.stored:
        data = read_resource(skill, path, _LIMITS)
        return _digest(data), len(data)
    where = os.path.join(os.path.dirname(skill.path), path)
    info = os.stat(where, follow_symlinks=False)
    stamp = (info.st_size, info.st_mtime_ns, info.st_ino)
    known = _DIGESTS.get(where)
    if known is not None and known[0] == stamp:
        return known[1], info.st_size
    data = read_resource(skill, path, _LIMITS)
    if len(data) == info.st_size:
        _DIGESTS[where] = (stamp, _digest(data))
    return _digest(data), len(data)


def _digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hex()}"


def _other_files(skill: Skill, own: int = 0) -> list[tuple[str, int]]:
    """Return (path, size) of the files beside a skill's own. Raises Unserved beyond the limits."""
    if is_document(skill):
        return []
    try:
        resources = list_resources(skill, _LIMITS, nested=True)
    except SkillError:
        raise Unserved("its folder cannot be read") from None
    files = [(file.path, file.size) for file in resources if file.path != SKILL_FILE]
    if len(files) + 1 > ENTRY_FILES:
        raise Unserved(f"it has more than {plural(ENTRY_FILES, 'file')}, the most that hosts take")
    if own + sum(size for _, size in files) > ENTRY_BYTES:
        raise Unserved(f"its files are larger than {ENTRY_BYTES:,} bytes, the most that hosts take")
    return files


COMPATIBILITY_CHARS = 500


def conforming(data: bytes, path: str) -> tuple[bytes, dict[str, Any]]:
    """Return the file without the fields that do not conform, and its frontmatter as JSON.

    The JSON follows the YAML 1.2 core schema, like a host that reads the same bytes. Nothing is
    repaired: Unserved is raised for a block that is not plain YAML, with a field on each line.
    """
    try:
        text = unify_lines(decode(data, path))
        fields, lines, end = _fields_of(text, path)
        wrong = [key for key, value in fields.items() if not _conforms(key, value)]
        if not wrong:
            return data, fields
        rows = text.split("\n")
        starts = sorted([*lines.values(), end])
        for key in sorted(wrong, key=lambda key: -lines[key]):
            after = next(start for start in starts if start > lines[key])
            del rows[lines[key] - 1 : after - 1]
        served = "\n".join(rows)
        left, _, _ = _fields_of(served, path)
    except SkillError as error:
        raise Unserved(f"its frontmatter is not plain YAML ({error.message})") from None
    if left != {key: value for key, value in fields.items() if key not in wrong}:
        raise Unserved(f"its {wrong[0]} does not conform, and shares a line with others")
    return served.encode("utf-8"), left


def _fields_of(text: str, path: str) -> tuple[dict[str, Any], dict[str, int], int]:
    """Return the fields of a document, the line of each, and that of the closing fence."""
    block = split(text, path).block
    nodes, lines = read_mapping(block, path)
    end = 2 + block.removesuffix("\n").count("\n") + bool(block)
    return {key: plain_value(node) for key, node in nodes.items()}, lines, end


def _conforms(key: str, value: Any) -> bool:
    if key == "metadata":
        return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    if key == "compatibility":
        return isinstance(value, str) and 0 < len(value) <= COMPATIBILITY_CHARS
    return key not in ("license", "allowed-tools") or isinstance(value, str)
