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
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from skillyard.errors import SkillIoError
from skillyard.formats.agentskills import Document, parse_document
from skillyard.formats.frontmatter import decode
from skillyard.io.files import create_exclusive, rename_folder, sync_folder
from skillyard.io.folder_manifest import Manifest, executable_digest, manifest_of
from skillyard.io.sha256 import sha256
from skillyard.limits import DEFAULT_LIMITS, Limits
from skillyard.remote.install.exclusive import alone
from skillyard.remote.install.file_paths import FilePaths, checked_path
from skillyard.remote.install.folder_hash import FOLDERS_LEFT_OUT, folder_hash
from skillyard.remote.install.installed import (
    NOTHING,
    Installed,
    check_installed,
    manifest_at,
    note_installed,
)
from skillyard.remote.install.journal import NOT_WRITTEN, Journal, remove_journal, write_journal
from skillyard.remote.install.lock_entries import LockedSkill
from skillyard.remote.install.project_lock import ProjectLock
from skillyard.remote.install.recovery import complete
from skillyard.remote.install.refusal import InstallRefused
from skillyard.remote.install.swap import (
    LIMITS,
    beside_in,
    discard_aside,
    is_still,
    put,
    put_back,
)
from skillyard.skill import Skill

__all__ = [
    "Placed",
    "check_files",
    "content_digest",
    "place",
    "place_copies",
    "preview_copies",
]


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
    executable: Collection[str] | None = (),
    installed: Installed = NOTHING,
    entry: LockedSkill | None = None,
    lock: ProjectLock | None = None,
) -> Placed:
    """Write a skill's files to the folder ``name`` in ``into``. See :func:`place_copies`."""
    (placed,) = place_copies(
        files, [into], name, executable=executable, installed=installed, entry=entry, lock=lock
    )
    return placed


def place_copies(
    files: Mapping[str, bytes],
    folders: Sequence[str],
    name: str,
    *,
    executable: Collection[str] | None = (),
    installed: Installed = NOTHING,
    entry: LockedSkill | None = None,
    lock: ProjectLock | None = None,
    check: Callable[[], None] | None = None,
) -> list[Placed]:
    """Write a skill's files to the folder ``name`` in each of ``folders``, all or none.

    Missing folders are created. An existing folder ``name`` is replaced only if it is what
    ``installed`` says. ``executable`` is None where it is not known which files are: none is made
    so, and a folder that has the files stays. ``entry`` is noted in ``lock`` once the files are in
    place, and so is the entry of a stopped run that is completed here. ``check`` is called before
    anything is written, when no other run can change the folders, and may raise. The files must
    have passed :func:`check_files`. Raises InstallRefused, SkillIoError.
    """
    listed, digest, new_hash = tuple(sorted(files)), content_digest(files), folder_hash(files)
    compared = _compared_digests(files, executable)
    placed: list[Placed] = []
    own: list[_Copy] = []
    try:
        for into in folders:
            os.makedirs(into, exist_ok=True)
        with alone(*folders):
            completed = [complete(into, name, lock) for into in folders]
            if check is not None:
                check()
            for into, held in zip(folders, completed, strict=True):
                copy = _copy(into, name, compared, held or installed)
                placed.append(Placed(f"{into}/{name}", copy.state, listed, new_hash, digest))
                # One that has the same files is somebody else's where nothing was installed.
                if not copy.is_new or installed != NOTHING:
                    own.append(copy)
            places = [copy.target for copy in own]
            for copy in own:
                if copy.there is not None:  # a stopped run may replace another copy only
                    note_installed(copy.target, copy.there, places=places)
            copies = [copy for copy in own if not copy.is_new]
            new = _replace(copies, files, frozenset(executable or ()), entry)
            if copies and entry is not None and lock is not None:
                lock.note(entry)
            for copy, manifest in zip(copies, new, strict=True):
                note_installed(copy.target, manifest, places=places)
                discard_aside(copy.into, name)
                remove_journal(copy.into, name)
    except OSError as error:
        raise SkillIoError(
            f"cannot write: {error.strerror or error}",
            path=error.filename or os.path.join(folders[0], name),
            code="install_unwritable",
            hint="check that the folder may be written and that there is room",
        ) from None
    return placed


