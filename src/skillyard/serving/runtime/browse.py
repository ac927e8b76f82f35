"""The skills of a snapshot as people leaf through them: by name, and by tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from skillyard.catalog import Catalog
from skillyard.serving.runtime.snapshot import Snapshot
from skillyard.skill import Origin, Skill
from skillyard.store.node.library import EVERY
from skillyard.text import clean_line

__all__ = ["BrowseIndex", "BrowseTag", "browse_index_of"]


class BrowseTag(NamedTuple):
    """A tag, and the skills that carry it."""

    name: str
    """As the first of its skills spells it; capitals make no other tag."""
    skills: Sequence[Skill]

    @property
    def key(self) -> str:
        """What names the tag in an address."""
        return _key(self.name)


class BrowseIndex(NamedTuple):
    """What there is to leaf through, in order. Made once for a snapshot."""

    skills: Sequence[Skill]
    """By name, whatever its capitals; without copies, shadowed skills and convention documents."""
    tags: Sequence[BrowseTag]
    """The tag of most skills first, then by name."""
    by_key: Mapping[str, BrowseTag]

    def tagged(self, tag: str) -> BrowseTag | None:
        """Return a tag by its name, None where no skill has it."""
        return self.by_key.get(_key(tag))


def browse_index_of(snapshot: Snapshot) -> BrowseIndex | None:
    """Return the shelf of a snapshot; None where there are too many skills to be listed.

    The first who asks makes it: some hundredths of a second for 10,000 skills.
    """
    whole = snapshot.whole
    if whole.on_demand and len(whole) > EVERY:
        return None
    if snapshot.shelf is None:
        snapshot.shelf = _build_index(whole)
    return snapshot.shelf


def _build_index(whole: Catalog) -> BrowseIndex:
    listed = [skill for skill in whole.candidates if skill.origin != Origin.CONVENTION]
    listed.sort(key=lambda skill: (skill.name.casefold(), skill.name, skill.path))
    groups: dict[str, tuple[str, list[Skill]]] = {}
    for skill in listed:
        for key, name in {_key(tag): tag for tag in reversed(skill.tags)}.items():
            if key:
                groups.setdefault(key, (name, []))[1].append(skill)
    tags = [BrowseTag(name, skills) for name, skills in groups.values()]
    tags.sort(key=lambda tag: (-len(tag.skills), tag.key))
    return BrowseIndex(listed, tags, {tag.key: tag for tag in tags})


def _key(tag: str) -> str:
    return clean_line(tag).strip().casefold()
