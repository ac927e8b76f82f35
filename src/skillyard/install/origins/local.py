"""The files of a skill in a folder on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, SourceFailed
from skillyard.base.io.files import is_executable, read_regular
from skillyard.base.io.folders import entry_is_link, open_real_file, open_real_folder
from skillyard.base.io.paths import is_below
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.catalog import read_catalog
from skillyard.engine.discovery.added_sources import may_read_source
from skillyard.engine.discovery.hosts import host_roots
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.copies.lockfile import LOCAL, PROJECT_LOCK
from skillyard.install.origins.choice import ONLY_ONE, SkillChoice, choose_folder
from skillyard.install.sources.protocol import Package
from skillyard.install.sources.repository import (
    FILE_BYTES,
    IGNORED_FOLDERS,
    SKILL_FILE,
    WHOLE,
    chosen_files,
    files_beside,
    skill_folders,
    with_skill_file,
)

MAX_ENTRIES = 20_000
"""Files and folders that are looked at: those of a large repository."""


class _Entries(NamedTuple):
    """What lies in a folder, by path below it."""

    files: dict[str, int]
    """Sizes."""
    others: dict[str, str]
    """What is left out, with the reason."""
    linked: dict[str, str]
    """Where a linked SKILL.md lies."""


def local_package(folder: str, choice: SkillChoice = ONLY_ONE) -> Package:
    """Return every file of a skill in a folder, or of the one skill below it.

    Links, pipes and devices are left out, and said, but for a linked SKILL.md that a listing shows.
    Raises SourceFailed, and InvalidInput where the folder holds several skills.
    """
    try:
        return _package_of(folder, choice)
    except SourceFailed:
        root = os.path.expanduser(folder)
        skills = read_catalog(root).skills if choice.skill and os.path.isdir(root) else ()
        paths = {skill.path for skill in skills if skill.name == choice.skill}
        places = {os.path.realpath(os.path.dirname(each)) for each in paths if _is_skill_file(each)}
        if len(places) != 1:
            raise
        return _package_of(places.pop(), ONLY_ONE)


def _is_skill_file(path: str) -> bool:
    return os.path.basename(path).lower() == "skill.md"


def _package_of(folder: str, choice: SkillChoice) -> Package:
    root = os.path.realpath(os.path.expanduser(folder))
    try:
        listed = _listed(root)
        folders = skill_folders(listed.files, also="skill.md")
        if choice == ONLY_ONE and "" in folders:  # skills inside it are not what was named
            return _package(root, listed, "")
        below = choose_folder(
            folders,
            choice,
            shown=folder,
            name=os.path.basename(root),
            spelled=lambda name: f"{folder}#{name}",
            read=lambda some: _skill_files(root, listed, some),
        )
        return _package(root, listed, below)
    except OSError as error:
        what = f"cannot read {shown_path(folder)}: {error.strerror or error}"
        raise SourceFailed("not_found", what, hint="name a folder with a SKILL.md") from None


def _skill_files(root: str, listed: _Entries, folders: Sequence[str]) -> dict[str, bytes]:
    """Return the SKILL.md of some folders. Raises OSError."""
    texts = {}
    for folder in folders:
        paths = (f"{folder}/{name}".lstrip("/") for name in (SKILL_FILE, "skill.md"))
        path = next(each for each in paths if each in listed.files)
        if listed.files[path] <= FILE_BYTES:
            texts[folder] = _read(root, path, listed)[0]
    return texts


def _listed(root: str) -> _Entries:
    listed = _Entries({}, {}, {})
    pending = [""]
    seen = 0
    while pending:
        below = pending.pop()
        with open_real_folder(os.path.normpath(os.path.join(root, below))) as folder:
            for entry in folder.entries(MAX_ENTRIES - seen + 1):
                seen += 1
                if _is_folder(entry, f"{below}{entry.name}", listed, root):
                    pending.append(f"{below}{entry.name}/")
        if seen > MAX_ENTRIES:
            raise InvalidInput(
                f"{shown_path(root)} holds more than {MAX_ENTRIES:,} files and folders; name"
                " the folder of the skill itself"
            )
    return listed


def _is_folder(entry: os.DirEntry[str], path: str, listed: _Entries, root: str) -> bool:
    """Return True for a folder that is entered; note anything else."""
    if entry_is_link(entry) and _is_skill_file(path) and (real := _followed(path, root)):
        listed.linked[path] = real
        listed.files[path] = os.stat(real).st_size
    elif entry_is_link(entry):
        listed.others[path] = "a link, which is not followed"
    elif entry.is_dir(follow_symlinks=False):
        return entry.name not in IGNORED_FOLDERS and path.count("/") < DEFAULT_LIMITS.tree_depth
    elif entry.is_file(follow_symlinks=False):
        listed.files[path] = entry.stat(follow_symlinks=False).st_size
    else:
        listed.others[path] = "neither a file nor a folder"
    return False


def _followed(path: str, root: str) -> str:
    """Return where a linked SKILL.md leads, as discovery follows it; empty where it does not."""
    real = os.path.realpath(os.path.join(root, path))
    in_users = any(
        is_below(root, os.path.realpath(each.path)) for each in host_roots(("user",))
    ) and real.lower().endswith(".md")
    allowed = in_users or may_read_source(os.path.dirname(real), root)
    return real if allowed and os.path.isfile(real) else ""


def _package(root: str, listed: _Entries, below: str) -> Package:
    inside = f"{below}/" if below else ""
    skipped = [
        f"{shown_path(path.removeprefix(inside))}: {reason}"
        for path, reason in sorted(listed.others.items())
        if path.startswith(inside)
    ]
    files: dict[str, bytes] = {}
    executable = set()
    lock = f"{inside}{PROJECT_LOCK}"
    blobs = [each for each in files_beside(listed.files, below) if each.path != lock]
    if lock in listed.files:  # of a skill that is a project: it would be outdated for ever
        skipped.append(f"{PROJECT_LOCK}: the lock file, which changes with what is installed")
    paths, left_out = chosen_files(blobs, below, WHOLE)
    for path in paths:
        files[path.removeprefix(inside)], runs = _read(root, path, listed)
        if runs:
            executable.add(path.removeprefix(inside))
    files = with_skill_file(files)
    if SKILL_FILE not in files:
        raise SourceFailed("bad_answer", f"{SKILL_FILE} in {shown_path(root)} is too large")
    return Package(
        dict(sorted(files.items())),
        root,
        below,
        url=os.path.join(root, *below.split("/")) if below else root,
        skipped=skipped + left_out,
        executable=frozenset(executable),
        source_type=LOCAL,
    )


def _read(root: str, path: str, listed: _Entries) -> tuple[bytes, bool]:
    """Return the bytes of a plain file, and whether it may be run. Raises OSError."""
    real = listed.linked.get(path) or os.path.join(root, *path.split("/"))
    data, status = read_regular(open_real_file(real), FILE_BYTES)
    return data, is_executable(status)
