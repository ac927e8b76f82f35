"""A server's skill entries as values. Parsing checks every rule of the extension."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from skillyard_testkit.mcp_host.refusals import EntryInvalid

__all__ = ["Listed", "ServedFile", "ServedSkill", "entry_of"]

FILES = 512
BYTES = 16_777_216
"""The limits that every host must accept; this one accepts no more."""
FRONTMATTER_NODES = 2_000
FRONTMATTER_DEPTH = 16
URI_CHARS = 4_096
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,30}://")
_ODD = re.compile(r"[\x00-\x20\x7f\\?#]|%(?:2[ef]|5c|00|25)|//|/\.{1,2}(?:/|\Z)", re.IGNORECASE)


class ServedFile(NamedTuple):
    """One file in a server's entry."""

    uri: str
    digest: str
    """``sha256:`` and 64 digits."""
    size: int


class ServedSkill(NamedTuple):
    """One entry. It is identified by ``label`` and ``uri``; names are not unique."""

    label: str
    """The host's name for the server."""
    uri: str
    name: str
    description: str
    frontmatter: Mapping[str, Any]
    """As sent by the server. ``allowed-tools`` and similar fields have no effect."""
    files: tuple[ServedFile, ...] | None
    """Every file of the skill; None when the server generates its content (``dynamic``)."""

    @property
    def root(self) -> str:
        """The URI of the skill's folder."""
        return self.uri.removesuffix("/SKILL.md")

    def file(self, uri: str) -> ServedFile | None:
        """Return the listed file with that URI; None when there is none."""
        return next((file for file in self.files or () if file.uri == uri), None)


class Listed(NamedTuple):
    """The usable entries of a server, and the errors of the others."""

    skills: tuple[ServedSkill, ...]
    invalid: tuple[EntryInvalid, ...]
    complete: bool
    """False when one of our limits cut the listing. True does not prove that it is complete."""


def entry_of(label: str, entry: object) -> ServedSkill:
    """Return the parsed entry. Raises EntryInvalid, naming the violated rule."""
    uri = entry.get("uri") if isinstance(entry, dict) else None
    place = uri if isinstance(uri, str) else "an entry without a URI"

    def wrong(what: str) -> EntryInvalid:
        return EntryInvalid(label, place, what)

    if not isinstance(entry, dict) or not isinstance(uri, str) or not _is_skill_uri(uri):
        raise wrong("uri must be the URI of a SKILL.md")
    frontmatter = entry.get("frontmatter")
    if not isinstance(frontmatter, dict) or not _small(frontmatter):
        raise wrong("frontmatter must be an object of moderate size")
    name, description = frontmatter.get("name"), frontmatter.get("description")
    if not isinstance(name, str) or not isinstance(description, str) or not description.strip():
        raise wrong("frontmatter must hold name and description as text")
    if not _NAME.fullmatch(name) or len(name) > 64:
        raise wrong("the name is not one that agentskills.io allows")
    root = uri.removesuffix("/SKILL.md")
    if root.rpartition("/")[2] != name:
        raise wrong("the last folder of the URI is not the skill's name")
    resources = entry.get("resources")
    if resources == "dynamic":
        return ServedSkill(label, uri, name, description, frontmatter, None)
    if not isinstance(resources, list):
        raise wrong('resources must be a list or "dynamic"')
    try:
        files = _files(root, uri, resources)
    except ValueError as error:
        raise wrong(str(error)) from None
    return ServedSkill(label, uri, name, description, frontmatter, files)


def _is_skill_uri(uri: str) -> bool:
    scheme = _SCHEME.match(uri)
    if scheme is None or len(uri) > URI_CHARS or not uri.isprintable():
        return False
    rest = uri[scheme.end() :]
    return rest.endswith("/SKILL.md") and not rest.startswith("/") and _ODD.search(rest) is None


def _files(root: str, uri: str, resources: list[Any]) -> tuple[ServedFile, ...]:
    """Return the files. Raises ValueError with the violated rule."""
    if len(resources) > FILES:
        raise ValueError(f"it has {len(resources):,} files; {FILES} are the limit")
    files: dict[str, ServedFile] = {}
    for resource in resources:
        file = _file(root, resource)
        if file.uri in files:
            raise ValueError(f"{file.uri[:200]} is listed twice")
        files[file.uri] = file
    if uri not in files:
        raise ValueError("its own SKILL.md is not among its files")
    total = sum(file.size for file in files.values())
    if total > BYTES:
        raise ValueError(f"its files have {total:,} bytes; {BYTES:,} are the limit")
    return tuple(files.values())


def _file(root: str, resource: Any) -> ServedFile:
    if not isinstance(resource, dict):
        raise ValueError("a file must be an object")
    uri, digest, size = resource.get("uri"), resource.get("digest"), resource.get("size")
    if not isinstance(uri, str) or len(uri) > URI_CHARS or not uri.isprintable():
        raise ValueError("a file's uri must be text")
    rest = uri[len(root) :] if uri.startswith(root + "/") else ""
    if len(rest) < 2 or rest.endswith("/") or _ODD.search(rest):
        raise ValueError(f"{uri[:200]} is no file within the skill's folder")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise ValueError(f"the digest of {uri[:200]} is not sha256 and 64 lower-case digits")
    if type(size) is not int or size < 0:
        raise ValueError(f"the size of {uri[:200]} is not a number of bytes")
    return ServedFile(uri, digest, size)


def _small(value: Any) -> bool:
    """True for JSON that is neither large nor deep. Does not recurse."""
    pending, seen = [(value, 0)], 0
    while pending:
        item, depth = pending.pop()
        seen += 1
        if seen > FRONTMATTER_NODES or depth > FRONTMATTER_DEPTH:
            return False
        if isinstance(item, dict):
            pending += [(each, depth + 1) for each in item.values()]
        elif isinstance(item, list):
            pending += [(each, depth + 1) for each in item]
    return True
