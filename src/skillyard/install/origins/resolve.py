"""A target → the skill that it means → all of its files."""

from __future__ import annotations

from skillyard.base.errors import InvalidInput, SkillNotFound, SourceFailed
from skillyard.install.git.address import is_commit, parse_git_address
from skillyard.install.origins.archive import ARCHIVE, archive_package
from skillyard.install.origins.choice import SkillChoice
from skillyard.install.origins.git import (
    GitQuery,
    ReportBytes,
    git_package,
    github_package,
    through_git,
)
from skillyard.install.origins.local import local_package
from skillyard.install.origins.target import HEAD, SkillTarget
from skillyard.install.search import FoundSkill, SearchService
from skillyard.install.search.content import read_package
from skillyard.install.sources.github import GitHub
from skillyard.install.sources.protocol import Hit, Package
from skillyard.install.sources.repository import is_repository
from skillyard.install.sources.well_known import site_source


async def find_target(
    search: SearchService, target: SkillTarget, report: ReportBytes | None = None
) -> tuple[SkillTarget, FoundSkill]:
    """Return the reading of a target whose branch is there, and its skill.

    Raises what :func:`find_skill` does.
    """
    failed: SourceFailed | None = None
    for reading in target.readings():
        try:
            return reading, await find_skill(search, reading, report)
        except SourceFailed as error:
            if error.code != "not_found":
                raise failed or error from None
            failed = failed or error
    assert failed is not None
    raise failed


async def find_skill(
    search: SearchService, target: SkillTarget, report: ReportBytes | None = None
) -> FoundSkill:
    """Return the skill that a target means. ``report`` takes how many bytes git fetched.

    Raises SkillNotFound, SourceFailed, and InvalidInput where it means several.
    """
    choice = SkillChoice(target.skill_id, target.path or None)
    if target.kind == "github":
        return await _on_github(search, target, choice)
    if target.kind == "git" and target.address is not None:
        query = GitQuery(target.address, target.source_type, target.ref, choice)
        package = await git_package(search.settings, query, report=report)
        return _found(target.address.shown, target.address.name, package)
    if target.kind == "archive":
        package = await archive_package(search, target.site, choice)
        return _found(target.site.partition("://")[2], "", package)
    if target.kind == "folder":
        package = local_package(target.path, SkillChoice(target.skill_id))
        return _found("local", package.source.rpartition("/")[2], package)
    if target.kind == "site":
        return await _on_site(search, target)
    return await search.find(target.name)


def _found(source: str, name: str, package: Package) -> FoundSkill:
    """Return the skill of a package. ``name`` is that of the whole, for a skill at its root."""
    skill_id = package.path.rpartition("/")[2] or name.rpartition("/")[2] or "skill"
    hit = Hit(source, skill_id, package.source_type or "github", path=package.path)
    content = read_package(hit, package)
    skill, raw, diagnostics = content.skill, content.raw, content.diagnostics
    return FoundSkill(skill, hit, (hit.found_by,), None, package, raw, diagnostics)


async def _on_github(search: SearchService, target: SkillTarget, choice: SkillChoice) -> FoundSkill:
    """Return a skill of a repository: of a marketplace that lists it, if nothing else is named."""
    repository = target.source
    if target.ref == HEAD and target.skill_id and not target.path:
        try:
            hit = await search.get(repository, target.skill_id)
        except SourceFailed as error:
            package = await _by_own_name(search, repository, choice, error)
        else:
            if hit.skill.name == target.skill_id:
                return hit
            try:  # only its folder is called so, and another skill may have that name
                package = await github_package(search, repository, choice)
            except SourceFailed:
                return hit
            if hit.package is not None and hit.package.path == package.path:
                return hit
    else:
        try:
            package = await github_package(search, repository, choice, target.ref)
        except SourceFailed as error:
            if error.code != "not_found" or target.ref == HEAD or target.skill_id:
                raise
            hint = f"{error.hint}; a skill is named by {repository}#{target.ref}".lstrip("; ")
            raise SourceFailed("not_found", error.what, hint=hint, status=error.status) from None
    return _found(repository, repository, package)


async def _by_own_name(
    search: SearchService, repository: str, choice: SkillChoice, error: SourceFailed
) -> Package:
    """Return a skill that no source has by that id. Raises the failure that this follows."""
    try:
        if error.code == "not_found":
            return await github_package(search, repository, choice)
    except SourceFailed as again:
        raise (again if again.code == "not_found" else error) from None
    return await through_git(search.settings, repository, choice, HEAD, error)


async def _on_site(search: SearchService, target: SkillTarget) -> FoundSkill:
    """Return a skill of a site that the command line named: it must be a public one."""
    url = target.site
    source = site_source(search.transport, search.settings, url)
    listed = await source.list_skills(url)
    names = [hit.name for hit in listed]
    if not target.skill_id and len(listed) != 1:
        some = ", ".join(f"{url}#{name}" for name in names[:8])
        raise InvalidInput(f"{url} lists {len(names)} skills; name one: {some}")
    for hit in listed:
        if target.skill_id in ("", hit.name):
            package = await source.fetch(hit, whole=True)
            content = read_package(hit, package)
            return FoundSkill(
                content.skill, hit, (source.name,), None, package, content.raw, content.diagnostics
            )
    raise SkillNotFound(target.skill_id, names[:3])


async def whole_package(search: SearchService, result: FoundSkill, ref: str) -> Package:
    """Return every file of a skill: from GitHub at a commit if possible, else as fetched.

    ``ref`` is a branch or tag, or the commit that a lock file pins.
    """
    hit = result.hit
    fetched = result.package
    if fetched is not None and fetched.source_type:
        return await _again(search, fetched, ref)
    if fetched is not None and fetched.commit and fetched.notes and ref in (HEAD, fetched.ref):
        return fetched  # by git, after the API of GitHub had failed
    failure: SourceFailed | None = None
    if is_repository(hit.source):
        try:
            return await GitHub(search.transport).package(hit, ref=ref, whole=True)
        except SourceFailed as error:
            failure = error
        path = hit.path if fetched is None else fetched.path
        try:
            choice = SkillChoice(hit.id if path is None else "", path)
            # A commit is the one that the lock pins: the branch beside it stays what is noted.
            branch = HEAD if is_commit(ref) else ""
            settings = search.settings
            return await through_git(settings, hit.source, choice, ref, failure, branch=branch)
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


async def _again(search: SearchService, package: Package, ref: str) -> Package:
    """Return a package that was fetched whole, or the same skill at another commit."""
    known = (HEAD, package.ref, package.commit)
    if package.source_type in (ARCHIVE, "local") or ref in known:
        return package
    address = parse_git_address(package.source)
    choice = SkillChoice(path=package.path)
    query = GitQuery(address, package.source_type, ref, choice, branch=package.ref or HEAD)
    return await git_package(search.settings, query)
