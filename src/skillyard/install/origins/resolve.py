"""A target → the skill that it means → all of its files."""

from __future__ import annotations

import os

from skillyard.base.errors import InvalidInput, SkillNotFound, SourceFailed
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.copies.lockfile import LOCAL
from skillyard.install.git.address import parse_git_address
from skillyard.install.origins.choice import SeveralSkills, SkillChoice
from skillyard.install.origins.files import ARCHIVE, archive_package, local_package
from skillyard.install.origins.git import GitQuery, git_package, github_package, through_git
from skillyard.install.origins.target import HEAD, SkillTarget
from skillyard.install.search import FoundSkill, SearchService
from skillyard.install.search.result import found_skill
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.repository import is_repository
from skillyard.install.sources.well_known import site_source


async def find_target(search: SearchService, target: SkillTarget) -> tuple[SkillTarget, FoundSkill]:
    """Return the reading of a target whose branch is there, and its skill.

    Raises SkillNotFound, SourceFailed, and InvalidInput where it means several.
    """
    failure: SourceFailed | None = None
    for reading in target.readings():
        try:
            return reading, await _find_skill(search, reading)
        except SourceFailed as error:
            failure = failure or error
            if error.code != "not_found":
                break
    assert failure is not None
    raise failure


async def _find_skill(search: SearchService, target: SkillTarget) -> FoundSkill:
    choice = SkillChoice(target.skill_id, target.path or None)
    if target.kind == "github":
        return await _on_github(search, target, choice)
    if target.kind == "git" and target.address is not None:
        query = GitQuery(target.address, target.source_type, target.ref, choice)
        package = await git_package(search.settings, query)
        return _found(target.address.shown, target.address.name, package)
    if target.kind == "archive":
        package = await archive_package(search, target.site, choice)
        return _found(target.site.partition("://")[2], "", package)
    if target.kind == "folder":
        package = local_package(target.path, SkillChoice(target.skill_id))
        return _found("local", package.source.rpartition("/")[2], package)
    if target.kind == "site":
        return await _on_site(search, target)
    try:
        return await search.find(target.name)
    except (SkillNotFound, SourceFailed) as error:
        name = shown_path(target.name)
        if os.path.isdir(target.name):
            here = f"a folder of this name is here: `skillyard add ./{name}` adds it"
            raise InvalidInput(f"no source answers with a skill {name!r}; {here}") from None
        if isinstance(error, SkillNotFound):
            error.hint = error.hint or f"`skillyard search {name}` finds similar ones"
        raise


def _found(source: str, name: str, package: Package) -> FoundSkill:
    """Return the skill of a package. ``name`` is that of the whole, for a skill at its root."""
    skill_id = package.path.rpartition("/")[2] or name.rpartition("/")[2] or "skill"
    hit = Hit(source, skill_id, package.source_type or "github", path=package.path)
    return found_skill(hit, package, (hit.found_by,))


async def _on_github(search: SearchService, target: SkillTarget, choice: SkillChoice) -> FoundSkill:
    repository = target.source
    try:
        package = await github_package(search, repository, choice, target.ref)
    except SourceFailed as error:
        if error.code != "not_found" or target.ref == HEAD or target.skill_id:
            raise
        hint = f"{error.hint}; a skill is named by {repository}#{target.ref}".lstrip("; ")
        raise SourceFailed("not_found", error.what, hint=hint, status=error.status) from None
    return _found(repository, repository, package)


async def _on_site(search: SearchService, target: SkillTarget) -> FoundSkill:
    """Return a skill of a site that the command line named: it must be a public one."""
    url = target.site
    source = site_source(search.transport, search.settings, url)
    listed = await source.list_skills(url)
    if not target.skill_id and len(listed) != 1:
        skills = {hit.name: hit.description for hit in listed}
        raise SeveralSkills(f"{url} lists", skills, lambda name: f"{url}#{name}")
    for hit in listed:
        if target.skill_id in ("", hit.name):
            return found_skill(hit, await source.fetch(hit, whole=True), (source.name,))
    raise SkillNotFound(target.skill_id, [hit.name for hit in listed[:3]])


async def whole_package(search: SearchService, result: FoundSkill, ref: str) -> Package:
    """Return every file of a skill: from GitHub at a commit if possible, else as fetched.

    ``ref`` is a branch or tag, or the commit that a lock file pins.
    """
    hit = result.hit
    fetched = result.package
    if fetched is not None and (fetched.commit or fetched.source_type in (ARCHIVE, LOCAL)):
        is_file = fetched.source_type in (ARCHIVE, LOCAL)
        if is_file or ref in (HEAD, fetched.ref, fetched.commit):
            return fetched  # only what was read whole has a commit
    if fetched is not None and fetched.source_type:  # the same at another commit
        choice = SkillChoice(path=fetched.path)
        query = GitQuery(parse_git_address(fetched.source), fetched.source_type, ref, choice)
        return await git_package(search.settings, query)
    failure: SourceFailed | None = None
    if is_repository(hit.source):
        try:
            return await GitHub(search.transport).package(hit, ref=ref, whole=True)
        except SourceFailed as error:
            failure = error
        path = hit.path if fetched is None else fetched.path
        try:
            choice = SkillChoice(hit.id if path is None else "", path)
            return await through_git(search.settings, hit.source, choice, ref, failure)
        except SourceFailed as error:
            failure = error
    for source in search.sources:
        if source.name in result.found_by:
            try:
                return await source.fetch(hit, whole=True)
            except SourceFailed as error:
                failure = error
    if result.package is not None and not is_repository(hit.source):
        return result.package
    raise failure or SourceFailed("not_found", f"no source has {hit.key}")
