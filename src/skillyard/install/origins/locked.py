"""Fetched files → an entry of the lock file; an entry → the files it pins, or newer ones.

A lock file comes with a clone and is untrusted. What it may name: repositories of GitHub; sites
and archives on the public internet; git as ``git.address.check_locked`` says; folders of its
repository, and others of this machine that the user added. Only one with a SKILL.md is read.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from shlex import quote
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from skillyard.base.errors import InvalidInput, SkillyardError, SourceFailed
from skillyard.base.io.folder_manifest import executable_digest
from skillyard.base.text import folder_name
from skillyard.engine.discovery.hosts import may_read_source
from skillyard.install.copies.file_paths import checked_path, name_in_shell, shown_path
from skillyard.install.copies.folder_hash import folder_hash, tree_hash
from skillyard.install.copies.lockfile import LOCAL, LockedSkill, is_path, source_folder
from skillyard.install.copies.placement import content_digest
from skillyard.install.git.address import check_ref, parse_git_address
from skillyard.install.origins.choice import (
    SkillChoice,
    SkillGone,
    folders_called,
    folders_named,
    only_folder,
)
from skillyard.install.origins.files import ARCHIVE, archive_package, local_package
from skillyard.install.origins.git import GitQuery, locked_git_package, skill_files, through_git
from skillyard.install.search import SearchService
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.repository import PLACES, SKILL_FILE, is_repository, skill_folder
from skillyard.install.sources.transport import host_name
from skillyard.install.sources.well_known import site_source

GIT = ("git", "gitlab")
_SURROGATE = re.compile("[\ud800-\udfff]")


def locked_skill(name: str, hit: Hit, package: Package, ref: str | None) -> LockedSkill:
    """Return the entry of the lock file for fetched files. ``ref`` is the branch or tag named.

    The source of a local skill is absolute; ``ProjectLock`` makes it portable.
    """
    kind = package.source_type or ("github" if is_repository(hit.source) else "well-known")
    path = f"{package.path}/SKILL.md".lstrip("/")
    # What a registry kept of a repository has no commit, and does not say which folder it was.
    has_path = kind in (ARCHIVE, *GIT) or (kind == "github" and bool(package.path + package.commit))
    ref = package.ref or ref
    source = {
        "github": hit.source,
        "well-known": package.raw_url,
        LOCAL: package.url,
    }.get(kind, package.source)
    return LockedSkill(
        name,
        source,
        kind,
        source_url=source if kind in GIT else None,
        ref=None if ref == "HEAD" or kind not in ("github", *GIT) else ref,
        skill_path=path if has_path else None,
        computed_hash=folder_hash(package.files),
        well_known_digest=hit.digest or None,
        commit=package.commit or None,
        digest=content_digest(package.files),
        executable_digest=_modes(package),
    )


def user_entry(entry: LockedSkill, package: Package) -> LockedSkill:
    """Return the entry of fetched files as the user's lock has it.

    It always has an address and, instead of the folder hash, the name of git's tree for GitHub.
    """
    address = f"https://github.com/{entry.source}.git" if entry.source_type == "github" else ""
    return replace(
        entry,
        source_url=entry.source_url or address or entry.source,
        computed_hash=None,
        skill_folder_hash=_user_hash(entry, package),
    )


def _user_hash(entry: LockedSkill, package: Package) -> str:
    """Return the hash of the user's lock; empty where files of the tree were left out."""
    if entry.source_type != "github":
        return folder_hash(package.files)
    return "" if package.skipped else tree_hash(package.files, package.executable or ())


