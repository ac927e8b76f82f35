"""What exactly is approved of a skill: one digest over its file and all that belongs to it.

A model that follows a skill reads its references and runs its scripts, so a change of those is a
change of the skill. Covered is every entry of its folder whatever its name, what links in it lead
to, and the files that its field ``references`` names.
"""

from __future__ import annotations

import os
import stat
from json import dumps
from typing import TYPE_CHECKING, NamedTuple

from skillyard.errors import ResourceRefused, SkillError, SkillIoError
from skillyard.formats.agentskills import Document, parse_document
from skillyard.formats.frontmatter import decode
from skillyard.io.files import open_to_read
from skillyard.io.folder_manifest import Entry, ManifestLimits, file_digest, manifest_of
from skillyard.io.folders import open_real_file
from skillyard.io.paths import is_below
from skillyard.io.sha256 import sha256
from skillyard.resources import safe_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LIMITS", "MOST_FILE_BYTES", "Content", "Unapprovable", "content_of"]

LIMITS = ManifestLimits(entries=1_000, bytes=16 * 1024 * 1024, depth=16)
"""Of one skill with what belongs to it; 99.9 % of real ones have under 83 files."""
MOST_FILE_BYTES = 1_048_576
"""Of the skill's own file."""
_AT_ROOT = ("assets", "references", "scripts")
"""What belongs to a skill whose folder is the project itself: the rest is the project."""


class Unapprovable(Exception):
    """A skill that nobody can approve as it is, and why."""


class Content(NamedTuple):
    """A skill's content at one moment."""

    digest: str
    """64 digits over all entries that belong to it."""
    data: bytes
    """The skill's own file, the very bytes that are in the digest."""


def content_of(path: str, root: str) -> Content:
    """Return the content of the skill whose file is ``path``, in the project ``root``.

    Raises Unapprovable when the skill is larger than anybody looks through, or holds what cannot
    be covered: pipes and the like, and links that lead out of the project; OSError when it cannot
    be read.
    """
    folder, name = os.path.split(path)
    data = _own_file(path)
    parts = _Parts(root)
    parts.add(Entry(name, "file", len(data), sha256(data).hex(), executable=False))
    if name.lower() == "skill.md":
        parts.add_folder(folder, "", only=_AT_ROOT if folder == root else None)
    parts.add_references(folder, _references(data, path))
    text = "\n".join(sorted(dumps(tuple(entry)) for entry in parts.entries))
    return Content(sha256(text.encode("ascii")).hex(), data)


def _own_file(path: str) -> bytes:
    descriptor = open_to_read(path)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unapprovable(f"{os.path.basename(path)!r} is no regular file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MOST_FILE_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MOST_FILE_BYTES:
        raise Unapprovable(f"its file has more than {MOST_FILE_BYTES:,} bytes")
    return data


def _references(data: bytes, path: str) -> tuple[str, ...]:
    """Return what the field ``references`` names; a skill that cannot be read is never used."""
    try:
        parsed = parse_document(Document(path), decode(data, path), strict=False)
    except SkillError:
        return ()
    return parsed.skill.declared_references


class _Parts:
    """The entries that belong to one skill, gathered within :data:`LIMITS`."""

    def __init__(self, root: str) -> None:
        self.entries: list[Entry] = []
        self._root = os.path.realpath(root)
        self._left = LIMITS
        self._covered: set[str] = set()
        """Real paths of folders whose entries are listed."""

    def add(self, entry: Entry) -> None:
        self._left = self._left._replace(
            entries=self._left.entries - 1, bytes=self._left.bytes - entry.size
        )
        if self._left.entries < 0:
            raise Unapprovable(f"it has more than {LIMITS.entries:,} files and folders")
        if self._left.bytes < 0:
            raise Unapprovable(f"its files have more than {LIMITS.bytes:,} bytes")
        if entry.kind == "other":
            raise Unapprovable(f"{entry.path!r} is no regular file")
        self.entries.append(entry)

    def add_folder(self, folder: str, prefix: str, *, only: tuple[str, ...] | None = None) -> None:
        """Add what is below a folder, and then what the links in it lead to."""
        real = os.path.realpath(folder)
        if real in self._covered:
            return
        self._covered |= {real} if only is None else {os.path.join(real, name) for name in only}
        try:
            found = manifest_of(real, self._left, only=only)
        except SkillIoError as error:
            raise Unapprovable(error.message) from None
        for entry in found.entries:
            self.add(entry._replace(path=prefix + entry.path))
        for link in found.of_kind("link"):
            above, name = os.path.split(link.path)
            self._add_target(os.path.join(real, above, name), f"{prefix}{link.path} -> ")

    def add_references(self, folder: str, references: Iterable[str]) -> None:
        """Add the files that a skill names, as :func:`skillyard.resources.read_declared` does."""
        for path in references:
            try:
                parts = safe_parts(path)
            except ResourceRefused:
                continue  # it is never read
            self._add_target(os.path.join(folder, *parts), f"{path} => ")

    def _add_target(self, path: str, shown: str) -> None:
        """Add what lies at a path, links followed, under a name that no entry of a folder has."""
        real = os.path.realpath(path)
        if not is_below(real, self._root):
            raise Unapprovable(f"{shown.split(' ')[0]!r} leads out of the project")
        try:
            status = os.lstat(real)
        except FileNotFoundError:
            return self.add(Entry(shown, "missing", 0, "", executable=False))
        if any(real == each or is_below(real, each) for each in self._covered):
            return None  # listed by its own path; where the link leads is in its entry
        if stat.S_ISDIR(status.st_mode):
            return self.add_folder(real, shown)
        if not stat.S_ISREG(status.st_mode):
            raise Unapprovable(f"{shown.split(' ')[0]!r} leads to no regular file")
        descriptor = open_real_file(real)
        try:
            digest, size = file_digest(descriptor, self._left.bytes)
        finally:
            os.close(descriptor)
        return self.add(Entry(shown, "file", size, digest, executable=False))
