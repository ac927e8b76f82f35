"""A target → the skill that it means → all of its files."""

from __future__ import annotations

from skillyard.errors import InvalidInput, SkillNotFound
from skillyard.remote.origins.target import Target
from skillyard.remote.search import FoundSkill, SearchService
from skillyard.remote.search.content import read_package
from skillyard.remote.sources.github import GitHub, is_repository
from skillyard.remote.sources.host_tokens import host_of
from skillyard.remote.sources.protocol import Package, SourceFailed
from skillyard.remote.sources.repository import skill_folders
from skillyard.remote.sources.well_known import WellKnown

__all__ = ["find_skill", "whole_package"]


async def find_skill(search: SearchService, target: Target) -> FoundSkill:
    """Return the skill that a target means.

    Raises SkillNotFound, SourceFailed, and InvalidInput where it means several.
    """
    if target.site:
        return await _on_site(search, target)
    if target.source and target.skill_id:
        return await search.get(target.source, target.skill_id)
    if target.source:
        return await _only_one(search, target.source)
    return await search.find(target.name)


async def _only_one(search: SearchService, repository: str) -> FoundSkill:
    """Return the one skill of a repository. Raises InvalidInput when it holds several."""
    tree = await GitHub(search.transport).tree(repository)
    folders = skill_folders(tree.blobs)
    names = [folder.rpartition("/")[2] or repository.rpartition("/")[2] for folder in folders]
    if not names:
        raise SourceFailed("not_found", f"{repository} holds no SKILL.md")
    if len(names) > 1:
        some = ", ".join(f"{repository}/{name}" for name in names[:8])
        more = ", …" if len(names) > 8 else ""
        raise InvalidInput(f"{repository} holds {len(names)} skills; name one: {some}{more}")
    return await search.get(repository, names[0])


async def _on_site(search: SearchService, target: Target) -> FoundSkill:
    """Return a skill of a site that the command line named: it must be a public one."""
    url = target.site
    if url not in search.settings.sites:
        host = host_of(url, search.settings.host_tokens, named_by_user=False)
        search.transport.add_host(f"site:{url}", host)
    source = WellKnown(search.transport, [url])
    listed = await source.listed(url)
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
    """Return every file of a skill: from GitHub at a commit if possible, else as fetched."""
    hit = result.hit
    failure: SourceFailed | None = None
    if is_repository(hit.source):
        try:
            return await GitHub(search.transport).package(hit, ref=ref, whole=True)
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
