"""Safe reads of a single file, and of the files inside one skill's real folder.

Paths from a skill or a model are only opened by :func:`read_resource`. Every component is opened
without following links, from the file system's root down. A folder that is replaced by a link
during a read is refused.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple

from skillyard.base.errors import Diagnostic, ResourceRefused, SkillIoError
from skillyard.base.io.files import read_regular, sha256
from skillyard.base.io.folders import entry_is_link, open_real_file, open_real_folder
from skillyard.base.limits import DEFAULT_LIMITS, Limits
from skillyard.engine.discovery.layout import OWN_FOLDERS
from skillyard.engine.skill import Skill


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
    """``reference``, ``script``, ``asset`` or ``other``, by its first folder and extension."""


class ResourceListing(NamedTuple):
    """The files inside a skill's folder, up to a limit, and diagnostics about the rest."""

    resources: tuple[Resource, ...]
    diagnostics: tuple[Diagnostic, ...]


def read_file(path: str, max_bytes: int, display_path: str = "") -> FileContent:
    """Read one regular file, which must not be a link. Raises SkillIoError."""
    try:
        return FileContent(*read_regular(path, max_bytes))
    except OSError as error:
        raise _io_error(error, display_path or path) from None


_FAULTS = {
    errno.EINVAL: ("not_a_regular_file", "replace it by a text file"),
    errno.EFBIG: ("file_too_large", "move long material into files beside it"),
    errno.ELOOP: ("io_error", "replace the link by the file"),
}


def _io_error(error: OSError, display_path: str) -> SkillIoError:
    what = error.strerror or str(error)
    if error.errno == errno.ELOOP:
        what = "it is a link, and the file itself must lie there"
    if error.errno in _FAULTS:
        code, hint = _FAULTS[error.errno]
        return SkillIoError(what, path=display_path, code=code, hint=hint)
    hint = "check that it exists, is a plain file and may be read"
    return SkillIoError(f"cannot read: {what}", path=display_path, code="io_error", hint=hint)


def skill_folder(skill: Skill) -> str:
    """Return the real path of the skill's own folder.

    Raises ResourceRefused when it has none, and when the folder was replaced by a link since the
    skill was loaded.
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
    """Return the real path of the folder of a skill's file.

    A SKILL.md that is a link to another one lies in the folder of that one, as dotfiles do; where
    it leads to a file of another name, as in a store of single files, its own folder counts. When
    the path contains a link, the file must be the loaded one: a link may have been put there since.
    """
    file = _resolve(skill.path, skill.path)
    if os.path.basename(file).lower() == "skill.md":
        real = os.path.dirname(file)
    else:
        real = _resolve(os.path.dirname(skill.path) or ".", skill.path)
    if skill.origin is None or file == os.path.abspath(skill.path):
        return real
    try:
        is_loaded = _digest(file) == skill.hash
    except SkillIoError:
        is_loaded = False
    if not is_loaded:
        raise _refusal(skill.path, "a link leads to another folder than the one that was loaded")
    return real


def _digest(path: str) -> str:
    return sha256(read_file(path, DEFAULT_LIMITS.skill_file_bytes).data).hex()


def _resolve(path: str, display_path: str) -> str:
    """Return the real path. Raises ResourceRefused when it cannot be resolved."""
    try:
        return os.path.realpath(path)
    except OSError as error:
        raise _refusal(display_path, error.strerror or "cannot be resolved") from None


def list_resources(
    skill: Skill, limits: Limits = DEFAULT_LIMITS, *, nested: bool = False
) -> tuple[Resource, ...]:
    """Return the regular files in the skill's folder except SKILL.md, sorted by path.

    Links, pipes and (unless ``nested``) nested skill folders are left out. At most
    ``limits.resources_listed`` files are returned; :func:`resources_of` says when there are more.
    For a skill from a store, the result is the references that were published with their text.
    Raises ResourceRefused when there is no folder.
    """
    return resources_of(skill, limits, nested=nested).resources


def resources_of(
    skill: Skill, limits: Limits = DEFAULT_LIMITS, *, nested: bool = False
) -> ResourceListing:
    """Return what :func:`list_resources` does, and a diagnostic where the list is cut."""
    if skill.stored:
        texts = _stored_texts(skill, limits)
        resources = [Resource(path, len(data), _kind(path)) for path, data in texts.items()]
    else:
        resources = _files_below(skill_folder(skill), limits, nested)
    resources.sort()
    more = len(resources) - limits.resources_listed
    if more <= 0:
        return ResourceListing(tuple(resources), ())
    cut = Diagnostic(
        "too_many_resources",
        "warning",
        skill.path,
        f"{more:,} of {len(resources):,} files beside it are not listed",
        "pack them, or divide the skill",
    )
    return ResourceListing(tuple(resources[: limits.resources_listed]), (cut,))


def _files_below(folder: str, limits: Limits, nested: bool) -> list[Resource]:
    resources: list[Resource] = []
    pending = [("", 0)]
    while pending:
        below, depth = pending.pop()
        files, folders = _list_folder(f"{folder}/{below}" if below else folder)
        own = nested or not below or below.split("/")[0].lower() in OWN_FOLDERS
        if "SKILL.md" in files and not own:
            continue
        prefix = f"{below}/" if below else ""
        if depth < limits.tree_depth:
            pending.extend((prefix + name, depth + 1) for name in folders)
        resources.extend(
            Resource(prefix + name, size, _kind(prefix + name))
            for name, size in files.items()
            if below or name.lower() != "skill.md"
        )
    return resources


def _stored_texts(skill: Skill, limits: Limits) -> dict[str, bytes]:
    """Return the texts that were published with a stored skill, by their path in its folder.

    The paths come from the publisher, so unsafe paths and texts over the size limit are left out.
    """
    texts: dict[str, bytes] = {}
    for each in skill.references:
        if each.content is None or each.path.lower() == "skill.md" or not _is_plain(each.path):
            continue
        data = each.content.encode("utf-8", "surrogatepass")
        if len(data) <= limits.resource_bytes:
            texts.setdefault(each.path, data)
    return texts


def _is_plain(path: str) -> bool:
    """True for a safe relative path in normal form."""
    try:
        return "/".join(safe_parts(path)) == path
    except ResourceRefused:
        return False


def _stored_text(skill: Skill, path: str, limits: Limits) -> bytes:
    data = _stored_texts(skill, limits).get("/".join(safe_parts(path)))
    if data is None:
        raise _refusal(path, "the store holds no text of it")
    return data


def _list_folder(real: str) -> tuple[dict[str, int], list[str]]:
    """Return the regular files of a folder with their sizes, and its sub-folders, without links.

    The folder is opened without following links, and its entries are read through the descriptor.
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
    except OSError:  # an entry was removed during the listing: return the others
        pass
    return files, folders


