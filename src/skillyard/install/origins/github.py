"""Skills of repositories on GitHub: over its API, and by git where the API denies them."""

from __future__ import annotations

from asyncio import gather, get_running_loop, run_coroutine_threadsafe, to_thread
from collections.abc import Sequence

from skillyard.base.errors import SourceFailed
from skillyard.install.copies.lock_entries import LockedSkill
from skillyard.install.git.address import parse_git_address
from skillyard.install.origins.choice import MAX_REQUESTED, SkillChoice, SkillGone, choose_folder
from skillyard.install.origins.git import GitQuery, git_package
from skillyard.install.search import SearchService
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.repository import SKILL_FILE
from skillyard.install.sources.settings import Settings

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


def _spelled(repository: str, skill: str, ref: str) -> str:
    return f"{repository}/{skill}" if ref == "HEAD" else f"{repository}@{ref}#{skill}"


async def through_git(
    settings: Settings,
    repository: str,
    choice: SkillChoice,
    ref: str,
    error: SourceFailed,
    *,
    branch: str = "",
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
        query = GitQuery(address, "", ref, choice, branch, repository, newest_of)
        # No question on the terminal: a misspelled name would end in one for a password.
        package = await git_package(settings, query, may_prompt=False)
    except SkillGone:
        raise
    except SourceFailed:
        raise error from None
    note = f"GitHub's API did not give it ({error.what}); it was fetched with git"
    return package._replace(notes=(*package.notes, note))
