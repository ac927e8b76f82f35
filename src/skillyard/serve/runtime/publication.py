"""The skills of a catalog that others may fetch, as a SKILL.md or an archive.

A skill is published when it is a folder with a SKILL.md and its name is unique. Not published are
convention documents, single documents, skills marked internal, shadowed skills, and stored skills
without frontmatter, for which no SKILL.md can be generated. A skill with further files is published
as one archive of all files, and not at all when the archive would exceed the limits of clients. An
incomplete skill is never published.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from skillyard.base.errors import SkillError, SourceFailed
from skillyard.base.io.files import sha256
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.discovery.layout import HEAVY_FOLDERS
from skillyard.engine.resources import Resource, list_resources, read_resource, real_resource_path
from skillyard.engine.skill import Origin, Skill
from skillyard.install.copies.archives import DEFAULT, SKILL_FILE, ArchiveFile, write_zip
from skillyard.install.copies.file_paths import FilePaths, checked_path, is_inside
from skillyard.serve.runtime.local import file_of, is_document
from skillyard.serve.runtime.snapshot import Snapshot

_LIMITS = DEFAULT_LIMITS._replace(
    resource_bytes=DEFAULT.file_bytes, resources_listed=DEFAULT_LIMITS.folders_walked
)


class Unpublished(Exception):
    """A skill cannot be published completely. The message is the reason."""


class Artifact(NamedTuple):
    """The file that a client fetches to get one skill."""

    skill: Skill
    is_archive: bool
    """False for a skill that consists of its SKILL.md."""
    digest: str
    """SHA-256 of the served bytes, in hexadecimal."""


_Stamps = tuple[tuple[object, ...], ...]


class Publication:
    """The published skills of a service. Thread-safe. All methods read files."""

    def __init__(self) -> None:
        self._digests: dict[str, tuple[str, _Stamps, str]] = {}
        """By path: hash of the skill, stamps of its files, digest of its archive."""

    def skills(self, snapshot: Snapshot) -> Mapping[str, Skill]:
        """Return the published skills by name, sorted; of one name the first by path."""
        return snapshot.cached("published", lambda: _by_name(snapshot))

    def artifacts(self, snapshot: Snapshot) -> list[Artifact]:
        """Return the file to fetch for each complete published skill, by name."""
        artifacts = []
        for skill in self.skills(snapshot).values():
            with suppress(Unpublished, SourceFailed):
                artifacts.append(self._artifact(skill))
        return artifacts

    def _artifact(self, skill: Skill) -> Artifact:
        files = _files_beside(skill)
        if skill.stored:
            data = archive_of(skill) if files else file_of(skill)
            return Artifact(skill, bool(files), sha256(data).hex())
        if not files:
            return Artifact(skill, False, skill.hash)
        stamps = _stamps(skill, files)
        known = self._digests.get(skill.path)
        if known is None or known[:2] != (skill.hash, stamps):
            known = (skill.hash, stamps, sha256(archive_of(skill)).hex())
            if _stamps(skill, files) == stamps:  # otherwise it is computed again for the next index
                self._digests[skill.path] = known
        return Artifact(skill, True, known[2])


def archive_of(skill: Skill) -> bytes:
    """Return all files of a published skill as a zip archive, SKILL.md at its root.

    Raises Unpublished for a skill without further files or that cannot be published completely, and
    SourceFailed when its SKILL.md has changed since it was read for the catalog.
    """
    files = _files_beside(skill)
    if not files:
        raise Unpublished(f"{skill.name} has no file but its {SKILL_FILE}")
    packed = [ArchiveFile(SKILL_FILE, file_of(skill), executable=False)]
    for file in files:
        try:
            data = read_resource(skill, file.path, _LIMITS)
        except SkillError as error:
            raise Unpublished(f"a file of {skill.name} cannot be read: {error.message}") from None
        executable = not skill.stored and bool(_status(skill, file).st_mode & stat.S_IXUSR)
        packed.append(ArchiveFile(file.path, data, executable))
    return write_zip(packed)


def _by_name(snapshot: Snapshot) -> dict[str, Skill]:
    by_name: dict[str, Skill] = {}
    for skill in snapshot.whole.candidates:
        if skill.origin == Origin.CONVENTION or skill.internal or is_document(skill):
            continue
        if (skill.stored or skill.origin) and skill.frontmatter is None:
            continue  # clients read the frontmatter
        if "/" not in skill.name and is_inside(skill.name) and skill.description:
            by_name.setdefault(skill.name, skill)
    return by_name


def _files_beside(skill: Skill) -> list[Resource]:
    """Return the files of a skill's folder beside its SKILL.md, without heavy folders.

    Links are left out. Raises Unpublished beyond the limits of clients, and for paths that are not
    valid on every system.
    """
    try:
        resources = list_resources(skill, _LIMITS, nested=True)
        files = [file for file in resources if not _is_heavy(file.path)]
        paths = FilePaths()
        for path in (SKILL_FILE, *(file.path for file in files)):
            paths.add_file(checked_path(path))
    except SkillError as error:
        raise Unpublished(f"{skill.name}: {error.message}") from None
    if len(files) >= DEFAULT.files:
        raise Unpublished(f"{skill.name} has more than {DEFAULT.files} files")
    if sum(file.size for file in files) + len(skill.body or "") > DEFAULT.total_bytes:
        raise Unpublished(
            f"the files of {skill.name} are larger than {DEFAULT.total_bytes:,} bytes"
        )
    return files


def _is_heavy(path: str) -> bool:
    return any(part.lower() in HEAVY_FOLDERS for part in path.split("/")[:-1])


def _stamps(skill: Skill, files: list[Resource]) -> _Stamps:
    """Return the properties of the files, to detect changes. Raises Unpublished."""
    statuses = [(file.path, _status(skill, file)) for file in files]
    return tuple(
        (path, each.st_size, each.st_mtime_ns, each.st_ino, each.st_mode) for path, each in statuses
    )


def _status(skill: Skill, file: Resource) -> os.stat_result:
    try:
        return os.lstat(real_resource_path(skill, file.path))
    except (OSError, SkillError):
        raise Unpublished(f"a file of {skill.name} cannot be read") from None
