"""Safe reads of one file, and of the files inside one skill's real folder: nowhere else.

A path from a skill or a model becomes a file only through :func:`read_resource`. Every component
is opened without following links, from the file system's root down, so that a folder swapped for
a link while we read is refused and never followed.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from skillyard.arguments import check_arguments
from skillyard.discovery import OWN_FOLDERS
from skillyard.errors import ResourceRefused, SkillIoError
from skillyard.io.files import open_to_read
from skillyard.io.folders import entry_is_link, open_real_file, open_real_folder
from skillyard.io.paths import same_path
from skillyard.io.sha256 import sha256
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.skill import Skill

__all__ = [
    "FileContent",
    "Resource",
    "list_resources",
    "read_declared",
    "read_file",
    "read_resource",
    "real_resource_path",
    "skill_folder",
]


class FileContent(NamedTuple):
    """The bytes of a file and its status at the moment of reading."""

    data: bytes
    status: os.stat_result


class Resource(NamedTuple):
    """One file inside a skill's folder."""

    path: str
    """Relative to the skill's folder, with ``/``."""
    size: int
    """Bytes."""
    kind: str
    """``reference``, ``script``, ``asset`` or ``other``, by its first folder and its ending."""


def read_file(path: str, max_bytes: int, shown: str = "") -> FileContent:
    """Read one regular file without following a last link. Raises SkillIoError."""
    shown = shown or path
    try:
        descriptor = open_to_read(path)
    except OSError as error:
        raise _io_error(error, shown) from None
    try:
        return _read(descriptor, max_bytes, shown)
    except OSError as error:
        raise _io_error(error, shown) from None
    finally:
        os.close(descriptor)


def _read(descriptor: int, max_bytes: int, shown: str) -> FileContent:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise SkillIoError(
            "not a regular file",
            path=shown,
            code="not_a_regular_file",
            hint="replace it by a text file",
        )
    if status.st_size > max_bytes:
        raise _too_large(shown, max_bytes)
    # One read sized by the status is what a regular file needs; the loop covers a growing one.
    data = os.read(descriptor, status.st_size + 1)
    if len(data) < status.st_size or len(data) > status.st_size:
        chunks = [data]
        total = len(data)
        while total <= max_bytes and (more := os.read(descriptor, 65_536)):
            chunks.append(more)
            total += len(more)
        data = b"".join(chunks)
        if total > max_bytes:
            raise _too_large(shown, max_bytes)
    return FileContent(data, status)


def _too_large(shown: str, max_bytes: int) -> SkillIoError:
    return SkillIoError(
        f"the file is larger than {max_bytes:,} bytes",
        path=shown,
        code="file_too_large",
        hint="move long material into files beside it",
    )


def _io_error(error: OSError, shown: str) -> SkillIoError:
    return SkillIoError(
        f"cannot read: {error.strerror or error}",
        path=shown,
        code="io_error",
        hint="check that it exists, is a plain file and may be read",
    )


def skill_folder(skill: Skill) -> str:
    """Return the real path of the skill's own folder.

    Raises ResourceRefused when it has none, and when a link leads to a folder that is not the one
    that was loaded.
    """
    if skill.stored:
        raise ResourceRefused(
            f"{skill.name} lies in a store and has no folder here", path=skill.path
        )
    if not skill.path or skill.path.replace("\\", "/").rsplit("/", 1)[-1].lower() != "skill.md":
        raise ResourceRefused(
            f"{skill.name} is a single document and has no folder of its own", path=skill.path
        )
    return _folder_of(skill)


def _folder_of(skill: Skill) -> str:
    """Return the real path of the folder that holds a skill's file.

    Where a link is on the way, the folder must hold the very file that was loaded: a folder that
    was exchanged for a link since then leads anywhere.
    """
    folder = os.path.dirname(skill.path) or "."
    real = _resolved(folder, skill.path)
    if skill.origin is None or same_path(real, os.path.abspath(folder)):
        return real
    try:
        path = _real_path(real, os.path.basename(skill.path))
        is_loaded = _digest(path) == skill.hash
    except (ResourceRefused, SkillIoError):
        is_loaded = False
    if not is_loaded:
        raise _refused(skill.path, "a link leads to another folder than the one that was loaded")
    return real


def _digest(path: str) -> str:
    return sha256(read_file(path, DEFAULT_LIMITS.skill_file_bytes).data).hex()


def _resolved(path: str, shown: str) -> str:
    """Return the real path; a folder that changes under our feet is refused, not an accident."""
    try:
        return os.path.realpath(path)
    except OSError as error:
        raise _refused(shown, error.strerror or "cannot be resolved") from None


@check_arguments
def list_resources(
    skill: Skill, limits: Limits = DEFAULT_LIMITS, *, nested: bool = False
) -> tuple[Resource, ...]:
    """Return the regular files in the skill's folder but SKILL.md itself, sorted by path.

    Links, pipes and (unless ``nested``) folders that are skills of their own are left out. At most
    ``limits.resources_listed`` are returned. Of a skill from a store these are the references that
    were published with their text, under a path inside a folder. Raises ResourceRefused when there
    is no folder.
    """
    if skill.stored:
        sizes = {path: len(data) for path, data in _published(skill, limits).items()}
        listed = sorted(sizes)[: limits.resources_listed]
        return tuple(Resource(path, sizes[path], _kind(path)) for path in listed)
    folder = skill_folder(skill)
    found: list[Resource] = []
    pending = [("", 0)]
    while pending:
        below, depth = pending.pop()
        files, folders = _listed(f"{folder}/{below}" if below else folder)
        own = nested or not below or below.split("/")[0].lower() in OWN_FOLDERS
        if "SKILL.md" in files and not own:
            continue
        prefix = f"{below}/" if below else ""
        if depth < limits.tree_depth:
            pending.extend((prefix + name, depth + 1) for name in folders)
        found.extend(
            Resource(prefix + name, size, _kind(prefix + name))
            for name, size in files.items()
            if below or name.lower() != "skill.md"
        )
    found.sort()
    return tuple(found[: limits.resources_listed])


