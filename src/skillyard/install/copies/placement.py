"""Writes, replaces and removes the folders of a skill: all or none, and never over local changes.

New files are checked and staged beside the target. What lies in the target is moved aside, compared
once more, and the stage is renamed to its place; an empty folder aside stands for nothing. The lock
file is written last, and then what is aside is deleted. One run at a time writes to a folder.

Whatever is aside when a run begins was left by a stopped one, and the lock file says how to end
that. A replacement that is not in the lock is undone. A removal is completed once its entry is
gone, and is undone before. The user's own records say which digests the run expected: what has
another one was edited since, and stays or goes to the backups. So does what is aside when
somebody's folder took its place.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from skillyard.base.errors import SkillIoError
from skillyard.base.io.files import (
    create_exclusive,
    refuse_link,
    rename_folder,
    sha256,
    sync_folder,
)
from skillyard.base.io.folder_manifest import FolderManifest, executable_digest, manifest_of
from skillyard.base.shapes.installation import RemovedFolder
from skillyard.base.text import folder_name
from skillyard.engine.formats.agentskills import SkillText, parse_document
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.skill import Skill
from skillyard.install.copies.file_paths import FilePaths, checked_path
from skillyard.install.copies.folder_hash import FOLDERS_LEFT_OUT
from skillyard.install.copies.installed import (
    LIMITS,
    NOTHING,
    Installed,
    InstallRefused,
    check_installed,
    forget_written,
    manifest_at,
    note_installed,
    note_written,
    written_digest,
)
from skillyard.install.copies.lockfile import LockedSkill, ProjectLock, alone

_BESIDE = ".skillyard-new-"
"""Prefix of folders that are being written or deleted; the next run deletes leftovers."""
_ASIDE = ".skillyard-swap-"
"""Prefix of the folder that is aside."""


class Placed(NamedTuple):
    """The result of writing a skill."""

    folder: str
    state: str
    """``added``, ``replaced`` or ``unchanged``."""


def content_digest(files: Mapping[str, bytes]) -> str:
    """Return a digest of a skill over the path, length and digest of each of its files."""
    listed = b"".join(
        f"{path}\0{len(files[path])}\0{sha256(files[path]).hex()}\n".encode()
        for path in sorted(files)
    )
    return f"sha256:{sha256(listed).hex()}"


def check_files(files: Mapping[str, bytes], shown: str) -> Skill:
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
    return parse_document(SkillText(shown), text, strict=False).skill


def place_copies(
    files: Mapping[str, bytes],
    folders: Sequence[str],
    name: str,
    lock: ProjectLock,
    *,
    executable: Collection[str] | None = (),
    installed: Installed = NOTHING,
    entry: LockedSkill | None = None,
    check: Callable[[], None] | None = None,
    dry_run: bool = False,
) -> list[Placed]:
    """Write a skill's files to the folder ``name`` in each of ``folders``, all or none.

    Missing folders are created. An existing folder ``name`` is replaced only if it is what
    ``installed`` says. ``executable`` is None where it is not known which files are: none is made
    so, and a folder that has the files stays. ``entry`` is noted in ``lock`` once the files are in
    place. ``check`` is called before anything is written, when no other run can change the folders,
    and may raise. ``dry_run`` writes nothing. The files must have passed :func:`check_files`.
    Raises InstallRefused, SkillIoError.
    """
    compared = _compared_digests(files, executable)
    if dry_run:
        return _placed([_copy(into, name, compared, installed) for into in folders])
    with _exclusive(folders, name, lock, check, "write"):
        copies = [_copy(into, name, compared, installed) for into in folders]
        replaced = [copy for copy in copies if not copy.is_new]
        new = _replace(replaced, name, files, frozenset(executable or ()), entry, lock)
        # One that has the same files is somebody else's where nothing was installed.
        noted = {copy.target: copy.there for copy in copies if installed != NOTHING}
        noted |= {copy.target: there for copy, there in zip(replaced, new, strict=True)}
        for target, there in noted.items():
            if there is not None:
                note_installed(target, there, places=noted)
        for copy in replaced:
            _discard(copy.into, name)
    return _placed(copies)


def remove_copies(
    folders: Sequence[str],
    entry: LockedSkill,
    lock: ProjectLock,
    *,
    backup: bool,
    check: Callable[[], None],
    unlink: Callable[[], None],
) -> list[RemovedFolder]:
    """Remove the folder of an entry from each of ``folders``, and the entry from the lock.

    With ``backup`` a folder with local changes is moved to a backup; otherwise it is refused and
    nothing is removed. ``check`` is as in :func:`place_copies`. ``unlink`` removes links to the
    folders and is called once they are gone; the next run does that for a stopped one. Raises
    InstallRefused, SkillIoError.
    """
    name = folder_name(entry.name)
    with _exclusive(folders, name, lock, check, "remove"):
        copies = [_removed(into, name, Installed.by(entry), backup=backup) for into in folders]
        with _undone_on_failure(folders, name, lock):
            for copy in copies:
                if copy.there is not None:
                    old = "" if copy.is_edited else copy.digest
                    take_aside(copy.into, name, copy.there, old=old)
            lock.drop(entry.name)
        unlink()
        return [_delete(copy) for copy in copies if copy.there is not None]


@contextmanager
def _exclusive(
    folders: Sequence[str],
    name: str,
    lock: ProjectLock,
    check: Callable[[], None] | None,
    action: str,
) -> Iterator[None]:
    """Lock folders against other runs, and end what stopped ones left there. Raises SkillIoError.

    Folders that are missing are created to ``write``.
    """
    try:
        for into in folders if action == "write" else ():
            os.makedirs(into, exist_ok=True)
        with alone(*folders) as is_alone:
            for into in filter(os.path.isdir, folders):
                complete(into, name, lock, is_alone=is_alone)
            if check is not None:
                check()
            yield
    except OSError as error:
        raise SkillIoError(
            f"cannot {action}: {error.strerror or error}",
            path=error.filename or os.path.join(*folders[:1], name),
            code="install_unwritable",
            hint="check that the folder may be written and that there is room",
        ) from None


@contextmanager
def _undone_on_failure(folders: Iterable[str], name: str, lock: ProjectLock) -> Iterator[None]:
    """Undo what was done so far where it fails; after an interrupt the next run does that."""
    try:
        yield
    except Exception:
        for into in folders:
            with suppress(OSError, SkillIoError, InstallRefused):
                complete(into, name, lock, is_alone=False)
        raise


class _Copy(NamedTuple):
    """One folder that is to hold the files, or to be removed."""

    into: str
    name: str
    there: FolderManifest | None
    is_new: bool = False
    """It holds exactly the files already."""
    is_edited: bool = False
    """It is to be removed, and has local changes."""

    @property
    def target(self) -> str:
        return os.path.join(self.into, self.name)

    @property
    def digest(self) -> str:
        """The digest of what is there; empty when there is nothing."""
        return "" if self.there is None else self.there.digest


def _placed(copies: Iterable[_Copy]) -> list[Placed]:
    return [
        Placed(
            f"{each.into}/{each.name}",
            "unchanged" if each.is_new else "replaced" if each.there else "added",
        )
        for each in copies
    ]


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


def _removed(into: str, name: str, installed: Installed, *, backup: bool) -> _Copy:
    """Return a folder that may be removed. Raises InstallRefused for another one."""
    target = os.path.join(into, name)
    there = manifest_at(target)
    try:
        if there is not None:
            check_installed(there, target, installed)
    except InstallRefused as error:
        if backup:
            backup_folder(into)
            return _Copy(into, name, there, is_edited=True)
        raise InstallRefused(
            str(error.message),
            path=target,
            code="install_edited",
            hint="keep your changes elsewhere, or say --backup to move the folder aside",
        ) from None
    return _Copy(into, name, there)


def _replace(
    copies: Sequence[_Copy],
    name: str,
    files: Mapping[str, bytes],
    executable: frozenset[str],
    entry: LockedSkill | None,
    lock: ProjectLock,
) -> list[FolderManifest]:
    """Put the files into the place of each copy and note the entry, or do nothing of it.

    Returns the manifests of the new folders. The old ones are aside.
    """
    stages = [_beside(copy.into, name) for copy in copies]
    try:
        for stage in stages:
            os.mkdir(stage)
            _write_all(stage, files, executable)
        new = [manifest_of(stage, LIMITS) for stage in stages]
        with _undone_on_failure([copy.into for copy in copies], name, lock):
            for copy, manifest in zip(copies, new, strict=True):
                take_aside(copy.into, name, copy.there, old=copy.digest, new=manifest.digest)
            for copy, stage in zip(copies, stages, strict=True):
                rename_folder(stage, copy.target)
                sync_folder(copy.into)
            if copies and entry is not None:
                lock.note(entry)
        return new
    finally:  # absent, or a folder that was not moved into place
        for stage in stages:
            shutil.rmtree(stage, ignore_errors=True)


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


def _delete(copy: _Copy) -> RemovedFolder:
    place = None
    if copy.is_edited:
        aside = aside_of(copy.into, copy.name)
        place = move_to_backup(aside, copy.into, copy.name)
        forget_written(aside)
    else:
        _discard(copy.into, copy.name)
    forget_written(copy.target)
    return RemovedFolder(folder=copy.target, backup=place)


def aside_of(into: str, name: str) -> str:
    """Return where the folder ``name`` in ``into`` lies while it is aside."""
    return os.path.join(into, f"{_ASIDE}{name}")


def _beside(into: str, name: str) -> str:
    return os.path.join(into, f"{_BESIDE}{name}-{secrets.token_hex(4)}")


def is_stopped(into: str, name: str) -> bool:
    """True where something is aside. A link is not: a clone may hold one."""
    aside = aside_of(into, name)
    return os.path.isdir(aside) and not os.path.islink(aside)


def take_aside(
    into: str, name: str, there: FolderManifest | None, *, old: str, new: str = ""
) -> None:
    """Move a folder aside. ``there`` is what it is expected to be, None for nothing.

    ``old`` is the digest by which it may be deleted, ``new`` that of what takes its place. Raises
    OSError, and InstallRefused for a folder that is something else, which stays.
    """
    aside = aside_of(into, name)
    note_written(aside, f"{old} {new}")
    if there is None:
        os.mkdir(aside)
        return
    rename_folder(os.path.join(into, name), aside)
    sync_folder(into)
    try:
        is_same = manifest_of(aside, LIMITS) == there
    except (OSError, SkillIoError):
        is_same = False
    if not is_same:
        _give_back(into, name)
        raise InstallRefused(
            "the folder was changed meanwhile, and stays as it is",
            path=os.path.join(into, name),
            code="install_edited",
            hint="run the command again",
        )


def _give_back(into: str, name: str) -> None:
    aside = aside_of(into, name)
    if os.listdir(aside):
        rename_folder(aside, os.path.join(into, name))
    else:
        os.rmdir(aside)
    sync_folder(into)
    forget_written(aside)


def _discard(into: str, name: str) -> None:
    """Delete what is aside, so that a stopped run leaves no part of it there. Raises OSError."""
    disposable = _beside(into, name)
    rename_folder(aside_of(into, name), disposable)
    forget_written(aside_of(into, name))
    shutil.rmtree(disposable, ignore_errors=True)


def stopped_runs(into: str) -> list[str]:
    """Return the names of the folders in ``into`` at which runs were stopped or still are, sorted.

    Raises OSError.
    """
    names = set()
    for file in os.listdir(into):
        if file.startswith(_BESIDE):  # then the name, a hyphen and something random
            names.add(file.removeprefix(_BESIDE).rpartition("-")[0])
        elif file.startswith(_ASIDE):
            names.add(file.removeprefix(_ASIDE))
    return sorted(name for name in names if name and folder_name(name) == name)


def complete(into: str, name: str, lock: ProjectLock, *, is_alone: bool = True) -> None:
    """Complete or undo a stopped run.

    Where the caller could not lock ``into``, folders that are being written may be those of another
    run, and stay. Raises OSError, SkillIoError, InstallRefused.
    """
    target, aside = os.path.join(into, name), aside_of(into, name)
    for left in os.listdir(into) if is_alone else ():
        # The part after the last hyphen is random: `a` must not match the folder of `a-b`.
        if left.rpartition("-")[0] == f"{_BESIDE}{name}":
            shutil.rmtree(os.path.join(into, left), ignore_errors=True)
    if not is_stopped(into, name):
        return None
    old, _, new = (written_digest(aside) or "").partition(" ")
    entry = lock.read().in_folder(name)
    if not os.path.lexists(target) and (new or entry is not None):
        return _give_back(into, name)
    is_done = not os.path.lexists(target)
    if os.path.isdir(target) and not os.path.islink(target):
        there = manifest_of(target, LIMITS)
        if Installed.by(entry).is_at(there, target):
            note_installed(target, there)
            is_done = True
        elif there.digest == new:
            disposable = _beside(into, name)
            rename_folder(target, disposable)
            _give_back(into, name)
            return shutil.rmtree(disposable, ignore_errors=True)
    if os.listdir(aside) and not (is_done and manifest_of(aside, LIMITS).digest == old):
        move_to_backup(aside, into, name)
        return forget_written(aside)
    return _discard(into, name)


def backup_folder(into: str) -> str:
    """Return where backups of ``into`` go: ``.agents/skills-kept`` for those of ``.agents/skills``.

    Raises InstallRefused where something else is: a clone may hold a link to another place there.
    """
    plain = os.path.normpath(into)
    if os.path.islink(plain) or os.path.basename(plain) in ("", ".", ".."):
        plain = os.path.realpath(plain)
    backups = f"{plain}-kept"
    try:
        is_folder = stat.S_ISDIR(refuse_link(backups).st_mode)
    except FileNotFoundError:
        return backups
    except OSError:  # a link
        is_folder = False
    if is_folder:
        return backups
    raise InstallRefused(
        "the place of backups is a link or a file",
        path=backups,
        code="install_link",
        hint="remove it, then run the command again",
    )


def move_to_backup(folder: str, into: str, name: str) -> str:
    """Move a folder to the backups, out of where hosts look; return where.

    Raises OSError, InstallRefused.
    """
    backups = backup_folder(into)
    os.makedirs(backups, exist_ok=True)
    number = 1
    while os.path.lexists(
        place := os.path.join(backups, name if number == 1 else f"{name}-{number}")
    ):
        number += 1
    rename_folder(folder, place)
    sync_folder(backups)
    return place