_KINDS = {"references": "reference", "docs": "reference", "scripts": "script", "assets": "asset"}


def _kind(path: str) -> str:
    kind = _KINDS.get(path.split("/", 1)[0]) if "/" in path else None
    if kind is None and path[-3:].lower() == ".md":
        return "reference"
    return kind or "other"


def safe_parts(path: str) -> tuple[str, ...]:
    """Return the components of a safe relative path. Raises ResourceRefused for any other path.

    Refused are absolute paths, ``..``, drives, backslashes, percent escapes of these, schemes,
    control characters, empty paths, and names that some systems treat specially.
    """
    if not isinstance(path, str) or not path.strip():
        raise _refusal(path, "an empty path")
    if not path.isprintable():
        raise _refusal(path, "control or unprintable characters")
    if "\\" in path or ":" in path or path.startswith(("/", "~")):
        raise _refusal(path, "an absolute path, a drive, a scheme or a backslash")
    if "%" in path and _percent_trick(path):
        raise _refusal(path, "a percent-encoded path")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if not parts:
        raise _refusal(path, "the folder itself")
    for part in parts:
        if part == ".." or part.rstrip(". ") != part:
            raise _refusal(path, f"the component {part!r}")
    return parts


def _percent_trick(path: str) -> bool:
    lowered = path.lower()
    return any(code in lowered for code in ("%2e", "%2f", "%5c", "%00", "%25"))


def _refusal(path: object, what: str) -> ResourceRefused:
    return ResourceRefused(
        f"refused {path!r}: {what}",
        code="resource_refused",
        hint="give the path of a file inside the skill's folder, as listed",
    )


def real_resource_path(skill: Skill, path: str) -> str:
    """Return the real path of a file inside the skill's real folder.

    A link is followed only when its target is inside the folder. Raises ResourceRefused for any
    path that leads elsewhere. The result may be outdated at once: read files with
    :func:`read_resource`, which checks the path again.
    """
    return _real_path(skill_folder(skill), path)


def _real_path(folder: str, path: str) -> str:
    real = _resolve(os.path.join(folder, *safe_parts(path)), path)
    if not real.startswith(folder.rstrip(os.sep) + os.sep):
        raise _refusal(path, "it leads out of the skill's folder")
    return real


def read_resource(skill: Skill, path: str, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return the bytes of one file inside the skill's real folder, or of a stored skill's file.

    Raises ResourceRefused for any path that is not a regular file there, or that is too large.
    """
    if skill.stored:
        return _stored_text(skill, path, limits)
    return _read_real(real_resource_path(skill, path), path, limits)


def read_declared(skill: Skill, path: str) -> bytes:
    """Return the bytes of a file that the skill's ``references`` field names.

    For a single document (``.skills/x.md``) the path is relative to the document's folder.
    Raises ResourceRefused for a path that is not declared, or that leads elsewhere.
    """
    if path not in skill.declared_references:
        raise _refusal(path, "the skill does not declare it")
    if not skill.path:
        raise _refusal(path, "the skill comes from no file")
    if skill.stored:
        return _stored_text(skill, path, DEFAULT_LIMITS)
    return _read_real(_real_path(_folder_of(skill), path), path, DEFAULT_LIMITS)


def _read_real(real: str, path: str, limits: Limits) -> bytes:
    try:
        return read_regular(open_real_file(real), limits.resource_bytes)[0]
    except OSError as error:
        raise _refusal(path, error.strerror or "cannot read it") from None
