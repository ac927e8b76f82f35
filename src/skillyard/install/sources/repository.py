"""Find the folder of a skill in a repository, and the files that belong to it.

Only a folder with the name of the skill is accepted: the wrong skill is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from skillyard.install.copies.file_paths import is_inside, shown_path

_T = TypeVar("_T")
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,99})"
REPOSITORY_PATTERN = rf"(?!.*\.\.){_PART}/[._]?{_PART}"
_REPOSITORY = re.compile(REPOSITORY_PATTERN)
SKILL_FILE = "SKILL.md"
FILE_BYTES = 1_048_576
"""Maximum size of one file of a skill that a repository or a folder holds."""
PLACES = (
    "skills",
    ".claude/skills",
    ".cursor/skills",
    ".github/skills",
    ".agent/skills",
    ".agents/skills",
    "",
)
"""Folders in which skills usually are, likeliest first (spec/skyll.md §3.2)."""
VENDORS = ("vercel-", "anthropic-", "openai-", "claude-")
"""Prefixes that a marketplace adds to the name of a folder."""
IGNORED_FOLDERS = frozenset({".git", "node_modules", "__pycache__"})
"""Folders that are never part of a skill."""
UNSEARCHED_FOLDERS = frozenset({*IGNORED_FOLDERS, "dist", "build"})
"""Folders that are not searched for skills. A skill itself may contain such folders."""
REFERENCE_FOLDERS = ("references", "resources", "docs", "examples", "rules")
"""Folders of a skill whose Markdown files are its references (spec/skyll.md §1)."""
NO_REFERENCES = frozenset({"readme.md", "changelog.md", "license.md", "contributing.md"})
"""Markdown files in the root of a repository that are not references of a skill."""


class ReadLimits(NamedTuple):
    """How much of a skill is read beside its SKILL.md."""

    files: int
    bytes: int


REFERENCES = ReadLimits(64, 4 * 1024 * 1024)
WHOLE = ReadLimits(512, 16 * 1024 * 1024)
"""The size that hosts of the Skills extension must accept (spec/peers.md §3.5)."""


class Blob(NamedTuple):
    """One regular file of a tree."""

    path: str
    size: int


def is_repository(text: str) -> bool:
    """True for ``owner/repo`` on GitHub, matched whole."""
    return _REPOSITORY.fullmatch(text) is not None


def with_skill_file(files: Mapping[str, _T]) -> dict[str, _T]:
    """Return a skill's files as every host loads them: a lone ``skill.md`` is renamed."""
    if SKILL_FILE in files:
        return dict(files)
    return {SKILL_FILE if path == "skill.md" else path: file for path, file in files.items()}


def skill_folders(paths: Iterable[str], *, also: str = SKILL_FILE) -> list[str]:
    """Return the folders that contain a SKILL.md, sorted; ``""`` is the root.

    ``also`` is another spelling of it that counts.
    """
    folders = set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        if name in (SKILL_FILE, also) and not UNSEARCHED_FOLDERS.intersection(folder.split("/")):
            folders.add(folder)
    return sorted(folders)


def skill_folder(
    folders: Sequence[str], repository: str, skill_id: str, registered: str | None = None
) -> str | None:
    """Return the folder of a skill among those that contain a SKILL.md, or None.

    ``registered`` is the folder that a registry names; it wins if it exists. Otherwise the first of
    these: a folder with the skill's name in the usual places, the same without a vendor's prefix,
    and the folder with that name that is nearest to the root. The root itself matches a skill with
    the name of its repository.
    """
    there = set(folders)
    if registered is not None and registered.strip("/") in there:
        return registered.strip("/")
    names = [skill_id, *(skill_id.removeprefix(v) for v in VENDORS if skill_id.startswith(v))]
    for name in filter(None, names):
        for place in PLACES:
            folder = f"{place}/{name}" if place else name
            if folder in there:
                return folder
        matches = [f for f in folders if f.rpartition("/")[2].casefold() == name.casefold()]
        if matches:
            return min(matches, key=lambda folder: (folder.count("/"), folder))
        if "" in there and name.casefold() == repository.rpartition("/")[2].casefold():
            return ""
    return None


def files_beside(blobs: Mapping[str, int], folder: str) -> list[Blob]:
    """Return the files below a skill's folder, by path; not those of skills inside it."""
    inside = f"{folder}/" if folder else ""
    nested = [
        f"{other}/"
        for other in skill_folders(blobs)
        if other != folder and other.startswith(inside)
    ]
    blobs_beside = []
    for path in sorted(blobs):
        if path.startswith(inside) and not any(path.startswith(other) for other in nested):
            below = path.removeprefix(inside)
            if not IGNORED_FOLDERS.intersection(below.split("/")):
                blobs_beside.append(Blob(path, blobs[path]))
    return blobs_beside


def reference_paths(blobs: Mapping[str, int], folder: str) -> list[Blob]:
    """Return a skill's references: Markdown files beside SKILL.md and below the known folders."""
    inside = f"{folder}/" if folder else ""
    references = []
    for blob in files_beside(blobs, folder):
        below = blob.path.removeprefix(inside)
        first, _, rest = below.partition("/")
        markdown = below.lower().endswith((".md", ".markdown", ".mdx"))
        beside = not rest and below != SKILL_FILE and (folder or below.lower() not in NO_REFERENCES)
        if markdown and (beside or (rest and first in REFERENCE_FOLDERS)):
            references.append(blob)
    return references


def chosen_files(
    blobs: Iterable[Blob], folder: str, most: ReadLimits
) -> tuple[list[str], list[str]]:
    """Return the paths of files below a folder that are read, and the left-out ones with reasons.

    SKILL.md goes before what the limits allow beside it.
    """
    inside = f"{folder}/" if folder else ""
    chosen: list[str] = []
    skipped: list[str] = []
    total = 0
    for blob in sorted(blobs, key=lambda blob: (blob.path != f"{inside}{SKILL_FILE}", blob.path)):
        path = blob.path.removeprefix(inside)
        if not is_inside(path):
            skipped.append(f"{shown_path(path)}: a path that not every system can hold")
        elif len(chosen) > most.files or total + blob.size > most.bytes or blob.size > FILE_BYTES:
            skipped.append(f"{path}: over the limits")
        else:
            total += blob.size
            chosen.append(blob.path)
    return chosen, skipped
