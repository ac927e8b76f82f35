"""Reads untrusted skill archives in memory: returns every file, or refuses the archive.

Nothing is written to disk or run. Each limit is checked before or while data is decoded. An archive
that two readers could interpret differently is refused as a whole, so that the installed files are
the files that a person reviewed.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from skillyard.errors import SkillError, UnknownName
from skillyard.lookalikes import differ_by_one_letter, skeleton
from skillyard.remote.install.file_paths import (
    MAX_FOLDERS,
    MAX_PATH_BYTES,
    FilePaths,
    PathRefused,
    checked_path,
    collision_key,
    shown_path,
)

__all__ = [
    "DEFAULT",
    "KINDS",
    "ArchiveFile",
    "ArchiveKind",
    "ArchiveLimits",
    "ArchiveRefused",
    "Contents",
    "read_archive",
    "read_archive_tree",
    "refused",
]

ArchiveKind = Literal["zip", "tar", "tar.gz"]
KINDS: tuple[ArchiveKind, ...] = ("tar", "tar.gz", "zip")
SKILL_FILE = "SKILL.md"


class ArchiveFile(NamedTuple):
    """One regular file of an archive."""

    path: str
    """Relative to the skill's folder, with ``/``; validated by ``checked_path``."""
    data: bytes
    executable: bool
    """The owner's execute bit. All other mode bits, such as setuid, are dropped."""


class ArchiveLimits(NamedTuple):
    """Caps applied while an archive is read. Override with ``DEFAULT._replace(...)``."""

    archive_bytes: int = 20 << 20
    """The packed archive: 16 MiB that do not compress, and a quarter for headers."""
    entries: int = 2_048
    """Number of headers: files, their folders, and extended headers of a tar; four per file."""
    files: int = 512
    """Number of files that a host of the MCP Skills extension must accept for one skill."""
    total_bytes: int = 16 << 20
    """Total size of the files that a host of the MCP Skills extension must accept for one skill."""
    file_bytes: int = 16 << 20
    """Size of one file. The extension only limits the total, so a single file may use all of it."""
    ratio: int = 100
    """Maximum compression ratio. Of 10,476 real skill texts none exceeds 12; deflate reaches
    1,032."""
    ratio_floor_bytes: int = 1 << 20
    """Unpacked size up to which the ratio is not checked, for example for an empty log or a blank
    image."""
    folders: int = MAX_FOLDERS
    """Folders above a file; at most what ``checked_path`` allows."""
    path_bytes: int = MAX_PATH_BYTES
    """Length of one path in UTF-8; at most what ``checked_path`` allows."""
    extension_bytes: int = 65_536
    """Size of one extended header of a tar. A path uses 512 bytes; the rest is room for
    attributes."""


DEFAULT = ArchiveLimits()


class ArchiveRefused(SkillError):
    """An archive that is refused; ``code`` names the violated rule.

    ``entry`` is the name of the entry, made safe to print; empty for the archive as a whole.
    """

    kind = "ArchiveRefused"

    def __init__(self, message: str, *, entry: str = "", code: str = "", hint: str = "") -> None:
        super().__init__(message, code=code, hint=hint)
        self.entry = entry


