"""A local catalog as a source, so that local skills appear in a federated search."""

from __future__ import annotations

import os

from skillyard.base.errors import SkillError, SourceFailed
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.catalog import Catalog
from skillyard.engine.ranking.match import Match, rank
from skillyard.engine.skill import Skill
from skillyard.install.sources.protocol import Hit, Package


class LocalSource:
    """The skills of a catalog, ranked by ``hybrid``."""

    name = "local"

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._last: tuple[Catalog, str, int, list[Match]] | None = None

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return the best skills for the query."""
        return [
            Hit(
                skill.source or self.name,
                skill.slug,
                self.name,
                name=skill.name,
                description=skill.description,
                install_count=skill.install_count,
                curated=skill.curated,
                skill=skill,
            )
            for skill in (match.skill for match in self._rank(query, limit))
        ]

    def matches(self, query: str, limit: int) -> dict[str, Match]:
        """Return the matches of the same skills in the whole catalog, by the keys of their hits."""
        return {
            f"{match.skill.source or self.name}/{match.skill.slug}".lower(): match
            for match in reversed(self._rank(query, limit))  # of one key the best stays
        }

    def _rank(self, query: str, limit: int) -> list[Match]:
        catalog, last = self.catalog, self._last
        if last is None or last[0] is not catalog or last[1:3] != (query, limit):
            last = self._last = (catalog, query, limit, rank(catalog, query, limit=limit))
        return last[3]

    def _skill_of(self, hit: Hit) -> Skill | None:
        for skill in self.catalog.candidates:
            if (skill.source or self.name) == hit.source and hit.id in (skill.slug, skill.name):
                return skill
        return None

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return a skill's file and, on request, its Markdown files. Raises SourceFailed.

        Only regular files inside the skill's real folder are read, even if the folder has changed
        since the catalog was read.
        """
        skill = hit.skill or self._skill_of(hit)
        if skill is None or not skill.path:
            raise SourceFailed("not_found", f"{hit.key} has no file here")
        files = {"SKILL.md": _main_file(skill)}
        skipped: list[str] = []
        if (references or whole) and _has_folder(skill):
            beside, skipped = _package_files(skill, whole=whole)
            files |= beside
        return Package(files, hit.source, url=skill.path, raw_url=skill.path, skipped=skipped)


def _has_folder(skill: Skill) -> bool:
    """True for a skill in a folder of its own; other documents are single files."""
    return os.path.basename(skill.path).lower() == "skill.md"


def _main_file(skill: Skill) -> bytes:
    from skillyard.engine.resources import read_file, read_resource

    try:
        if _has_folder(skill):
            return read_resource(skill, os.path.basename(skill.path))
        return read_file(skill.path, DEFAULT_LIMITS.resource_bytes).data
    except SkillError as error:
        gone = not os.path.lexists(skill.path)
        code = "not_found" if gone else "refused"
        raise SourceFailed(code, f"{skill.path} cannot be read: {error.message}") from None


def _package_files(skill: Skill, *, whole: bool) -> tuple[dict[str, bytes], list[str]]:
    """Return (the files beside SKILL.md, the left-out ones with reasons)."""
    from skillyard.engine.resources import list_resources, read_resource

    paths = [resource.path for resource in list_resources(skill)]
    if not whole:
        paths = [path for path in paths if path.lower().endswith(".md")]
    files: dict[str, bytes] = {}
    skipped: list[str] = []
    for path in paths:
        try:
            files[path] = read_resource(skill, path)
        except SkillError as error:
            skipped.append(f"{path}: {error.message}")
    return files, skipped
