"""A catalog on this machine as a source: what is here already is found like everything else."""

from __future__ import annotations

from skillyard.catalog import Catalog
from skillyard.errors import SkillError
from skillyard.ranking.match import rank
from skillyard.skill import Skill
from skillyard.sources.protocol import Hit, Package, SourceFailed

__all__ = ["LocalSource"]

REFERENCES = 64


class LocalSource:
    """The skills of a catalog, found by ``hybrid``."""

    name = "local"

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

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
            for skill in (match.skill for match in rank(self.catalog, query, limit=limit))
        ]

    def _named(self, hit: Hit) -> Skill | None:
        for skill in self.catalog.candidates:
            if (skill.source or self.name) == hit.source and hit.id in (skill.slug, skill.name):
                return skill
        return None

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        """Return a skill's file and, when asked, its Markdown files. Raises SourceFailed."""
        from skillyard.resources import list_resources, read_resource

        skill = hit.skill or self._named(hit)
        if skill is None or not skill.path:
            raise SourceFailed("not_found", f"{hit.key} has no file here")
        try:
            with open(skill.path, "rb") as file:
                files = {"SKILL.md": file.read()}
            if references or whole:
                listed = [resource.path for resource in list_resources(skill)]
                if not whole:
                    listed = [path for path in listed if path.lower().endswith(".md")][:REFERENCES]
                files |= {path: read_resource(skill, path) for path in listed}
        except OSError as error:
            what = error.strerror or str(error)
            raise SourceFailed("not_found", f"{skill.path} cannot be read: {what}") from None
        except SkillError as error:
            raise SourceFailed("refused", str(error)) from None
        return Package(files, hit.source, url=skill.path, raw_url=skill.path)
