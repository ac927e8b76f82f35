"""The skills of a snapshot for browsing: by name, and by tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skillyard.base.text import clean_line
from skillyard.engine.catalog import Catalog
from skillyard.engine.skill import Origin, Skill
from skillyard.store.node.library import MAX_IN_MEMORY


class BrowseTag(NamedTuple):
    """A tag with its skills."""

    name: str
    """As its first skill spells it; tags are compared without case."""
    skills: Sequence[Skill]

    @property
    def key(self) -> str:
        """The name of the tag in an address."""
        return _key(self.name)


class BrowseIndex(NamedTuple):
    """The sorted contents for browsing. Built once per snapshot."""

    skills: Sequence[Skill]
    """By name, ignoring case; without copies, shadowed skills and convention documents."""
    tags: Sequence[BrowseTag]
    """Tags by number of skills, largest first, then by name."""
    by_key: Mapping[str, BrowseTag]

    def find_tag(self, tag: str) -> BrowseTag | None:
        """Return a tag by its name; None when no skill has it."""
        return self.by_key.get(_key(tag))


def browse_index_of(whole: Catalog) -> BrowseIndex | None:
    """Return the browse index of a catalog; None when there are too many skills.

    It takes some hundredths of a second for 10,000 skills.
    """
    if whole.on_demand and len(whole) > MAX_IN_MEMORY:
        return None
    sorted_skills = [skill for skill in whole.candidates if skill.origin != Origin.CONVENTION]
    sorted_skills.sort(key=lambda skill: (skill.name.casefold(), skill.name, skill.path))
    groups: dict[str, tuple[str, list[Skill]]] = {}
    for skill in sorted_skills:
        for key, name in {_key(tag): tag for tag in reversed(skill.tags)}.items():
            if key:
                groups.setdefault(key, (name, []))[1].append(skill)
    tags = [BrowseTag(name, skills) for name, skills in groups.values()]
    tags.sort(key=lambda tag: (-len(tag.skills), tag.key))
    return BrowseIndex(sorted_skills, tags, {tag.key: tag for tag in tags})


def _key(tag: str) -> str:
    return clean_line(tag).strip().casefold()
