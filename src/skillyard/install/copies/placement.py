"""Write a skill's files to a folder: all or none, and never over local changes.

The files are checked and written beside the target. An existing folder is replaced only when it is
exactly what was installed: it is moved aside, compared once more, and the new one is renamed to its
place. The lock file is written last, and then the folder that is aside is deleted. One run at a
time writes to a folder. The next run completes or undoes an interrupted one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import create_exclusive, rename_folder, sync_folder
from skillyard.base.io.folder_manifest import FolderManifest, executable_digest, manifest_of
from skillyard.base.io.sha256 import sha256
from skillyard.base.limits import DEFAULT_LIMITS, Limits
from skillyard.engine.formats.agentskills import SkillText, parse_document
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.skill import Skill
from skillyard.install.copies.file_paths import FilePaths, checked_path
from skillyard.install.copies.folder_hash import FOLDERS_LEFT_OUT, folder_hash
from skillyard.install.copies.installed import (
    LIMITS,
    NOTHING,
    Installed,
    InstallRefused,
    check_installed,
    manifest_at,
    note_installed,
)
from skillyard.install.copies.lock_entries import LockedSkill
from skillyard.install.copies.project_lock import ProjectLock, alone
from skillyard.install.copies.recovery import (
    beside_of,
    complete,
    discard,
    give_back,
    is_stopped,
    move_to_backup,
    note_change,
    take_aside,
)


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
    return parse_document(SkillText(shown), text, strict=False, limits=limits).skill


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
    place. ``check`` is called before anything is written, when no other run can change the folders,
    and may raise. The files must have passed :func:`check_files`. Raises InstallRefused,
    SkillIoError.
    """
    compared = _compared_digests(files, executable)
    try:
        for into in folders:
            os.makedirs(into, exist_ok=True)
        with alone(*folders) as is_alone:
            for into in folders:
                complete(into, name, lock, is_alone=is_alone)
            if check is not None:
                check()
            copies = [_copy(into, name, compared, installed) for into in folders]
            replaced = [copy for copy in copies if not copy.is_new]
            new = _replace(replaced, files, frozenset(executable or ()), entry, lock)
            # One that has the same files is somebody else's where nothing was installed.
            noted = {copy.target: copy.there for copy in copies if installed != NOTHING}
            noted |= {copy.target: there for copy, there in zip(replaced, new, strict=True)}
            for target, there in noted.items():
                if there is not None:
                    note_installed(target, there, places=noted)
            for copy in replaced:
                discard(copy.into, name)
    except OSError as error:
        raise SkillIoError(
            f"cannot write: {error.strerror or error}",
            path=error.filename or os.path.join(folders[0], name),
            code="install_unwritable",
            hint="check that the folder may be written and that there is room",
        ) from None
    return _placed(copies, files)


def preview_copies(
    files: Mapping[str, bytes],
    folders: Sequence[str],
    name: str,
    installed: Installed = NOTHING,
    *,
    executable: Collection[str] | None = (),
) -> list[Placed]:
    """Return what :func:`place_copies` would do, without writing. Raises what that raises."""
    compared = _compared_digests(files, executable)
    return _placed([_copy(into, name, compared, installed) for into in folders], files)


def _placed(copies: Iterable[_Copy], files: Mapping[str, bytes]) -> list[Placed]:
    listed, new_hash, digest = tuple(sorted(files)), folder_hash(files), content_digest(files)
    return [
        Placed(f"{each.into}/{each.name}", each.state, listed, new_hash, digest) for each in copies
    ]


class _Copy(NamedTuple):
    """One folder that is to hold the files."""

    into: str
    name: str
    there: FolderManifest | None
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
    lock: ProjectLock | None,
) -> list[FolderManifest]:
    """Put the files into the place of each copy and note the entry, or do nothing of it.

    Returns the manifests of the new folders. The old ones are aside.
    """
    written = [beside_of(copy.into, copy.name) for copy in copies]
    new: list[FolderManifest] = []
    try:
        for beside in written:
            os.mkdir(beside)
            _write_all(beside, files, executable)
        new = [manifest_of(beside, LIMITS) for beside in written]
        for copy, manifest in zip(copies, new, strict=True):
            note_change(copy.into, copy.name, copy.digest, manifest.digest)
            take_aside(copy.into, copy.name, copy.there)
        for copy, beside in zip(copies, written, strict=True):
            rename_folder(beside, copy.target)
            sync_folder(copy.into)
        if copies and entry is not None and lock is not None:
            lock.note(entry)
        return new
    except Exception:  # after an interrupt the next run undoes this one
        for copy, beside in zip(copies, written, strict=True):
            if is_stopped(copy.into, copy.name) and not os.path.lexists(beside):
                if manifest_of(copy.target, LIMITS) in new:
                    rename_folder(copy.target, beside)
                else:  # somebody saved a file to it
                    move_to_backup(copy.target, copy.into, copy.name)
            give_back(copy.into, copy.name)
        raise
    finally:  # absent, or a folder that was not moved into place
        for beside in written:
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