# Code -> (problem, hint).
_REPACK = "pack the skill's folder again with an ordinary tool"
_FETCH = "fetch it again; if that does not help, the publisher has to pack it again"
_RULES = {
    "archive_not_zip": ("this is not a zip archive", "check that the address answers with a zip"),
    "archive_not_gzip": ("this is not a gzip file", "check that the address answers with a tar.gz"),
    "archive_truncated": ("it ends too early", _FETCH),
    "archive_damaged": ("it cannot be decoded", _FETCH),
    "archive_crc": ("its content does not match its checksum", _FETCH),
    "archive_header_mismatch": ("its two headers, or its headers and its data, disagree", _REPACK),
    "archive_data_before": ("there is data in front of the first entry", _REPACK),
    "archive_data_after": ("there is data behind the end of the archive", _REPACK),
    "archive_layout": ("its entries overlap or leave gaps", _REPACK),
    "archive_encrypted": ("it is encrypted", "pack it without a password"),
    "archive_multi_disk": ("it is a part of a divided archive", "pack it as one file"),
    "archive_zip64": ("it uses ZIP64, which no skill is large enough to need", _REPACK),
    "archive_feature": ("it uses a feature that plain archives do without", _REPACK),
    "archive_pax": ("its extended header changes more than a name", _REPACK),
    "archive_renamed": ("its extended header renames it without need", _REPACK),
    "archive_name_not_utf8": ("its name is not UTF-8", "rename it and pack again"),
    "archive_symlink": ("it is a symbolic link", "pack the file that it leads to"),
    "archive_hard_link": ("it is a hard link", "pack the file that it leads to"),
    "archive_device": ("it is a device", "leave it out"),
    "archive_fifo": ("it is a pipe", "leave it out"),
    "archive_special": ("it is neither a file nor a folder", "leave it out"),
    "archive_folder_data": ("it is a folder that holds data of its own", _REPACK),
    "archive_too_large": ("it is too large", "leave out what the skill does not need"),
    "archive_too_many_entries": ("it has too many entries", "pack one skill an archive"),
    "archive_too_many_files": ("it has too many files", "pack one skill an archive"),
    "archive_file_too_large": ("it is too large unpacked", "leave it out, or fetch it on demand"),
    "archive_total_too_large": (
        "its files together are too large",
        "leave out what the skill does not need",
    ),
    "archive_bomb": (
        "it is packed more densely than honest files are",
        "do not unpack it by other means either",
    ),
    "archive_path_too_long": ("its path is too long", "shorten the names of its folders"),
    "archive_path_too_deep": ("it lies too deep", "move the file closer to SKILL.md"),
    "skill_file_missing": (
        f"it has no {SKILL_FILE} at its root",
        "pack one skill an archive, its files at the top",
    ),
    "skill_file_misspelled": (
        f"its skill file is not spelled {SKILL_FILE}",
        f"rename it to {SKILL_FILE} and pack again",
    ),
}


def refused(
    code: str, entry: str = "", *, limit: int | None = None, hint: str = ""
) -> ArchiveRefused:
    """Return the error for an entry, or for the whole archive when ``entry`` is empty."""
    what, todo = _RULES[code]
    safe = shown_path(entry)
    subject = f"the archive's entry `{safe}`" if entry else "the archive"
    bound = "" if limit is None else f" (the limit is {limit:,})"
    return ArchiveRefused(
        f"refused {subject}: {what}{bound}", entry=safe, code=code, hint=hint or todo
    )


