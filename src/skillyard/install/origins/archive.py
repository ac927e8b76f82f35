"""The files of a skill in a zip or tar archive at an address."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from skillyard.base.errors import InvalidInput, SkillError, SourceFailed
from skillyard.base.io.sha256 import sha256
from skillyard.install.copies.archives import ArchiveKind, ArchiveLimits, read_archive_tree
from skillyard.install.copies.file_paths import shown_path
from skillyard.install.origins.choice import ONLY_ONE, SkillChoice, choose_folder
from skillyard.install.search import SearchService
from skillyard.install.sources.protocol import Package
from skillyard.install.sources.repository import (
    WHOLE,
    files_beside,
    skill_folders,
    with_skill_file,
)
from skillyard.install.sources.transport import host_of, origin_of
from skillyard.install.sources.well_known import fetch_bundle

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
    host, transport = _host(search, url), search.transport
    reply = await transport.get(host, url, accept="*/*", max_bytes=LIMITS.archive_bytes)
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
        bundle=await fetch_bundle(transport, host, url, sha256(reply.body))
        if search.settings.archive_bundles
        else None,
    )


def _host(search: SearchService, url: str) -> str:
    """Return the name of the host of an address in the transport."""
    origin = origin_of(url)
    for site in search.settings.sites:
        if origin_of(site) == origin:
            return f"site:{site}"
    if not origin.startswith("https:"):
        raise InvalidInput(
            f"{url} is not encrypted; use https, or name its host among sources.well_known.sites"
        )
    for each in (origin, *_REDIRECTS.get(origin, ())):
        host = host_of(each, search.settings.host_tokens, named_by_user=False)
        search.transport.add_host(f"archive:{each}", host)
    return f"archive:{origin}"
