"""skills.sh: the marketplace's search, and its snapshots of skills.

Both shapes of search responses are read, and the documented API when there is a token. A snapshot
takes one request and no GitHub quota, so it is tried first; GitHub is the fallback.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from skillyard.base.errors import SourceFailed
from skillyard.install.copies.file_paths import checked_files, is_inside
from skillyard.install.sources.github import LFS, GitHub
from skillyard.install.sources.protocol import Hit, Package, Source
from skillyard.install.sources.repository import (
    REFERENCES,
    SKILL_FILE,
    Blob,
    chosen_files,
    is_repository,
    reference_paths,
)
from skillyard.install.sources.responses import text_in
from skillyard.install.sources.settings import Settings
from skillyard.install.sources.transport import RemoteHost, Transport

MIN_CHARACTERS = 2
"""The shortest query that the marketplace accepts."""
MAX_HITS = 100
SEARCH_FRESH_S = 60.0
SNAPSHOT_FRESH_S = 3_600.0
SNAPSHOT_BYTES = 16 * 1024 * 1024
"""The size that hosts of the Skills extension must accept (spec/peers.md §3.5)."""
MAX_INSTALLS = 10**12
MAX_CHARACTERS = 500
"""Maximum length of a text that is read."""


class SkillsSh:
    """The marketplace. Its transport knows the host ``skills.sh``."""

    name = "skills.sh"

    def __init__(self, transport: Transport, github: GitHub) -> None:
        self.transport = transport
        self.github = github

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the skills that the marketplace finds, in its order. Raises SourceFailed."""
        text = " ".join(query.split())
        if len(text) < MIN_CHARACTERS:
            return []
        documented = bool(self.transport.hosts[self.name].token)
        route = "/api/v1/skills/search" if documented else "/api/search"
        parameters = urlencode({"q": text, "limit": min(limit, MAX_HITS)})
        reply, answer = await self.transport.get_json(
            self.name,
            f"{route}?{parameters}",
            self.name,
            ["skills", "data"],
            fresh_s=SEARCH_FRESH_S,
        )
        if reply.status != 200:
            raise SourceFailed("bad_answer", f"skills.sh has no {route}", status=reply.status)
        hits = map(_hit, answer["skills" if "skills" in answer else "data"])
        return [hit for hit in hits if hit is not None][:limit]

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return a skill's files: the snapshot, else GitHub's. Raises SourceFailed."""
        try:
            return await self._snapshot(hit, references=references, whole=whole)
        except SourceFailed:
            if not is_repository(hit.source) or self.transport.offline:
                raise
            return await self.github.package(hit, references=references, whole=whole)

    async def _snapshot(self, hit: Hit, *, references: bool, whole: bool) -> Package:
        if not is_repository(hit.source) or not is_inside(hit.id):
            raise SourceFailed("not_found", f"skills.sh keeps no snapshot for {hit.source}")
        path = f"/api/download/{hit.source}/{quote(hit.id, safe='')}"
        reply, answer = await self.transport.get_json(
            self.name,
            path,
            self.name,
            ["files"],
            fresh_s=SNAPSHOT_FRESH_S,
            max_bytes=SNAPSHOT_BYTES,
        )
        if reply.status != 200:
            raise SourceFailed("not_found", f"skills.sh has no snapshot of {hit.key}", status=404)
        files, skipped = _selected_files(answer, references=references, whole=whole)
        if "SKILL.md" not in files:
            raise SourceFailed("not_found", f"the snapshot of {hit.key} holds no SKILL.md")
        return Package(
            files,
            hit.source,
            age_s=reply.age_s if reply.stale else 0.0,
            skipped=skipped,
        )


def _selected_files(
    answer: Any, *, references: bool, whole: bool
) -> tuple[dict[str, bytes], list[str]]:
    """Return the requested files of a snapshot; none for one without a SKILL.md."""
    files, skipped = checked_files(_contents(answer))
    if "SKILL.md" not in files or files["SKILL.md"].startswith(LFS):
        return {}, skipped
    if whole:
        return files, skipped
    sizes = {path: len(data) for path, data in files.items()}
    beside = reference_paths(sizes, "") if references else []
    paths, left_out = chosen_files([Blob(SKILL_FILE, 0), *beside], "", REFERENCES)
    return {path: files[path] for path in paths}, skipped + left_out


def _contents(answer: Any) -> list[tuple[str, bytes]]:
    contents = []
    for item in answer["files"]:
        if isinstance(item, dict):
            path, text = item.get("path"), item.get("contents")
            if isinstance(path, str) and isinstance(text, str):
                contents.append((path, text.encode("utf-8", "surrogatepass")))
    return contents


def _hit(item: Any) -> Hit | None:
    """Return an item of any shape as a hit; None for one that names no skill."""
    if not isinstance(item, dict):
        return None
    names = ("id", "source", "topSource", "skillId", "slug", "name", "description")
    text = {name: text_in(item.get(name), MAX_CHARACTERS) for name in names}
    source = text["source"] or text["topSource"]
    slug = text["skillId"] or text["slug"]
    if not source and "/" in text["id"]:
        source, _, slug = text["id"].rpartition("/")
    slug = slug or text["id"].rpartition("/")[2]
    if not slug or not source:
        return None
    return Hit(
        source,
        slug,
        SkillsSh.name,
        name=text["name"] or slug,
        description=text["description"],
        install_count=installs_of(item.get("installs")),
    )


def installs_of(value: Any) -> int:
    """Return a count of installs, at least 0; 0 for a value that is not a number."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip()[:15])
    if isinstance(value, float) and value == value and abs(value) < MAX_INSTALLS:
        value = int(value)
    return max(0, min(value, MAX_INSTALLS)) if type(value) is int else 0


def hosts(settings: Settings) -> dict[str, RemoteHost]:
    """Return the marketplace."""
    url, token = settings.skills_sh_url, settings.skills_sh_token
    place = "skills_sh_token in [sources] of skillyard.toml"
    return {SkillsSh.name: RemoteHost(url, token=token, token_place=place)}


def build(settings: Settings, transport: Transport) -> list[Source]:
    """Return the marketplace's source."""
    return [SkillsSh(transport, GitHub(transport))]
