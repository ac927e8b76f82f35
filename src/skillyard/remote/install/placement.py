"""Write a skill's files to a folder: all or none, and never over local changes.

The files are checked, written beside the target, synced, and moved there in one step. An existing
folder is replaced only when it is exactly what was installed. The removed folder is compared once
more before it is deleted, and restored when somebody wrote to it meanwhile. Where the system can
exchange two folders atomically (Linux, most file systems), a reader always sees the old or the
new folder; elsewhere two renames leave a short moment without either. One run at a time writes to
a folder. A journal beside the target lets the next run complete an interrupted one, the entry in
the lock file included.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from skillyard.errors import SkillError, SkillIoError
from skillyard.formats.agentskills import Document, parse_document
from skillyard.formats.frontmatter import decode
from skillyard.io.files import create_exclusive, is_open_for_writing, rename_folder, sync_folder
from skillyard.io.folder_manifest import Manifest, ManifestLimits, manifest_of
from skillyard.io.locks import file_lock
from skillyard.io.sha256 import sha256
from skillyard.io.user_folders import cache_folder
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.remote.install.file_paths import FilePaths, checked_path
from skillyard.remote.install.folder_hash import (
    FOLDERS_LEFT_OUT,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_FILES,
    folder_hash,
    folder_hash_of,
)
from skillyard.remote.install.journal import (
    Journal,
    is_unfinished_journal,
    read_journal,
    remove_journal,
    write_journal,
)
from skillyard.remote.install.lock_entries import LockedSkill
from skillyard.skill import Skill

__all__ = ["InstallRefused", "Placed", "alone", "check_files", "content_digest", "place"]

BESIDE = ".skillyard-new-"
"""Prefix of folders that are being written; the next run removes leftovers."""
ASIDE = ".skillyard-swap-"
"""Prefix of a folder that was moved aside, or that is about to be moved into place."""
HERE = -100
"""``AT_FDCWD``: paths are relative to the working folder."""
EXCHANGE = 2
"""``RENAME_EXCHANGE``: the two names exchange their folders."""
LIMITS = ManifestLimits(MAX_FILES, MAX_BYTES, MAX_DEPTH)
"""The largest folder that is compared with what was installed."""
SHOWN = 3
"""Number of entries that an error names."""


class InstallRefused(SkillError):
    """Raised instead of overwriting local changes, and for files that are not a skill."""

    kind = "InstallRefused"


class Placed(NamedTuple):
    """The result of writing a skill."""

    folder: str
    state: str
    """``added``, ``replaced`` or ``unchanged``."""
    files: tuple[str, ...]
    """Paths below the folder, sorted."""
    hash: str
    """The folder hash, as in lock files."""
    digest: str
    """``sha256:…`` over every path and its content."""


def content_digest(files: Mapping[str, bytes]) -> str:
    """Return a digest of a skill over the path, length and digest of each of its files."""
    listed = b"".join(
        f"{path}\0{len(files[path])}\0{sha256(files[path]).hex()}\n".encode()
        for path in sorted(files)
    )
    return f"sha256:{sha256(listed).hex()}"


def check_files(files: Mapping[str, bytes], shown: str, limits: Limits = DEFAULT_LIMITS) -> Skill:
    """Return the skill in the files. Raises SkillError when they are not a valid skill.

    Every path must be plain and distinct on every system, and SKILL.md must be valid.
    """
    paths = FilePaths()
    for path in sorted(files):
        if checked_path(path) != path:
            raise InstallRefused(f"{path!r} is not a plain path", path=shown, code="install_path")
        paths.add_file(path)
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
    installed_digest: str | None = None,
    entry: LockedSkill | None = None,
    note: Callable[[LockedSkill], None] | None = None,
) -> Placed:
    """Write a skill's files to the folder ``name`` in ``into``, which is created when missing.

    An existing folder is replaced only if it matches ``installed_hash`` and ``installed_digest``,
    the folder hash and digest of the lock. ``note`` writes a lock entry: ``entry`` once the files
    are in place, and before that the entry of an interrupted run that is completed here. The files
    must have passed :func:`check_files`. Raises InstallRefused, SkillIoError.
    """
    target = os.path.join(into, name)
    new_hash, digest = folder_hash(files), content_digest(files)
    listed = tuple(sorted(files))
    try:
        os.makedirs(into, exist_ok=True)
        with alone(into):
            noted = _complete(into, name, note)
            there = _there(target)
            if there is not None and folder_hash_of(target) == new_hash:
                return Placed(target, "unchanged", listed, new_hash, digest)
            if there is not None:
                known = noted or (installed_hash, installed_digest)
                _check_installed(there, target, *known)
            beside = tempfile.mkdtemp(prefix=f"{BESIDE}{name}-", dir=into)
            try:
                _write_all(beside, files, frozenset(executable))
                new = manifest_of(beside, LIMITS)
                journal = Journal("" if there is None else there.digest, new.digest, entry)
                write_journal(into, name, journal)
                _put(beside, into, name, there, new)
            finally:  # absent, or a folder that was not moved into place
                shutil.rmtree(beside, ignore_errors=True)
            if entry is not None and note is not None:
                note(entry)
            _discard_aside(into, name)
            remove_journal(into, name)
    except OSError as error:
        raise SkillIoError(
            f"cannot write: {error.strerror or error}",
            path=error.filename or target,
            code="install_unwritable",
            hint="check that the folder may be written and that there is room",
        ) from None
    return Placed(target, "added" if there is None else "replaced", listed, new_hash, digest)


def _there(target: str) -> Manifest | None:
    """Return the manifest of the existing folder; None when there is none."""
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
    return manifest_of(target, LIMITS)


def _check_installed(
    there: Manifest, target: str, installed_hash: str | None, installed_digest: str | None
) -> None:
    """Raise InstallRefused unless every entry of the folder is as installed.

    Without a digest the installer's folder hash is compared. It omits some entries, which then
    count as not installed.
    """
    added = there.beside_files()
    if installed_digest is not None:
        same = there.files_digest() == installed_digest
    else:
        same = installed_hash is not None and folder_hash_of(target) == installed_hash
        files = [entry.path for entry in there.of_kind("file")]
        added += [path for path in files if FOLDERS_LEFT_OUT & set(path.split("/")[:-1])]
    if same and not added:
        return
    named = ", ".join(ascii(path) for path in sorted(added)[:SHOWN])
    if named:
        more = f" and {len(added) - SHOWN} more" if len(added) > SHOWN else ""
        named = f": {named}{more}"
    raise InstallRefused(
        f"the folder holds something else than what was installed{named}",
        path=target,
        code="install_edited",
        hint="keep your changes elsewhere or remove the folder, then add it again",
    )


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
    """Lock a folder and its lock file against other runs of this user.

    The lock is a file in the user's cache, not in the folder, which other programs list. When it
    cannot be created or locked (some network file systems lack locks), the work continues without
    it.
    """
    name = sha256(os.fsencode(os.path.normcase(os.path.realpath(into)))).hex()[:24]
    folder = os.path.join(cache_folder(), "locks")
    with ExitStack() as held:
        with suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            held.enter_context(file_lock(os.path.join(folder, f"{name}.lock"), timeout_s=None))
        yield


def _put(beside: str, into: str, name: str, there: Manifest | None, new: Manifest) -> None:
    """Move a folder into place and the existing one aside; restore that if it was changed."""
    target, aside = os.path.join(into, name), os.path.join(into, f"{ASIDE}{name}")
    if there is None:
        rename_folder(beside, target)
        sync_folder(into)
        return
    rename_folder(beside, aside)
    if not _exchanged(aside, target):
        rename_folder(aside, beside)
        rename_folder(target, aside)
        try:
            rename_folder(beside, target)
        except OSError:
            rename_folder(aside, target)
            raise
    sync_folder(into)
    if _is_still(aside, there):
        return
    rescued = _put_back(into, name, new)
    remove_journal(into, name)
    raise InstallRefused(
        "the folder was changed while it was replaced, and is as it was before"
        + (f"; what was written to the new one meanwhile is in {rescued}" if rescued else ""),
        path=target,
        code="install_edited",
        hint="keep your changes elsewhere or remove the folder, then add it again",
    )


def _is_still(folder: str, there: Manifest) -> bool:
    """Return True when a folder is unchanged and nobody has a file in it open for writing."""
    paths = [os.path.join(folder, *entry.path.split("/")) for entry in there.of_kind("file")]
    if any(is_open_for_writing(path) for path in paths):
        return False
    try:
        return manifest_of(folder, LIMITS) == there
    except (OSError, SkillIoError):
        return False


def _put_back(into: str, name: str, new: Manifest) -> str:
    """Restore the folder that was moved aside; return where the new one is now, if it exists."""
    target, aside = os.path.join(into, name), os.path.join(into, f"{ASIDE}{name}")
    if os.path.lexists(target) and not _exchanged(aside, target):
        beside = tempfile.mkdtemp(prefix=f"{BESIDE}{name}-", dir=into)
        os.rmdir(beside)
        rename_folder(target, beside)
        rename_folder(aside, target)
        rename_folder(beside, aside)
    elif not os.path.lexists(target):
        rename_folder(aside, target)
    sync_folder(into)
    if not os.path.lexists(aside) or _is_still(aside, new):
        _discard_aside(into, name)
        return ""
    rescued = tempfile.mkdtemp(prefix=f"{name}-kept-", dir=into)
    os.rmdir(rescued)
    rename_folder(aside, rescued)
    return rescued


def _exchanged(one: str, other: str) -> bool:
    """Exchange two folders atomically. Returns False when the system or file system cannot."""
    try:
        import ctypes

        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, AttributeError, OSError, TypeError):  # no ctypes, no such call, Windows
        return False
    result = call(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE)
    return bool(result == 0)


def _discard_aside(into: str, name: str) -> None:
    """Rename the folder that is aside as disposable, then remove it."""
    aside = os.path.join(into, f"{ASIDE}{name}")
    if os.path.lexists(aside):
        needless = tempfile.mkdtemp(prefix=f"{BESIDE}{name}-", dir=into)
        os.rmdir(needless)
        rename_folder(aside, needless)
        shutil.rmtree(needless, ignore_errors=True)


def _complete(
    into: str, name: str, note: Callable[[LockedSkill], None] | None
) -> tuple[str | None, str | None] | None:
    """Complete an interrupted run; return folder hash and digest of the entry it recorded."""
    target, aside = os.path.join(into, name), os.path.join(into, f"{ASIDE}{name}")
    for left in os.listdir(into):
        # The part after the last hyphen is random: `a` must not match the folder of `a-b`.
        if left.rpartition("-")[0] == f"{BESIDE}{name}":
            shutil.rmtree(os.path.join(into, left), ignore_errors=True)
        elif is_unfinished_journal(left, name):
            os.unlink(os.path.join(into, left))
    journal = read_journal(into, name)
    if os.path.lexists(aside):
        _clear_aside(into, name, journal)
    if journal is None:
        return None
    noted = None
    if os.path.isdir(target) and not os.path.islink(target):
        entry = journal.entry
        if manifest_of(target, LIMITS).digest == journal.new and entry is not None:
            if note is not None:
                note(entry)
            noted = entry.computed_hash, entry.digest
    remove_journal(into, name)
    return noted


def _clear_aside(into: str, name: str, journal: Journal | None) -> None:
    """Remove the folder that an interrupted run moved aside, or restore it when needed."""
    target, aside = os.path.join(into, name), os.path.join(into, f"{ASIDE}{name}")
    left = manifest_of(aside, LIMITS).digest
    if journal is None or os.path.islink(target):
        pass
    elif not os.path.lexists(target):
        return rename_folder(aside, target)
    elif left in (journal.old, journal.new):
        return _discard_aside(into, name)
    else:  # the old folder was changed during the exchange
        new = manifest_of(target, LIMITS)
        if new.digest == journal.new:
            _put_back(into, name, new)
            return None
    raise InstallRefused(
        "a run that was stopped left a folder that is not what it wrote",
        path=aside,
        code="install_edited",
        hint="look at it, keep what you need of it, and remove it",
    )