def _published(skill: Skill, limits: Limits) -> dict[str, bytes]:
    """Return the texts that were published with a stored skill, by their path in its folder.

    Left out is what could not lie in a folder beside a SKILL.md under that very path, and what is
    larger than a file may be: the paths were written by whoever published it.
    """
    found: dict[str, bytes] = {}
    for each in skill.references:
        if each.content is None or each.path.lower() == "skill.md" or not _is_plain(each.path):
            continue
        data = each.content.encode("utf-8", "surrogatepass")
        if len(data) <= limits.resource_bytes:
            found.setdefault(each.path, data)
    return found


def _is_plain(path: str) -> bool:
    """True for a path inside a folder that is written in the one usual way."""
    try:
        return "/".join(safe_parts(path)) == path
    except ResourceRefused:
        return False


def _published_text(skill: Skill, path: str, limits: Limits) -> bytes:
    data = _published(skill, limits).get("/".join(safe_parts(path)))
    if data is None:
        raise _refused(path, "the store holds no text of it")
    return data


def _listed(real: str) -> tuple[dict[str, int], list[str]]:
    """Return a folder's regular files with their sizes, and its sub-folders; links left out.

    The folder is opened without following links, and its entries are looked at through it.
    """
    files: dict[str, int] = {}
    folders: list[str] = []
    try:
        with open_real_folder(real) as folder:
            for entry in folder.entries():
                if not entry.name.isprintable() or entry_is_link(entry):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files[entry.name] = entry.stat(follow_symlinks=False).st_size
    except OSError:  # something vanished while it was listed: what was seen so far stands
        pass
    return files, folders


_KINDS = {"references": "reference", "docs": "reference", "scripts": "script", "assets": "asset"}


def _kind(path: str) -> str:
    kind = _KINDS.get(path.split("/", 1)[0]) if "/" in path else None
    if kind is None and path[-3:].lower() == ".md":
        return "reference"
    return kind or "other"


def safe_parts(path: str) -> tuple[str, ...]:
    """Return the components of a relative path. Raises ResourceRefused for anything else.

    Refused: absolute paths, ``..``, drives, backslashes, percent escapes of the above, schemes,
    control characters, empty paths, and names that some systems treat specially.
    """
    if not isinstance(path, str) or not path.strip():
        raise _refused(path, "an empty path")
    if not path.isprintable():
        raise _refused(path, "control or unprintable characters")
    if "\\" in path or ":" in path or path.startswith(("/", "~")):
        raise _refused(path, "an absolute path, a drive, a scheme or a backslash")
    if "%" in path and _percent_trick(path):
        raise _refused(path, "a percent-encoded path")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if not parts:
        raise _refused(path, "the folder itself")
    for part in parts:
        if part == ".." or part.rstrip(". ") != part:
            raise _refused(path, f"the component {part!r}")
    return parts


def _percent_trick(path: str) -> bool:
    lowered = path.lower()
    return any(code in lowered for code in ("%2e", "%2f", "%5c", "%00", "%25"))


def _refused(path: object, what: str) -> ResourceRefused:
    return ResourceRefused(
        f"refused {path!r}: {what}",
        code="resource_refused",
        hint="give the path of a file inside the skill's folder, as listed",
    )


def real_resource_path(skill: Skill, path: str) -> str:
    """Return the real path of a file inside the skill's real folder.

    A link inside the folder is followed only when its real path stays there. Raises
    ResourceRefused for any path that leads elsewhere. The answer holds at this moment only:
    reading goes through :func:`read_resource`, which checks again on the way.
    """
    return _real_path(skill_folder(skill), path)


def _real_path(folder: str, path: str) -> str:
    real = _resolved(os.path.join(folder, *safe_parts(path)), path)
    if not real.startswith(folder.rstrip(os.sep) + os.sep):
        raise _refused(path, "it leads out of the skill's folder")
    return real


@check_arguments
def read_resource(skill: Skill, path: str, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return the bytes of one file inside the skill's real folder, or of one that a store gave.

    Raises ResourceRefused for any path that is not a regular file there, or that is too large.
    """
    if skill.stored:
        return _published_text(skill, path, limits)
    return _read_real(real_resource_path(skill, path), path, limits)


def read_declared(skill: Skill, path: str, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return the bytes of a file that the skill's own ``references`` field names.

    For a single document (``.skills/x.md``) the path is relative to the document's folder.
    Raises ResourceRefused for a path that is not declared, or that leads elsewhere.
    """
    if path not in skill.declared_references:
        raise _refused(path, "the skill does not declare it")
    if not skill.path:
        raise _refused(path, "the skill comes from no file")
    if skill.stored:
        return _published_text(skill, path, limits)
    return _read_real(_real_path(_folder_of(skill), path), path, limits)


def _read_real(real: str, path: str, limits: Limits) -> bytes:
    try:
        descriptor = open_real_file(real)
    except OSError as error:
        raise _refused(path, error.strerror or "cannot open it") from None
    try:
        return _read(descriptor, limits.resource_bytes, path).data
    except SkillIoError as error:
        raise _refused(path, error.message) from None
    except OSError as error:
        raise _refused(path, error.strerror or "cannot read it") from None
    finally:
        os.close(descriptor)
