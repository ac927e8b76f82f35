"""A source in memory, as a package of somebody else would bring one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillyard.errors import SourceFailed
from skillyard.install.sources.protocol import Hit, Package
from tests.install.search.fake_search import skill_text


def hit(skill_id: str, source: str = "acme/skills", found_by: str = "memory", **more: Any) -> Hit:
    """Return a hit that is named like its id."""
    return Hit(source, skill_id, found_by, name=skill_id)._replace(**more)


class Memory:
    """Lists the hits, in their order, and gives the texts; what has no text is not found."""

    def __init__(
        self,
        hits: Sequence[Hit] = (),
        texts: Mapping[str, str | bytes | None] | None = None,
        *,
        name: str = "memory",
        search_fails: BaseException | None = None,
        fetch_fails: Mapping[str, BaseException] | None = None,
        references: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.name = name
        self.hits = tuple(one._replace(found_by=name) for one in hits)
        self.texts = texts
        self.search_fails = search_fails
        self.fetch_fails = fetch_fails or {}
        self.references = references or {}
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, limit: int) -> Sequence[Hit]:
        self.asked.append((query, limit))
        if self.search_fails is not None:
            raise self.search_fails
        return self.hits[:limit]

    async def fetch(self, hit: Hit, *, references: bool = False, whole: bool = False) -> Package:
        if hit.id in self.fetch_fails:
            raise self.fetch_fails[hit.id]
        text = self.text_of(hit)
        if text is None:
            raise SourceFailed("not_found", f"no {hit.key} here")
        files = {"SKILL.md": text if isinstance(text, bytes) else text.encode()}
        if references:
            beside = self.references.get(hit.id, {})
            files |= {path: content.encode() for path, content in beside.items()}
        return Package(files, hit.source)

    def text_of(self, hit: Hit) -> str | bytes | None:
        """Return the text of a skill; a plain one where no texts were given at all."""
        if self.texts is None:
            return skill_text(hit.id, hit.description)
        return self.texts.get(hit.id)
