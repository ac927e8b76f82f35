"""The skills of a node and the index that searches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from skillyard.base.errors import IndexDamaged, InvalidInput
from skillyard.engine.catalog.counts import SkillCounts
from skillyard.engine.index.facet_terms import NAME_TERM
from skillyard.engine.index.library import Library
from skillyard.engine.index.segment_reader import EXCLUDED, TERMS
from skillyard.engine.index.segment_searcher import MASK, SHIFT, SegmentSearcher
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.skill import Skill
from skillyard.store.node.records import (
    HIDDEN,
    ID,
    NAMED,
    PATTERNS,
    SLUG,
    key_at,
    key_text,
    skill_in,
)

MAX_CACHED_SKILLS = 20_000
"""Number of cached skills: about 150 MB at the usual 7 KB each."""
MAX_CACHED_CHARACTERS = 200_000_000
"""Total size of their bodies, which bounds the memory of unusually large skills."""
MAX_IN_MEMORY = 100_000
"""Maximum number of skills that are read all together, into about a gigabyte."""
MAX_NEAR_NAMES = 3
"""Number of similar names in the error for an unknown name."""


class NodeLibrary(Library):
    """The skills of one generation of a store. Thread-safe."""

    def __init__(
        self, searcher: SegmentSearcher, table: TokenTable, before: NodeLibrary | None = None
    ) -> None:
        super().__init__(searcher, table, skill_in)
        self._characters = 0
        """Total size of the bodies of the cached skills."""
        self._unread = False
        if before is not None:
            self._copy_cache(before)

    def _copy_cache(self, before: NodeLibrary) -> None:
        """Copy the cached skills of segments that both generations share."""
        places = {segment.identity: n for n, segment in enumerate(self.searcher.segments)}
        moved = [places.get(segment.identity, -1) for segment in before.searcher.segments]
        for ordinal, skill in list(before._cache.items()):
            place, number = moved[ordinal >> SHIFT], ordinal & MASK
            if place >= 0 and number not in self.searcher.segments[place].dead:
                self._cache[place << SHIFT | number] = skill
                self._characters += len(skill.body or "")

    def __len__(self) -> int:
        return sum(s.documents - len(s.dead) for s in self.searcher.segments)

    @cached_property
    def skills(self) -> Sequence[Skill]:
        """All skills by name, then path. The first access reads them.

        Raises InvalidInput when they are too many for one process.
        """
        if len(self) > MAX_IN_MEMORY:
            raise InvalidInput(
                f"this needs all of {len(self):,} skills in memory, and a node holds"
                f" {MAX_IN_MEMORY:,} at most: search instead, with the default scorer"
            )
        return tuple(sorted(super().skills, key=lambda skill: skill.key))

    def card(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal from its record, a new object. Raises IndexDamaged."""
        try:
            return super().card(ordinal)
        except IndexDamaged:
            self._unread = True
            raise

    def skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal. Raises IndexDamaged."""
        skill = self._cache.get(ordinal)
        if skill is not None:
            return skill
        skill = self.card(ordinal)
        if len(self._cache) >= MAX_CACHED_SKILLS or self._characters >= MAX_CACHED_CHARACTERS:
            self._cache, self._characters = {}, 0
        self._characters += len(skill.body or "")
        return self._cache.setdefault(ordinal, skill)  # all threads get the same object

    @property
    def is_damaged(self) -> bool:
        """True after a read has detected damage in the index."""
        return self._unread or any(segment.is_damaged for segment in self.searcher.segments)

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill, by its path."""
        return self._ordinal_at(skill.path) if skill.stored else None

    def at(self, path: str) -> Skill | None:
        """Return the skill at a path of this store, or None."""
        ordinal = self._ordinal_at(path)
        return None if ordinal is None else self.skill(ordinal)

    def _ordinal_at(self, path: str) -> int | None:
        return self.searcher.ordinal(key_text(key_at(path)))

    def with_name(self, name: str) -> list[Skill]:
        """Return the skills with exactly this name, by path."""
        return self._skills_with(NAMED + name, lambda skill: skill.name == name)

    def with_id(self, document_id: str) -> list[Skill]:
        """Return the skills with that document id, by path."""
        return self._skills_with(ID + document_id, lambda skill: skill.id == document_id)

    def with_slug(self, slug: str) -> list[Skill]:
        """Return the skills with that slug, by path."""
        skills = [skill for skill in self.with_name(slug) if skill.slug == slug]
        skills += self._skills_with(SLUG + slug, lambda skill: skill.slug == slug != skill.name)
        return sorted(skills, key=lambda skill: skill.key)

    def near(self, name: str) -> list[str]:
        """Return up to three names that share words with this one, most similar first."""
        from skillyard.engine.analysis import STANDARD

        words = dict.fromkeys(STANDARD.terms(name))
        terms = [(NAME_TERM + word, 1.0) for word in words]
        hits = self.searcher.lexical(terms, 4 * MAX_NEAR_NAMES) if terms else []
        names = dict.fromkeys(self.skill(ordinal).name for ordinal, _ in hits)
        return list(names)[:MAX_NEAR_NAMES]

    def _skills_with(self, mark: str, is_meant: Callable[[Skill], bool]) -> list[Skill]:
        skills = [self.skill(ordinal) for ordinal in self.searcher.holders(mark) or ()]
        skills += [self.skill(ordinal) for ordinal in self._excluded_with(mark)]
        return sorted(filter(is_meant, skills), key=lambda skill: skill.key)

    def _excluded_with(self, mark: str) -> Iterator[int]:
        """Yield the ordinals of the hidden skills and conventions that have a mark.

        Postings omit excluded documents, so the forward lists of the segments with this mark are
        searched.
        """
        numbers = [segment.find(TERMS, mark) for segment in self.searcher.segments]
        for ordinal in self._excluded:
            number = numbers[ordinal >> SHIFT]
            if number >= 0:
                segment = self.searcher.segments[ordinal >> SHIFT]
                if segment.impacts(ordinal & MASK, (number,))[0]:
                    yield ordinal

    def hidden_ordinals(self) -> Iterator[int]:
        """Yield the ordinals of the skills that are only selected by an explicit call."""
        return iter(self._hidden)

    def counts(self) -> SkillCounts:
        """Count the skills by the flags of their documents, without reading them."""
        hidden = len(self._hidden)
        conventions = len(self._excluded) - hidden  # the other excluded ones are conventions
        return SkillCounts(len(self) - conventions, hidden, 0, 0, conventions)

    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return the file patterns of skills by ordinal; skills without patterns are left out."""
        return self._patterns

    @cached_property
    def _excluded(self) -> tuple[int, ...]:
        return tuple(self._ordinals_with(EXCLUDED))

    @cached_property
    def _hidden(self) -> tuple[int, ...]:
        return tuple(self._ordinals_with(HIDDEN))

    @cached_property
    def _patterns(self) -> dict[int, tuple[str, ...]]:
        return {o: self.skill(o).triggers.files for o in self._ordinals_with(PATTERNS)}

    def _ordinals_with(self, flag: int) -> Iterator[int]:
        table = bytes(bool(value & flag) for value in range(256))
        for place, segment in enumerate(self.searcher.segments):
            marks = bytes(segment.section("flags")).translate(table)
            number = marks.find(1)
            while number >= 0:
                if number not in segment.dead:
                    yield place << SHIFT | number
                number = marks.find(1, number + 1)