def preview_copies(
    files: Mapping[str, bytes],
    folders: Sequence[str],
    name: str,
    installed: Installed = NOTHING,
    *,
    executable: Collection[str] | None = (),
) -> list[Placed]:
    """Return what :func:`place_copies` would do, without writing. Raises what that raises."""
    listed, digest, new_hash = tuple(sorted(files)), content_digest(files), folder_hash(files)
    compared = _compared_digests(files, executable)
    return [
        Placed(f"{each.into}/{name}", each.state, listed, new_hash, digest)
        for each in (_copy(into, name, compared, installed) for into in folders)
    ]


class _Copy(NamedTuple):
    """One folder that is to hold the files."""

    into: str
    name: str
    there: Manifest | None
    is_new: bool
    """It holds exactly the files already."""

    @property
    def target(self) -> str:
        """The path of the folder."""
        return os.path.join(self.into, self.name)

    @property
    def digest(self) -> str:
        """The digest of what is there; empty when there is nothing."""
        return "" if self.there is None else self.there.digest

    @property
    def state(self) -> str:
        """What is to happen to it, as in :class:`Placed`."""
        return "unchanged" if self.is_new else "replaced" if self.there else "added"


def _compared_digests(
    files: Mapping[str, bytes], executable: Collection[str] | None
) -> tuple[str, str | None]:
    """Return the digests that a folder is compared by: of the content, and of executable files.

    The second is None where it is not known which files are executable.
    """
    compared = {
        path: data
        for path, data in files.items()
        if FOLDERS_LEFT_OUT.isdisjoint(path.split("/")[:-1])
    }
    modes = None if executable is None else executable_digest(compared.keys() & set(executable))
    return content_digest(compared), modes


def _copy(into: str, name: str, new: tuple[str, str | None], installed: Installed) -> _Copy:
    """Return a folder that may be replaced. Raises InstallRefused for another one."""
    target = os.path.join(into, name)
    there = manifest_at(target)
    digest, modes = new
    is_new = there is not None and digest in {
        each.files_digest(FOLDERS_LEFT_OUT) for each in (there, there.without_litter())
    }
    if is_new and there is not None and installed != NOTHING:  # else it is somebody else's
        is_new = modes is None or there.executable_digest(FOLDERS_LEFT_OUT) in (None, modes)
    if there is not None and not is_new:
        check_installed(there, target, installed)
    return _Copy(into, name, there, is_new)


def _replace(
    copies: Sequence[_Copy],
    files: Mapping[str, bytes],
    executable: frozenset[str],
    entry: LockedSkill | None,
) -> list[Manifest]:
    """Put the files into the place of each copy; of none when one of them cannot be replaced.

    Returns the manifests of the new folders.
    """
    written: list[str] = []
    done: list[tuple[_Copy, Manifest]] = []
    try:
        for copy in copies:
            # From now on the next run knows that the folder beside is left by a stopped one.
            write_journal(copy.into, copy.name, Journal(copy.digest, NOT_WRITTEN, entry))
            written.append(beside_in(copy.into, copy.name))
            _write_all(written[-1], files, executable)
        new = [manifest_of(beside, LIMITS) for beside in written]
        for copy, manifest in zip(copies, new, strict=True):
            write_journal(copy.into, copy.name, Journal(copy.digest, manifest.digest, entry))
        for copy, beside, manifest in zip(copies, written, new, strict=True):
            put(beside, copy.into, copy.name, copy.there, manifest)
            done.append((copy, manifest))
        return new
    except Exception as error:  # after an interrupt the next run completes this one
        for copy, manifest in reversed(done):
            _take_back(copy, manifest)
        if isinstance(error, InstallRefused):
            for copy in copies:
                remove_journal(copy.into, copy.name)
        raise
    finally:  # absent, or a folder that was not moved into place
        for beside in written:
            shutil.rmtree(beside, ignore_errors=True)


def _take_back(copy: _Copy, new: Manifest) -> None:
    """Restore a copy that was replaced, because another one cannot be."""
    if copy.there is not None:
        put_back(copy.into, copy.name, new)
        return
    if is_still(copy.target, new):
        beside = beside_in(copy.into, copy.name)
        os.rmdir(beside)
        rename_folder(copy.target, beside)
        shutil.rmtree(beside, ignore_errors=True)


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
