"""Putting a skill's files into a folder: all of them or none, and never over somebody's edits.

Everything is checked first, written beside the place, synced, and then renamed. What is there is
replaced only when it is what was installed. Where the system can exchange two folders in one step
(Linux, on most file systems), a reader finds the old folder or the new one at every moment;
elsewhere two renames leave an instant without either. One run at a time writes to a folder.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from skillyard.digest import sha256
from skillyard.errors import SkillError, SkillIoError
from skillyard.formats.agentskills import Document, parse_document
from skillyard.formats.frontmatter import decode
from skillyard.install.file_paths import FilePaths, checked_path
from skillyard.install.folder_hash import folder_hash, folder_hash_of
from skillyard.io.files import create_exclusive, rename_folder, sync_folder
from skillyard.io.locks import file_lock
from skillyard.io.user_folders import cache_folder
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.skill import Skill

__all__ = ["InstallRefused", "Placed", "alone", "check_files", "content_digest", "place"]

BESIDE = ".skillyard-new-"
BEFORE = ".skillyard-old-"
"""Names of folders that a stopped run may leave; the next one clears or restores them."""
HERE = -100
"""``AT_FDCWD``: paths are relative to the working folder, as everywhere else."""
EXCHANGE = 2
"""``RENAME_EXCHANGE``: both names stay, and each has what the other had."""


class InstallRefused(SkillError):
    """A skill that is not written: what is there would be lost, or what came is no skill."""

    kind = "InstallRefused"


class Placed(NamedTuple):
    """What writing a skill did."""

    folder: str
    state: str
    """``added``, ``replaced`` or ``unchanged``."""
    files: tuple[str, ...]
    """Paths below the folder, sorted."""
    hash: str
    """The folder hash that lock files have."""
    digest: str
    """``sha256:…`` over every path and its content."""


def content_digest(files: Mapping[str, bytes]) -> str:
    """Return a digest of a skill: over the path, length and digest of each of its files."""
    listed = b"".join(
        f"{path}\0{len(files[path])}\0{sha256(files[path]).hex()}\n".encode()
        for path in sorted(files)
    )
    return f"sha256:{sha256(listed).hex()}"


def check_files(files: Mapping[str, bytes], shown: str, limits: Limits = DEFAULT_LIMITS) -> Skill:
    """Return the skill that the files make. Raises SkillError when they make none.

    Every path is plain and unlike the others on every system, and SKILL.md can be read.
    """
    taken = FilePaths()
    for path in sorted(files):
        if checked_path(path) != path:
            raise InstallRefused(f"{path!r} is no plain path", path=shown, code="install_path")
        taken.add_file(path)
    if "SKILL.md" not in files:
        raise InstallRefused("there is no SKILL.md", path=shown, code="install_no_skill")
    text = decode(files["SKILL.md"], shown)
    return parse_document(Document(shown), text, strict=False, limits=limits).skill


def place(
    files: Mapping[str, bytes],
    into: str,
    name: str,
    *,
    executable: Collection[str] = (),
    installed_hash: str | None = None,
) -> Placed:
    """Write a skill's files to the folder ``name`` in ``into``, which is made where it is missing.

    ``installed_hash`` is the folder hash that a lock has of what is there: only that is replaced.
    The files have passed :func:`check_files`. Raises InstallRefused, SkillIoError.
    """
    target = os.path.join(into, name)
    new_hash, digest = folder_hash(files), content_digest(files)
    listed = tuple(sorted(files))
    try:
        os.makedirs(into, exist_ok=True)
        with alone(into):
            _restore(into, name)
            there = _hash_there(target)
            if there == new_hash:
                return Placed(target, "unchanged", listed, new_hash, digest)
            if there is not None and there != installed_hash:
                raise InstallRefused(
                    "the folder holds something else than what was installed",
                    path=target,
                    code="install_edited",
                    hint="keep your changes elsewhere or remove the folder, then add it again",
                )
            beside = tempfile.mkdtemp(prefix=f"{BESIDE}{name}-", dir=into)
            try:
                _write_all(beside, files, frozenset(executable))
                _swap(beside, target, os.path.join(into, f"{BEFORE}{name}"))
            finally:  # what it is by now: nothing, what was not put in the place, or what was there
                shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise SkillIoError(
            f"cannot write: {error.strerror or error}",
            path=error.filename or target,
            code="install_unwritable",
            hint="check that the folder may be written and that there is room",
        ) from None
    return Placed(target, "added" if there is None else "replaced", listed, new_hash, digest)


def _hash_there(target: str) -> str | None:
    """Return the hash of what is in the place; None where nothing is."""
    if os.path.islink(target):
        raise InstallRefused(
            "the place is a link",
            path=target,
            code="install_link",
            hint="remove the link, or name another folder with --into",
        )
    if not os.path.lexists(target):
        return None
    if not os.path.isdir(target):
        raise InstallRefused("a file is in the place", path=target, code="install_file")
    return folder_hash_of(target)


def _write_all(folder: str, files: Mapping[str, bytes], executable: frozenset[str]) -> None:
    folders = {folder}
    for path, data in sorted(files.items()):
        target = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        folders.add(os.path.dirname(target))
        handle = create_exclusive(target, 0o755 if path in executable else 0o644)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    os.chmod(folder, 0o755)
    for each in sorted(folders):
        sync_folder(each)


@contextmanager
def alone(into: str) -> Iterator[None]:
    """Let no other run of this user write to an existing folder meanwhile.

    The lock file lies in the user's cache, not in the folder, which others look through. Where it
    cannot be made or locked (some network file systems lock nothing) the work is done without it.
    """
    name = sha256(os.fsencode(os.path.normcase(os.path.realpath(into)))).hex()[:24]
    folder = os.path.join(cache_folder(), "locks")
    with ExitStack() as held:
        with suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            held.enter_context(file_lock(os.path.join(folder, f"{name}.lock"), timeout_s=None))
        yield


def _swap(beside: str, target: str, before: str) -> None:
    """Put the new folder in the place of the old one, which is kept until that is on the disk."""
    into = os.path.dirname(target)
    if not os.path.lexists(target):
        rename_folder(beside, target)
        sync_folder(into)
        return
    if _exchanged(beside, target):
        sync_folder(into)
        return
    rename_folder(target, before)
    try:
        rename_folder(beside, target)
    except OSError:
        rename_folder(before, target)
        raise
    sync_folder(into)
    shutil.rmtree(before, ignore_errors=True)


def _exchanged(one: str, other: str) -> bool:
    """Let two folders change places in one step; False where the system or the disk cannot."""
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, AttributeError, OSError, TypeError):  # no ctypes, no such call, Windows
        return False
    done = call(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE)
    return bool(done == 0)


def _restore(into: str, name: str) -> None:
    """Mend what a stopped run left: the old folder goes back where the new one is not there."""
    before, target = os.path.join(into, f"{BEFORE}{name}"), os.path.join(into, name)
    if os.path.isdir(before):
        if os.path.lexists(target):
            shutil.rmtree(before, ignore_errors=True)
        else:
            rename_folder(before, target)
    for left in os.listdir(into):
        # What follows the last hyphen is random: `a` must not take what belongs to `a-b`.
        if left.rpartition("-")[0] == f"{BESIDE}{name}":
            shutil.rmtree(os.path.join(into, left), ignore_errors=True)
