"""The files of a skill in a repository at one commit: by git, or over the API of GitHub."""

from __future__ import annotations

import asyncio
from asyncio import gather, get_running_loop, run_coroutine_threadsafe, to_thread
from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from skillyard.base.errors import SourceFailed
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.copies.lockfile import LockedSkill
from skillyard.install.git.address import (
    FORGES,
    GitAddress,
    check_locked,
    is_commit,
    is_trusted,
    parse_git_address,
)
from skillyard.install.git.command import Git
from skillyard.install.git.repository import (
    GitRepository,
    GitTree,
    clear_repositories,
    is_named,
    note_named,
)
from skillyard.install.origins.choice import (
    MAX_READ,
    MAX_REQUESTED,
    ONLY_ONE,
    SkillChoice,
    SkillGone,
    choose_folder,
    folders_called,
    folders_named,
    only_folder,
)
from skillyard.install.search import SearchService
from skillyard.install.sources.addresses import public_addresses
from skillyard.install.sources.github import LFS, GitHub
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.repository import (
    FILE_BYTES,
    SKILL_FILE,
    WHOLE,
    Blob,
    chosen_files,
    files_beside,
    skill_folders,
    with_skill_file,
)
from skillyard.install.sources.settings import Settings

_T = TypeVar("_T")


class GitQuery(NamedTuple):
    """One skill of a repository."""

    address: GitAddress
    source_type: str = "git"
    """``git`` or ``gitlab``, as a lock file names it; empty for a repository of GitHub."""
    ref: str = "HEAD"
    choice: SkillChoice = ONLY_ONE
    source: str = ""
    """What the lock file calls the repository (default: its address)."""
    newest_of: LockedSkill | None = None
    """The installed skill that is looked for elsewhere if it left its folder."""


async def git_package(settings: Settings, query: GitQuery) -> Package:
    """Return every file of a skill. Raises SourceFailed, InvalidInput where several are meant."""
    if not is_named(query.address):
        clear_repositories(unused_s=settings.cache_days * 24 * 3_600)
    git = Git("", Event())
    package = await _in_thread(
        lambda: _package(GitRepository(query.address, git, offline=settings.offline), query), git
    )
    note_named(query.address)
    return package


async def locked_git_package(settings: Settings, query: GitQuery) -> Package:
    """Return the same for what a lock file names, which may come from a stranger.

    What the user of this machine named before may be locked, as long as it is in the cache. Raises
    SourceFailed, ``refused`` for an address that a lock file may not name.
    """
    address = query.address
    options: tuple[str, ...] = ()
    anonymous = False
    if not is_named(address):
        check_locked(address, settings.git_hosts)
        if not settings.offline and not is_trusted(address, settings.git_hosts):
            options = await _pinned(address)
            anonymous = address.host not in FORGES
    git = Git("", Event(), options=options, anonymous=anonymous)
    return await _in_thread(
        lambda: _package(GitRepository(address, git, offline=settings.offline), query), git
    )


async def _pinned(address: GitAddress) -> tuple[str, ...]:
    """Return the settings that make git connect to a public address of a host, and nowhere else.

    Raises SourceFailed for a host that is not on the public internet.
    """
    if address.scheme != "https":
        return ()
    port = address.port or 443
    try:
        addresses = await public_addresses(address.host.strip("[]"), port)
    except OSError as error:
        what = f"cannot resolve {address.host}: {error.strerror or error}"
        raise SourceFailed("unreachable", what, hint="check the network") from None
    if not addresses:
        raise SourceFailed(
            "refused",
            f"a lock file names {address.host}, which is not on the public internet",
            hint="if you know it, add it to git_hosts in [sources] of your skillyard.toml",
        )
    listed = ",".join(f"[{each}]" if ":" in each else each for each in addresses)
    return (f"http.curloptResolve={address.host}:{port}:{listed}", "http.followRedirects=false")


async def _in_thread(work: Callable[[], _T], git: Git) -> _T:
    """Do blocking work in a thread; when this task is cancelled, git is ended too."""
    try:
        return await asyncio.to_thread(work)
    except asyncio.CancelledError:
        git.stop.set()
        raise


def _package(repository: GitRepository, query: GitQuery) -> Package:
    address = query.address
    tree = repository.tree(query.ref)
    source = query.source or address.url
    folders = skill_folders(tree.blobs, also="skill.md")
    shown = source if query.source else address.shown
    path, locked = query.choice.path, query.newest_of

    def spelled(skill: str) -> str:
        if query.source:
            return _spelled(query.source, skill, query.ref)
        return f"{address.url}#{'' if query.ref == 'HEAD' else query.ref}@{skill}"

    if locked is not None and path is not None and path not in folders:
        places = folders_called(folders, locked, path)
        places = places or folders_named(
            _skill_files(repository, tree, folders[:MAX_READ]), locked.name
        )
        folder = only_folder(places, locked, shown, tree.commit)
    else:
        folder = choose_folder(
            folders,
            query.choice,
            shown=shown,
            name=address.name,
            spelled=spelled,
            read=lambda some: _skill_files(repository, tree, some),
        )
    files, skipped = _files(repository, tree, folder)
    inside = f"{folder}/" if folder else ""
    page = {"gitlab": "/-/tree", "": "/tree"}.get(query.source_type, "")
    is_page = page and address.scheme == "https"  # else it is not known where a person looks
    web = f"{address.url.removesuffix('.git')}{page}" if is_page else ""
    notes = []
    if not address.is_encrypted:
        notes.append(f"{address.host} was asked over {address.scheme}, which is not encrypted")
    return Package(
        files,
        source,
        folder,
        tree.commit,
        web and f"{web}/{tree.commit}/{quote(folder)}".rstrip("/"),
        skipped=skipped,
        executable=frozenset(path for path in files if inside + path in tree.executable),
        source_type=query.source_type,
        ref="" if query.ref == "HEAD" or is_commit(query.ref) else query.ref,
        notes=notes,
    )