class Contents:
    """The content read from an archive so far, checked against the limits."""

    def __init__(self, limits: ArchiveLimits) -> None:
        self.limits = limits
        self._files: list[ArchiveFile] = []
        self._paths = FilePaths()
        self._entries = 0
        self._bytes = 0

    def count(self, more: int = 1) -> None:
        """Count headers before they are read. Raises ArchiveRefused."""
        self._entries += more
        if self._entries > self.limits.entries:
            raise refused("archive_too_many_entries", limit=self.limits.entries)

    def admit_folder(self, name: str) -> None:
        """Check the name of a folder. Folders are not stored. Raises ArchiveRefused."""
        if name in (".", "./"):
            return
        try:
            path = name if name == "/" else name.removesuffix("/")
            self._paths.add_folder(self._checked(path, name))
        except PathRefused as error:
            raise _of_entry(error, name) from None

    def admit_file(self, name: str, size: int) -> str:
        """Check the path and size of a file before it is decoded; return its path.

        Raises ArchiveRefused.
        """
        try:
            path = self._checked(name, name)
            self._paths.add_file(path)
        except PathRefused as error:
            raise _of_entry(error, name) from None
        if len(self._files) >= self.limits.files:
            raise refused("archive_too_many_files", name, limit=self.limits.files)
        if size > self.limits.file_bytes:
            raise refused("archive_file_too_large", name, limit=self.limits.file_bytes)
        if self._bytes + size > self.limits.total_bytes:
            raise refused("archive_total_too_large", name, limit=self.limits.total_bytes)
        return path

    def check_ratio(self, size: int, packed: int, name: str = "") -> None:
        """Raise ArchiveRefused when a compression ratio is that of a decompression bomb."""
        if size > self.limits.ratio_floor_bytes and size > self.limits.ratio * packed:
            raise refused("archive_bomb", name, limit=self.limits.ratio)

    def keep(self, path: str, data: bytes, *, executable: bool) -> None:
        """Store the content of an admitted file."""
        self._bytes += len(data)
        self._files.append(ArchiveFile(path, data, executable))

    def finish(self) -> tuple[ArchiveFile, ...]:
        """Return the files sorted by path."""
        return tuple(sorted(self._files))

    def _checked(self, path: str, name: str) -> str:
        checked = checked_path(path)
        if checked.count("/") > self.limits.folders:
            raise refused("archive_path_too_deep", name, limit=self.limits.folders)
        if len(checked.encode()) > self.limits.path_bytes:
            raise refused("archive_path_too_long", name, limit=self.limits.path_bytes)
        return checked


def _of_entry(error: PathRefused, name: str) -> ArchiveRefused:
    safe = shown_path(name)
    return ArchiveRefused(
        f"refused the archive's entry `{safe}`: {error.reason}",
        entry=safe,
        code=error.code,
        hint=error.hint,
    )


def _no_skill_file(paths: list[str]) -> ArchiveRefused:
    """Return the error for a missing skill file: misspelled, in a subfolder, or absent."""
    for path in sorted(paths):
        if "/" not in path and _like_skill_file(path):
            return refused("skill_file_misspelled", path)
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        if name == SKILL_FILE:
            return refused(
                "skill_file_missing",
                hint=f"one lies in `{shown_path(folder)}`: pack the content of that folder",
            )
    return refused("skill_file_missing")


def _like_skill_file(name: str) -> bool:
    """True for Skill.md, SKILL.MD, SKILLS.md, SKIL.md and look-alikes of SKILL.md."""
    one, two = collision_key(name), collision_key(SKILL_FILE)
    return one == two or differ_by_one_letter(one, two) or skeleton(name) == skeleton(SKILL_FILE)


def read_archive(
    data: bytes, kind: ArchiveKind, limits: ArchiveLimits = DEFAULT
) -> tuple[ArchiveFile, ...]:
    """Return the files of a packed skill, sorted by path.

    Raises ArchiveRefused as :func:`read_archive_tree` does, and for an archive without a SKILL.md
    at its root.
    """
    files = read_archive_tree(data, kind, limits)
    paths = [file.path for file in files]
    if SKILL_FILE not in paths:
        raise _no_skill_file(paths)
    return files


def read_archive_tree(
    data: bytes, kind: ArchiveKind, limits: ArchiveLimits = DEFAULT
) -> tuple[ArchiveFile, ...]:
    """Return the files of an archive, sorted by path, wherever its skills lie.

    Raises ArchiveRefused for an archive that is damaged, ambiguous, too large, or contains anything
    but plain files and folders, and UnknownName for another ``kind``.
    """
    if kind not in KINDS:
        raise UnknownName("archive kind", kind, KINDS)
    if len(data) > limits.archive_bytes:
        raise refused("archive_too_large", limit=limits.archive_bytes)
    contents = Contents(limits)
    # Imported here, because both formats import this module.
    if kind == "zip":
        from skillyard.remote.install.zips import unpack_zip

        unpack_zip(data, contents)
    else:
        from skillyard.remote.install.tars import unpack_tar, unpack_tar_gz

        (unpack_tar if kind == "tar" else unpack_tar_gz)(data, contents)
    return contents.finish()