async def locked_package(
    search: SearchService, locked: LockedSkill, *, pinned: bool, folder: str = "."
) -> Package:
    """Return every file of a locked skill.

    ``pinned`` asks for the commit of the entry, else for the newest of its branch or tag. Where the
    source has no commits (sites, archives, folders), the newest comes in both cases: compare the
    digest. ``folder`` is that of the lock file, which local sources are relative to. Raises
    SourceFailed, and InvalidInput for a kind of source that is not supported.
    """
    fetch = _FETCH.get(locked.source_type)
    if fetch is None:
        known = ", ".join(_FETCH)
        raise InvalidInput(
            f"{locked.name} is from a source of the kind {locked.source_type!r}, which is not"
            f" supported (known: {known})"
        )
    ref = (locked.commit if pinned else None) or locked.ref or "HEAD"
    for text in filter(None, (locked.source, locked.source_url, locked.skill_path)):
        if not is_path(text) or (locked.source_type != LOCAL and _SURROGATE.search(text)):
            raise _refused(locked, f"{shown_path(text)!r} is not an address or a path")
    try:
        check_ref(ref)
        # Locks that were written on Windows may contain backslashes; the installer accepts both.
        checked_path((locked.skill_path or SKILL_FILE).replace("\\", "/"))
    except SkillyardError as error:
        raise _refused(locked, str(error)) from None
    try:
        return await fetch(_Request(search, locked, ref, folder, None if pinned else locked))
    except SkillGone:
        raise
    except SourceFailed as error:
        if pinned or error.code not in ("not_found", "denied"):
            raise
        # It may be gone, or only not to be read from here: the answers are the same.
        drops = f"if it is gone, `skillyard remove {name_in_shell(locked.name)}` drops the skill"
        hint = f"{error.hint}; {drops}" if error.hint else drops
        raise SourceFailed(error.code, error.what, hint=hint, status=error.status) from error


class _Request(NamedTuple):
    """An entry, and what is asked for of its source."""

    search: SearchService
    locked: LockedSkill
    ref: str
    folder: str
    newest_of: LockedSkill | None
    """The entry, unless it is asked for what it pins."""


async def _of_github(request: _Request) -> Package:
    search, locked, ref, _, newest_of = request
    if not is_repository(locked.source):
        raise _refused(locked, "its source is not owner/repo")
    path, github = _folder(locked), GitHub(search.transport)
    name = path.rpartition("/")[2] or folder_name(locked.name)
    try:
        if newest_of is not None:
            at = await github.commit(locked.source, ref)
            now = await _folder_now(github, locked, at)
            is_renamed = locked.source in github.renamed
            source = await github.name_now(locked.source) if is_renamed else locked.source
            hit = Hit(source, now.rpartition("/")[2] or name, "github", path=now)
            return await github.package(hit, ref=at, whole=True)
        hit = Hit(locked.source, name, "github", path=path)
        return await github.package(hit, ref=ref, whole=True)
    except SkillGone:
        raise
    except SourceFailed as error:
        choice = SkillChoice("" if locked.skill_path else name, path)
        return await through_git(search.settings, locked.source, choice, ref, error, newest_of)


async def _folder_now(github: GitHub, locked: LockedSkill, commit: str) -> str:
    """Return the folder of a skill at a commit, also if it moved. Raises SourceFailed."""
    path, tree = _folder(locked), await github.tree(locked.source, commit)
    if (locked.skill_path and path in tree.folders) or tree.truncated:
        return path
    if not locked.skill_path:
        there = skill_folder(tree.folders, locked.source, folder_name(locked.name), "")
        if there is not None:
            return there
    places = folders_called(tree.folders, locked, path)
    if not places:
        texts = await skill_files(github, locked.source, commit, tree.folders)
        places = folders_named(texts, locked.name)
    return only_folder(places, locked, locked.source, commit)


async def _of_git(request: _Request) -> Package:
    search, locked, ref, _, newest_of = request
    try:
        address = parse_git_address(locked.source_url or locked.source)
    except InvalidInput as error:
        raise _refused(locked, str(error)) from None
    path = _folder(locked)
    choice = SkillChoice("", path) if locked.skill_path else SkillChoice(folder_name(locked.name))
    query = GitQuery(address, locked.source_type, ref, choice)
    query = query._replace(newest_of=newest_of if locked.skill_path else None)
    return await locked_git_package(search.settings, query)


async def _of_site(request: _Request) -> Package:
    search, locked = request.search, request.locked
    # The installer notes the host as the source, and its address beside it.
    named = locked.source_url or locked.source
    try:
        parts = urlsplit(named if "://" in named else f"https://{named}")
        host_name(named)
    except ValueError:  # InvalidInput too: this entry is wrong, and not the others
        raise _refused(locked, "its source is not a valid address") from None
    site = f"{parts.scheme}://{parts.netloc}"
    source = site_source(search.transport, search.settings, site)
    for hit in await source.list_skills(site):
        if folder_name(hit.name) == folder_name(locked.name):
            return await source.fetch(hit, whole=True)
    what = f"{site} does not list {locked.name}"
    raise SourceFailed("not_found", what) if request.newest_of is None else SkillGone(locked, what)