def _skill_files(
    repository: GitRepository, tree: GitTree, folders: Sequence[str]
) -> dict[str, bytes]:
    beside = {
        path.rpartition("/")[0]: path
        for path in sorted(tree.blobs, reverse=True)
        if path.rpartition("/")[2] in ("SKILL.md", "skill.md")
    }
    paths = {folder: beside[folder] for folder in folders}
    sizes = repository.blob_sizes(tree, list(paths.values()))
    paths = {folder: path for folder, path in paths.items() if sizes[path] <= FILE_BYTES}
    contents = repository.read_blobs(tree, list(paths.values()), sum(sizes.values()))
    return dict(zip(paths, contents, strict=True))


def _spelled(repository: str, skill: str, ref: str) -> str:
    """Return how a skill of a repository on GitHub is written on the command line."""
    return f"{repository}/{skill}" if ref == "HEAD" else f"{repository}@{ref}#{skill}"


def _files(
    repository: GitRepository, tree: GitTree, folder: str
) -> tuple[Mapping[str, bytes], list[str]]:
    """Return the files of a skill by path, and what was left out. Raises SourceFailed."""
    inside = f"{folder}/" if folder else ""
    skipped = [
        f"{shown_path(path.removeprefix(inside))}: a {kind}, which is not followed"
        for kind, paths in (("link", tree.links), ("submodule", tree.submodules))
        for path in sorted(paths)
        if path.startswith(inside)
    ]
    blobs = files_beside(dict.fromkeys(tree.blobs, 0), folder)
    listed, without = chosen_files(blobs, folder, WHOLE)  # sizes are asked for these alone
    sizes = repository.blob_sizes(tree, listed)
    chosen, too_large = chosen_files([Blob(path, sizes[path]) for path in listed], folder, WHOLE)
    skipped += without + too_large
    total = sum(sizes[path] for path in chosen)
    files = {}
    for path, data in zip(chosen, repository.read_blobs(tree, chosen, total), strict=True):
        if data.startswith(LFS):
            skipped.append(f"{path.removeprefix(inside)}: kept in Git LFS, which is not asked")
        else:
            files[path.removeprefix(inside)] = data
    files = with_skill_file(files)
    if "SKILL.md" not in files:
        what = f"SKILL.md of {repository.address.shown} is too large or kept in Git LFS"
        raise SourceFailed("bad_answer", what, hint="tell the author of the skill")
    return dict(sorted(files.items())), skipped


FALLBACK = frozenset({"rate_limited", "denied", "unreachable", "timeout", "offline", "status"})
"""Failures of the API after which git is asked. Private repositories are ``not_found``."""


async def github_package(
    search: SearchService, repository: str, choice: SkillChoice, ref: str = "HEAD"
) -> Package:
    """Return every file of a skill of ``owner/repo`` at one commit.

    Raises SourceFailed, and InvalidInput where the repository holds several and none is named.
    """
    try:
        github = GitHub(search.transport)
        tree = await github.tree(repository, ref)
        loop = get_running_loop()

        def read(folders: Sequence[str]) -> dict[str, bytes]:
            texts = skill_files(github, repository, tree.ref, folders)
            return run_coroutine_threadsafe(texts, loop).result()

        folder = await to_thread(
            choose_folder,
            tree.folders,
            choice,
            shown=repository,
            name=repository.rpartition("/")[2],
            spelled=lambda name: _spelled(repository, name, ref),
            read=read,
        )
        hit = Hit(repository, folder.rpartition("/")[2], "github", path=folder)
        package = await github.package(hit, ref=ref, whole=True)
    except SourceFailed as error:
        return await through_git(search.settings, repository, choice, ref, error)
    return package._replace(ref="" if ref == "HEAD" else ref)


async def skill_files(
    github: GitHub, repository: str, ref: str, folders: Sequence[str]
) -> dict[str, bytes]:
    """Return the SKILL.md of the first folders of a repository. Raises SourceFailed."""
    paths = (f"{each}/{SKILL_FILE}".lstrip("/") for each in folders[:MAX_REQUESTED])
    texts = await gather(*(github.file(repository, ref, each) for each in paths))
    return dict(zip(folders, texts, strict=False))


async def through_git(
    settings: Settings,
    repository: str,
    choice: SkillChoice,
    ref: str,
    error: SourceFailed,
    newest_of: LockedSkill | None = None,
) -> Package:
    """Return the files by git after the API failed.

    Raises that failure where git does not have them either, or is not to be asked.
    """
    url = settings.github_git_url
    if not url and settings.github_api_url == Settings().github_api_url:
        url = "https://github.com"
    missing = error.code == "not_found" and error.status is not None
    if not url or not (missing or error.code in FALLBACK):
        raise error
    try:
        address = parse_git_address(f"{url.rstrip('/')}/{repository}.git")
        query = GitQuery(address, "", ref, choice, repository, newest_of)
        package = await git_package(settings, query)
    except SkillGone:
        raise
    except SourceFailed:
        raise error from None
    note = f"GitHub's API did not give it ({error.what}); it was fetched with git"
    return package._replace(notes=(*package.notes, note))
