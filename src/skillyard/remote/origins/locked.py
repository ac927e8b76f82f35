"""Fetched files → an entry of the lock file; an entry → the files it pins, or newer ones."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from skillyard.errors import InvalidInput
from skillyard.remote.install.folder_hash import folder_hash
from skillyard.remote.install.lock_entries import LockedSkill, folder_name
from skillyard.remote.install.placement import content_digest
from skillyard.remote.search import SearchService
from skillyard.remote.sources.github import GitHub, is_repository
from skillyard.remote.sources.host_tokens import host_of
from skillyard.remote.sources.protocol import Hit, Package, SourceFailed
from skillyard.remote.sources.well_known import WellKnown

__all__ = ["locked_package", "locked_skill", "repinned"]


def locked_skill(name: str, hit: Hit, package: Package, ref: str | None) -> LockedSkill:
    """Return the entry of the lock file for fetched files. ``ref`` is the branch or tag named."""
    on_github = is_repository(hit.source)
    path = f"{package.path}/SKILL.md" if package.path else "SKILL.md"
    return LockedSkill(
        name,
        hit.source if on_github else package.raw_url,
        "github" if on_github else "well-known",
        ref=None if ref == "HEAD" else ref,
        skill_path=path if on_github else None,
        computed_hash=folder_hash(package.files),
        well_known_digest=hit.digest or None,
        commit=package.commit or None,
        digest=content_digest(package.files),
    )


async def locked_package(search: SearchService, locked: LockedSkill, *, pinned: bool) -> Package:
    """Return every file of a locked skill.

    ``pinned`` asks for the commit of the entry, else for the newest of its branch or tag. Where the
    source has no commits, the newest comes in both cases: compare the digest. Raises SourceFailed,
    and InvalidInput for a kind of source that is not supported.
    """
    if locked.source_type == "github" and is_repository(locked.source):
        folder = (locked.skill_path or "").replace("\\", "/").rpartition("/")[0]
        name = folder.rpartition("/")[2] or folder_name(locked.name)
        hit = Hit(locked.source, name, "github", path=folder)
        ref = (locked.commit if pinned else None) or locked.ref or "HEAD"
        return await GitHub(search.transport).package(hit, ref=ref, whole=True)
    if locked.source_type == "well-known":
        return await _of_site(search, locked)
    raise InvalidInput(
        f"{locked.name} is from a source of the kind {locked.source_type!r}, which is not supported"
    )


async def _of_site(search: SearchService, locked: LockedSkill) -> Package:
    parts = urlsplit(locked.source)
    site = f"{parts.scheme}://{parts.netloc}"
    if site not in search.settings.sites:
        host = host_of(site, search.settings.host_tokens, named_by_user=False)
        search.transport.add_host(f"site:{site}", host)
    source = WellKnown(search.transport, [site])
    for hit in await source.listed(site):
        if folder_name(hit.name) == folder_name(locked.name):
            return await source.fetch(hit, whole=True)
    raise SourceFailed("not_found", f"{site} does not list {locked.name}")


def repinned(locked: LockedSkill, package: Package) -> LockedSkill:
    """Return the entry of a locked skill for other files of it; all other keys stay."""
    digest = content_digest(package.files)
    same = digest == locked.digest
    return replace(
        locked,
        computed_hash=folder_hash(package.files),
        well_known_digest=locked.well_known_digest if same else None,
        commit=package.commit or None,
        digest=digest,
    )