def repinned(locked: LockedSkill, package: Package) -> LockedSkill:
    """Return the entry of a locked skill for other files of it, where they are now.

    All other keys stay.
    """
    can_move = locked.skill_path and locked.source_type in ("github", *GIT)
    is_moved = can_move and package.path != _folder(locked)
    digest = content_digest(package.files)
    same = digest == locked.digest
    is_users = locked.skill_folder_hash is not None
    source, url = locked.source, locked.source_url
    if locked.source_type == "github" and is_repository(package.source):
        source, url = package.source, url and url.replace(source, package.source)
    return replace(
        locked,
        source=source,
        source_url=url,
        skill_path=f"{package.path}/SKILL.md".lstrip("/") if is_moved else locked.skill_path,
        computed_hash=locked.computed_hash if is_users else folder_hash(package.files),
        skill_folder_hash=_user_hash(locked, package) if is_users else None,
        well_known_digest=locked.well_known_digest if same else None,
        commit=package.commit or None,
        digest=digest,
        executable_digest=_modes(package) or (locked.executable_digest if same else None),
    )


def _modes(package: Package) -> str | None:
    """Return the digest of executable files; None where the source does not say which.

    A folder on Windows does not.
    """
    is_silent = package.source_type == LOCAL and sys.platform == "win32"
    if package.executable is None or is_silent:
        return None
    return executable_digest(package.executable & package.files.keys())


def skill_folder_of(locked: LockedSkill, folder: str) -> str | None:
    """Return the real folder of a skill on this machine that a lock in ``folder`` names.

    It may be missing. None for other sources. The installer names a folder of several skills.
    """
    place = source_folder(locked, folder)
    if place is None:
        return None
    name = folder_name(locked.name)
    if locked.skill_path:
        place = os.path.join(place, *_folder(locked).split("/"))
        if not is_path(place):
            return None
    elif not os.path.isfile(os.path.join(place, SKILL_FILE)):
        below = (os.path.join(place, *each.split("/"), name) for each in PLACES)
        there = (each for each in below if os.path.isfile(os.path.join(each, SKILL_FILE)))
        place = next(there, place)
    return os.path.realpath(place)


async def _on_this_machine(request: _Request) -> Package:
    locked, folder = request.locked, request.folder
    if locked.source.startswith(("\\\\", "//")):  # would ask a server for the file
        raise _refused(locked, "its source is a folder of another machine")
    place = os.path.realpath(source_folder(locked, folder) or "")  # a link may lead out of a clone
    skill = skill_folder_of(locked, folder) or place
    if not os.path.isfile(os.path.join(skill, SKILL_FILE)):
        skill = place
    elif may_read_source(skill, folder):
        return local_package(skill, SkillChoice(path=""))
    if not may_read_source(place, folder):
        add = f"skillyard add {quote(shown_path(skill))} --into DIR"
        outside = "" if locked.skill_folder_hash is not None else " outside of its repository,"
        raise SourceFailed(
            "refused",
            f"the lock file's entry {locked.name[:80]!a} is not read: its source is a folder"
            f"{outside} which nobody added on this machine",
            hint=f"if you know the folder, say `{add}`",
        )
    if locked.skill_path:
        return local_package(place, SkillChoice(path=_folder(locked)))
    return local_package(place, SkillChoice(folder_name(locked.name)))


def _folder(locked: LockedSkill) -> str:
    """Return the folder of the SKILL.md that an entry names; empty for the root."""
    return (locked.skill_path or "").replace("\\", "/").rpartition("/")[0]


def _refused(locked: LockedSkill, why: str) -> SourceFailed:
    return SourceFailed(
        "refused",
        f"the lock file's entry {locked.name[:80]!a} is not fetched: {why}",
        hint=f"`skillyard remove {name_in_shell(locked.name)}`, then add it from a source you know",
    )


_FETCH: Mapping[str, Callable[[_Request], Coroutine[Any, Any, Package]]] = {
    "github": _of_github,
    "gitlab": _of_git,
    "git": _of_git,
    "well-known": _of_site,
    ARCHIVE: lambda request: archive_package(
        request.search, request.locked.source, SkillChoice(path=_folder(request.locked))
    ),
    LOCAL: _on_this_machine,
}
