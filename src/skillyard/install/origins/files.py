"""The files of a skill in an archive at an address, or in a folder on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from skillyard.base.errors import InvalidInput, SkillError, SourceFailed
from skillyard.base.io.files import is_below, is_executable, read_regular
from skillyard.base.io.folders import entry_is_link, open_real_file, open_real_folder
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.catalog import read_catalog
from skillyard.engine.discovery.hosts import host_roots, may_read_source
from skillyard.install.copies.archives import ArchiveKind, ArchiveLimits, read_archive_tree
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.copies.lockfile import LOCAL, PROJECT_LOCK
from skillyard.install.origins.choice import ONLY_ONE, SkillChoice, choose_folder
from skillyard.install.search import SearchService
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
from skillyard.install.sources.transport import host_of, origin_of

ARCHIVE = "download"
"""The type of the source in a lock file."""
LIMITS = ArchiveLimits(
    archive_bytes=64 << 20, entries=20_000, files=10_000, total_bytes=128 << 20, file_bytes=16 << 20
)
"""An archive may hold a whole repository, of which one skill is taken."""
_ENDINGS: tuple[tuple[str, ArchiveKind], ...] = (
    (".zip", "zip"),
    (".skill", "zip"),
    (".tar.gz", "tar.gz"),
    (".tgz", "tar.gz"),
    (".tar", "tar"),
)
_REDIRECTS = {
    "https://github.com:443": (
        "https://objects.githubusercontent.com",
        "https://release-assets.githubusercontent.com",
    )
}
"""Where the downloads of a host really lie."""


def archive_kind(url: str) -> ArchiveKind | None:
    """Return what kind of archive an address names, by its path; None for anything else."""
    try:
        path = urlsplit(url).path.lower()
    except ValueError:  # not an address at all
        return None
    return next((kind for ending, kind in _ENDINGS if path.endswith(ending)), None)


async def archive_package(
    search: SearchService, url: str, choice: SkillChoice = ONLY_ONE
) -> Package:
    """Return every file of a skill in an archive. Raises SourceFailed, InvalidInput.

    The address must be public, or on a host that the settings name among their sites.
    """
    kind = archive_kind(url)
    if kind is None:
        endings = ", ".join(ending for ending, _ in _ENDINGS)
        raise SourceFailed(
            "refused", f"{shown_path(url)} names no archive", hint=f"known: {endings}"
        )
    if not {".", ".."}.isdisjoint(unquote(urlsplit(url).path).split("/")):
        raise SourceFailed(
            "refused",
            f"{shown_path(url)} has steps such as `..`, which a policy cannot compare",
            hint="write the address without them",
        )
    host = _host(search, url)
    reply = await search.transport.get(host, url, accept="*/*", max_bytes=LIMITS.archive_bytes)
    if reply.status != 200:
        raise SourceFailed("not_found", f"{url} is not there", status=reply.status)
    try:
        archived = read_archive_tree(reply.body, kind, LIMITS)
    except SkillError as error:
        raise SourceFailed("refused", f"{url}: {error.message}", hint=error.hint) from None
    by_path = {file.path: file for file in archived}
    folder = choose_folder(
        skill_folders(by_path, also="skill.md"),
        choice,
        shown=url,
        name=shown_path(urlsplit(url).path.rpartition("/")[2].partition(".")[0]),
        spelled=lambda name: f"{url}#{name}",
        read=lambda some: {
            folder: file.data
            for folder in some
            for file in archived
            if file.path in (f"{folder}/SKILL.md".lstrip("/"), f"{folder}/skill.md".lstrip("/"))
        },
    )
    inside = f"{folder}/" if folder else ""
    sizes = {path: len(file.data) for path, file in by_path.items()}
    blobs = files_beside(sizes, folder)
    if len(blobs) > WHOLE.files or sum(blob.size for blob in blobs) > WHOLE.bytes:
        what = f"the skill in {url} has more than {WHOLE.files} files or {WHOLE.bytes:,} bytes"
        raise SourceFailed("too_large", what, hint="leave out what the skill does not need")
    paths = [blob.path for blob in blobs]
    return Package(
        with_skill_file({path.removeprefix(inside): by_path[path].data for path in paths}),
        url,
        folder,
        raw_url=url,
        age_s=reply.age_s if reply.stale else 0.0,
        executable=frozenset(
            path.removeprefix(inside) for path in paths if by_path[path].executable
        ),
        source_type=ARCHIVE,
    )


def _host(search: SearchService, url: str) -> str:
    """Return the name of the host of an address in the transport."""
    origin = origin_of(url)
    for site in search.settings.sites:
        if origin_of(site) == origin:
            return f"site:{site}"
    if not origin.startswith("https:"):
        raise InvalidInput(
            f"{url} is not encrypted; use https, or add its host to sites in [sources] of your"
            " skillyard.toml"
        )
    for each in (origin, *_REDIRECTS.get(origin, ())):
        host = host_of(each, search.settings.host_tokens, named_by_user=False)
        search.transport.add_host(f"archive:{each}", host)
    return f"archive:{origin}"


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
    Raises SourceFailed, and InvalidInput for a folder of several.
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
    place = listed.linked.get(path) or os.path.join(root, *path.split("/"))
    data, status = read_regular(open_real_file(place), FILE_BYTES)
    return data, is_executable(status)
