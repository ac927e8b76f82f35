"""The approved content of a skill: one digest over its file and everything that belongs to it.

A model that follows a skill reads its references and runs its scripts, so a change of those is a
change of the skill. The digest covers every entry of the skill's folder, the targets of links in
it, and the files in the field ``references``.
"""

from __future__ import annotations

import os
import stat
from json import dumps
from typing import TYPE_CHECKING, NamedTuple

from skillyard.base.errors import ResourceRefused, SkillError, SkillIoError
from skillyard.base.io.files import is_below, read_regular, sha256
from skillyard.base.io.folder_manifest import FileEntry, ManifestLimits, file_digest, manifest_of
from skillyard.base.io.folders import open_real_file
from skillyard.engine.formats.agentskills import SkillText, parse_document
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.resources import safe_parts
from skillyard.engine.skill import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMITS = ManifestLimits(entries=1_000, bytes=16 * 1024 * 1024, depth=16)
"""Limits for one skill with its files. 99.9 % of real skills have under 83 files."""
MAX_FILE_BYTES = 1_048_576
"""Limit for the skill's own file."""
_AT_ROOT = ("assets", "references", "scripts")
"""The folders that belong to a skill whose folder is the project itself."""


class Unapprovable(Exception):
    """A skill that cannot be approved. The message is the reason."""


class Content(NamedTuple):
    """The content of a skill at one moment."""

    digest: str
    """64 hexadecimal digits, over all entries that belong to the skill."""
    data: bytes
    """The bytes of the skill's own file, which the digest covers."""


def content_of(path: str, root: str) -> Content:
    """Return the content of the skill whose file is ``path``, in the project ``root``.

    Raises Unapprovable when the skill exceeds the limits, or contains entries that cannot be
    covered: pipes, devices, and links that lead out of the project. Raises OSError when it cannot
    be read.
    """
    folder, name = os.path.split(path)
    data = read_regular(path, MAX_FILE_BYTES)[0]
    parts = _Parts(root)
    parts.add(FileEntry(name, "file", len(data), sha256(data).hex(), executable=False))
    if name.lower() == "skill.md":
        parts.add_folder(folder, "", only=_AT_ROOT if folder == root else None)
    parts.add_references(folder, _references(data, path))
    text = "\n".join(sorted(dumps(tuple(entry)) for entry in parts.entries))
    return Content(sha256(text.encode("ascii")).hex(), data)


def _references(data: bytes, path: str) -> tuple[str, ...]:
    """Return the field ``references``. Empty for an invalid file, which is never used."""
    # As the catalog reads it: a file without a name is used too, and so must be covered.
    document = SkillText(path, "skill", Origin.AGENTSKILLS, derives=True)
    try:
        parsed = parse_document(document, decode(data, path), strict=False)
    except SkillError:
        return ()
    return parsed.skill.declared_references


class _Parts:
    """Collects the entries that belong to one skill, within :data:`LIMITS`."""

    def __init__(self, root: str) -> None:
        self.entries: list[FileEntry] = []
        self._root = os.path.realpath(root)
        self._remaining = LIMITS
        self._covered: set[str] = set()
        """Real paths of folders whose entries are collected."""

    def add(self, entry: FileEntry) -> None:
        self._remaining = self._remaining._replace(
            entries=self._remaining.entries - 1, bytes=self._remaining.bytes - entry.size
        )
        if self._remaining.entries < 0:
            raise Unapprovable(f"it has more than {LIMITS.entries:,} files and folders")
        if self._remaining.bytes < 0:
            raise Unapprovable(f"its files have more than {LIMITS.bytes:,} bytes")
        if entry.kind == "other":
            raise Unapprovable(f"{entry.path!r} is no regular file")
        self.entries.append(entry)

    def add_folder(self, folder: str, prefix: str, *, only: tuple[str, ...] | None = None) -> None:
        """Add the entries below a folder, then the targets of the links in it."""
        real = os.path.realpath(folder)
        if real in self._covered:
            return
        self._covered |= {real} if only is None else {os.path.join(real, name) for name in only}
        try:
            manifest = manifest_of(real, self._remaining, only=only)
        except SkillIoError as error:
            raise Unapprovable(error.message) from None
        for entry in manifest.entries:
            self.add(entry._replace(path=prefix + entry.path))
        for link in manifest.of_kind("link"):
            above, name = os.path.split(link.path)
            self._add_target(os.path.join(real, above, name), f"{prefix}{link.path} -> ")

    def add_references(self, folder: str, references: Iterable[str]) -> None:
        """Add the declared references (:func:`skillyard.engine.resources.read_declared`)."""
        for path in references:
            try:
                parts = safe_parts(path)
            except ResourceRefused:
                continue  # such a path is never read
            self._add_target(os.path.join(folder, *parts), f"{path} => ")

    def _add_target(self, path: str, label: str) -> None:
        """Add the target of a path under a label that no entry of a folder can have."""
        real = os.path.realpath(path)
        if not is_below(real, self._root):
            raise Unapprovable(f"{label.split(' ')[0]!r} leads out of the project")
        try:
            status = os.lstat(real)
        except FileNotFoundError:
            return self.add(FileEntry(label, "missing", 0, "", executable=False))
        if any(real == each or is_below(real, each) for each in self._covered):
            return None  # collected by its own path; the link's entry has the target
        if stat.S_ISDIR(status.st_mode):
            return self.add_folder(real, label)
        if not stat.S_ISREG(status.st_mode):
            raise Unapprovable(f"{label.split(' ')[0]!r} leads to no regular file")
        descriptor = open_real_file(real)
        try:
            digest, size = file_digest(descriptor, self._remaining.bytes)
        finally:
            os.close(descriptor)
        return self.add(FileEntry(label, "file", size, digest, executable=False))
