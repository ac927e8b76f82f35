"""Skill entries: a skill's frontmatter as JSON, and every file with size and digest.

Digests are computed when an entry is first requested, and again when a file's size, time or
identity changed. The bytes of each SKILL.md are cached, compressed, so that the last good version
of a broken file still matches its digest.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterable
from threading import Lock
from typing import Any, NamedTuple

from skillyard.base.errors import SkillError, SourceFailed
from skillyard.base.io.sha256 import sha256
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import plural
from skillyard.engine.resources import list_resources, read_resource
from skillyard.engine.skill import Skill
from skillyard.serve.mcp.rendition import Unreadable, conforming
from skillyard.serve.mcp.skill_uris import (
    DESCRIPTION_CHARS,
    SKILL_FILE,
    SkillUris,
    assign_uris,
    segment,
)
from skillyard.serve.runtime.local import file_of, is_document
from skillyard.serve.runtime.view import View

ENTRY_FILES = 512
"""Files of one skill that every host accepts (SEP-2640, "Limits")."""
ENTRY_BYTES = 16_777_216
"""Their total size, by the same limit."""
MAX_CACHED_BYTES = 64 * 1024 * 1024
"""Compressed bytes of cached SKILL.md files; the 10,000 of our corpus take 25 MB."""
_LIMITS = DEFAULT_LIMITS._replace(resource_bytes=ENTRY_BYTES, resources_listed=ENTRY_FILES + 1)


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


class Entry(NamedTuple):
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

    def file(self, path: str) -> EntryFile | None:
        """Return the file of that path, None where the entry has none."""
        return next((file for file in self.files if file.path == path), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the extension's ``Skill``."""
        return {
            "uri": self.uri,
            "frontmatter": self.frontmatter,
            "resources": [
                {"uri": file.uri, "digest": file.digest, "size": file.size} for file in self.files
            ],
        }


class _Stamp(NamedTuple):
    """The stamp of a file; a change shows that the file was written."""

    size: int
    changed_ns: int
    inode: int


class Manifests:
    """Builds entries. Thread-safe. All methods read files."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._uris: tuple[str, SkillUris] | None = None
        self._digests: dict[str, tuple[_Stamp, str]] = {}
        self._texts: dict[str, bytes] = {}
        self._cached_bytes = 0
        self._closed = False

    def close(self) -> None:
        """Stop a running :meth:`hold`. Everything else keeps working."""
        self._closed = True

    def uris_of(self, view: View) -> SkillUris:
        """Return the served skills of a view, by URI."""
        with self._lock:
            if self._uris is None or self._uris[0] != view.digest:
                self._uris = (view.digest, assign_uris(view, self._too_much))
            return self._uris[1]

    def _too_much(self, skill: Skill) -> str:
        try:
            _other_files(skill)
        except Unserved as error:
            return str(error)
        return ""

    def entry(self, root: str, skill: Skill) -> Entry:
        """Return the entry of a skill that is served at a URI. Raises Unserved, SourceFailed."""
        data, frontmatter = self._conforming_file(skill)
        if frontmatter.get("name") != skill.name:
            raise Unserved("its frontmatter does not carry its name as text")
        description = frontmatter.get("description")
        if not isinstance(description, str) or not description.strip():
            raise Unserved("its frontmatter does not carry its description as text")
        if len(description) > DESCRIPTION_CHARS:
            raise Unserved(f"its description is longer than {DESCRIPTION_CHARS:,} characters")
        whole = f"sha256:{sha256(data).hex()}"
        files = [EntryFile(f"{root}/{SKILL_FILE}", SKILL_FILE, whole, len(data))]
        for path, size in _other_files(skill, len(data)):
            uri = "/".join((root, *map(segment, path.split("/"))))
            digest = self._digest_of(skill, path, size)
            if digest is not None:
                files.append(EntryFile(uri, path, *digest))
        return Entry(root, skill, frontmatter, tuple(files))

    def _conforming_file(self, skill: Skill) -> tuple[bytes, dict[str, Any]]:
        """Return a skill's own file in its served form, and its frontmatter as JSON."""
        try:
            return conforming(self._skill_file(skill), skill.path)
        except Unreadable as error:
            raise Unserved(str(error)) from None

    def _skill_file(self, skill: Skill) -> bytes:
        """Return the bytes of a skill's own file in this version. Raises SourceFailed."""
        try:
            data = file_of(skill)
        except SourceFailed:
            with self._lock:
                packed = self._texts.get(skill.hash)
            if packed is None:
                raise
            return zlib.decompress(packed)
        self._cache_file(skill, data)
        return data

    def read(self, entry_root: str, skill: Skill, path: str) -> bytes:
        """Return the bytes of a file in the skill's entry. Raises Unserved, SkillError."""
        if path == SKILL_FILE:
            return self._conforming_file(skill)[0]
        if path not in {name for name, _ in _other_files(skill)}:
            raise Unserved(f"no such file is served at {entry_root}")
        return read_resource(skill, path, _LIMITS)

    def cache_files(self, skills: Iterable[Skill]) -> None:
        """Read and cache the files of those skills that are not cached yet.

        It pauses half of the time, so that a large library does not delay requests.
        """
        for skill in skills:
            if self._closed or self._cached_bytes >= MAX_CACHED_BYTES:
                return
            if skill.path and skill.hash not in self._texts:
                began = time.perf_counter()
                try:
                    self._cache_file(skill, file_of(skill))
                except SourceFailed:  # it is being changed; the next view will have it
                    continue
                time.sleep(time.perf_counter() - began)

    def drop_others(self, skills: Iterable[Skill]) -> None:
        """Drop the cached files of all other skills."""
        hashes = {skill.hash for skill in skills}
        with self._lock:
            for old in [key for key in self._texts if key not in hashes]:
                self._cached_bytes -= len(self._texts.pop(old))

    def _cache_file(self, skill: Skill, data: bytes) -> None:
        if skill.stored or skill.hash in self._texts or self._cached_bytes >= MAX_CACHED_BYTES:
            return  # a stored skill's text is available as long as its generation
        packed = zlib.compress(data, 1)
        with self._lock:
            if skill.hash not in self._texts:
                self._texts[skill.hash] = packed
                self._cached_bytes += len(packed)

    def _digest_of(self, skill: Skill, path: str, size: int) -> tuple[str, int] | None:
        """Return (digest, size) of one file; None when it was removed meanwhile."""
        if skill.stored:
            data = read_resource(skill, path, _LIMITS)
            return f"sha256:{sha256(data).hex()}", len(data)
        where = os.path.join(os.path.dirname(skill.path), path)
        stamp = _stamp(where)
        with self._lock:
            known = self._digests.get(where)
        if known is not None and stamp is not None and known[0] == stamp:
            return known[1], stamp.size
        try:
            data = read_resource(skill, path, _LIMITS)
        except SkillError:
            return None
        digest = f"sha256:{sha256(data).hex()}"
        # Cached only when the stamps before and after reading are equal.
        if stamp is not None and stamp == _stamp(where) and stamp.size == len(data):
            with self._lock:
                self._digests[where] = (stamp, digest)
        return digest, len(data)


def _stamp(path: str) -> _Stamp | None:
    try:
        info = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return _Stamp(info.st_size, info.st_mtime_ns, info.st_ino)


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
