"""A library: skills together with the index that searches them, on disk or in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from skillyard.base.arguments import set_field
from skillyard.base.errors import IndexDamaged, SkillError
from skillyard.engine.index.manifest import IndexManifest, SegmentEntry
from skillyard.engine.index.segment_reader import IndexedDocument, document_key
from skillyard.engine.index.segment_searcher import SEARCHER, SegmentSearcher
from skillyard.engine.index.token_table import TokenTable, bundled_table
from skillyard.engine.skill import SKILL_FIELDS, Reference, Skill

CARD = tuple(each.name for each in SKILL_FIELDS.values() if each.card)
"""The fields stored in the record; the others are read from the file."""
_LISTS = tuple(name for name in CARD if isinstance(SKILL_FIELDS[name].default, tuple))


class Library:
    """The skills and the index that a bound scorer uses.

    ``decode`` makes a skill of a record of the index. The keys of ``hidden`` are those of skills
    that are selected only when called by name; ``patterns`` has file patterns by key. ``prefixes``
    are what the paths below each root of an index of files begin with.
    """

    def __init__(
        self,
        searcher: SegmentSearcher,
        table: TokenTable,
        decode: Callable[[bytes], Skill],
        hidden: Iterable[str] = (),
        patterns: Mapping[str, tuple[str, ...]] | None = None,
        prefixes: Sequence[str] = (),
    ) -> None:
        self.searcher = searcher
        self.table = table
        self.prefixes = prefixes
        self._decode = decode
        self._hidden_keys = tuple(hidden)
        self._patterns_by_key = patterns or {}
        self._cache: dict[int, Skill] = {}
        self._known: dict[int, int] = {}
        """Ordinals of the cached skills by identity, set before the skill is returned."""

    @property
    def skills(self) -> Sequence[Skill]:
        """All skills: in the order of a catalog for files, else as they were given."""
        skills = tuple(map(self.skill, self.searcher.ordinals()))
        return tuple(sorted(skills, key=lambda skill: skill.key)) if self.prefixes else skills

    def skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal, the same object each time. Raises IndexDamaged."""
        skill = self._cache.get(ordinal)
        if skill is None:
            # All threads get the same object.
            skill = self._cache.setdefault(ordinal, self.card(ordinal))
            self._known[id(skill)] = ordinal
        return skill

    def peek(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal, and do not keep it. Raises IndexDamaged."""
        return self._cache.get(ordinal) or self.card(ordinal)

    def card(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal from its record, a new object. Raises IndexDamaged."""
        try:
            return self._decode(self.searcher.record(ordinal))
        except (ValueError, TypeError, LookupError):
            hint = "skillyard index build makes it anew"
            raise IndexDamaged(
                "a record cannot be read", path=self.searcher.folder, hint=hint
            ) from None

    def adopt(self, skills: Iterable[Skill]) -> None:
        """Return these skills from now on, where none of the same file was returned before."""
        for skill in skills:
            ordinal = self.ordinal(skill)
            if ordinal is not None:
                self._known[id(self._cache.setdefault(ordinal, skill))] = ordinal

    def full_skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal with its body loaded.

        Raises IndexDamaged when its file is no longer a valid skill.
        """
        skill = self.skill(ordinal)
        try:
            _ = skill.body
        except SkillError as error:
            raise IndexDamaged(
                f"a skill has changed since it was indexed: {error.message}", path=skill.path
            ) from None
        return skill

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill, or None when the index does not contain it."""
        known = self._known.get(id(skill))
        if known is not None or not self.prefixes:
            return self.searcher.ordinal(document_key(skill)) if known is None else known
        for number, prefix in enumerate(self.prefixes):
            if skill.path.startswith(prefix):
                ordinal = self.searcher.ordinal(f"{number}/{skill.path[len(prefix) :]}")
                if ordinal is not None:
                    return ordinal
        return None

    def hidden_ordinals(self) -> Iterator[int]:
        """Yield the ordinals of the skills that are selected only when called by name."""
        return self.ordinals_of(self._hidden_keys)

    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return the file patterns of skills by ordinal; skills without patterns are left out."""
        ordinals = ((self.searcher.ordinal(key), key) for key in self._patterns_by_key)
        return {each: self._patterns_by_key[key] for each, key in ordinals if each is not None}

    def ordinals_of(self, keys: Iterable[str]) -> Iterator[int]:
        """Yield the ordinals of the keys that are in the index."""
        for key in keys:
            ordinal = self.searcher.ordinal(key)
            if ordinal is not None:
                yield ordinal


def memory_library(skills: Iterable[Skill], *, include_conventions: bool = False) -> Library:
    """Return a library of skills with an index built in memory."""
    from skillyard.engine.index.document_builder import build_documents  # loads the writers

    table = bundled_table()
    # Keys break ties, so they must equal those of an index on disk.
    below: Callable[[Skill], str | None] = getattr(skills, "below", lambda _: None)
    documents, hidden, patterns = build_documents(
        skills,
        table,
        lambda place, skill: below(skill) or f"{document_key(skill)}\0{place}",
        include_conventions=include_conventions,
    )
    searcher = memory_searcher(documents, table.dimensions)
    library = Library(searcher, table, _no_record, hidden, patterns)
    for ordinal, skill in zip(searcher.ordinals(), skills, strict=True):
        library._cache[ordinal] = skill
        library._known[id(skill)] = ordinal
    return library


def _no_record(record: bytes) -> Skill:
    raise ValueError("every skill is in the cache")


def memory_searcher(documents: Iterable[IndexedDocument], dimensions: int) -> SegmentSearcher:
    """Return a searcher in memory over the documents. Their keys must be unique.

    The n-th document has the n-th ordinal of :meth:`SegmentSearcher.ordinals`.
    """
    from skillyard.engine.index.segment_writer import build_segments

    parts: list[SegmentEntry] = []
    blobs: list[bytes] = []
    place = 0
    for data in build_segments(documents, dimensions):
        parts.append(SegmentEntry("", place, len(data), frozenset()))
        blobs.append(data.ljust(-(-len(data) // 8) * 8, b"\0"))
        place += len(blobs[-1])
    manifest = IndexManifest(0, dimensions, {}, tuple(parts), {})
    return SEARCHER("", manifest, memoryview(b"".join(blobs)))


def path_prefix(root: str) -> str:
    """Return what the paths below a root begin with; see ``discovery.walk``."""
    path = root.replace(os.sep, "/")
    return "" if path == "." else f"{path.rstrip('/')}/"


class SkillCard(Skill):
    """A skill that reads its file when a field beyond the card is accessed for the first time.

    It equals the skill that loading the file returns. When the file has changed since it was
    indexed, the loaded fields are the current ones and the card stays as indexed. Accessing a field
    raises SkillError when the file is gone or is no longer a valid skill.
    """

    __slots__ = ("_read",)

    def __init__(
        self, record: bytes, prefixes: Sequence[str], read: Callable[[Skill], Skill]
    ) -> None:
        """Take a record of the index; ``read`` returns the skill with the other fields on demand.

        ``prefixes`` are those of the paths below each root. A damaged record raises ValueError,
        TypeError, KeyError or IndexError.
        """
        card, root, below, references = json.loads(record)
        for name in _LISTS:
            card[name] = tuple(card[name])
        card["references"] = tuple(Reference(*reference) for reference in references)
        card["path"] = prefixes[root] + below
        card["_read"] = read
        for name, value in card.items():
            set_field(self, name, value)

    def __getattr__(self, name: str) -> Any:
        # Called for empty slots only: the fields that are not on the card.
        if name not in SKILL_FIELDS:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        self.fill(self._read(self))
        return object.__getattribute__(self, name)

    def read(self) -> Skill:
        """Return the skill as its file is now; the card keeps nothing of it. Raises SkillError."""
        current: Skill = self._read(self)
        return current

    def fill(self, read: Skill) -> None:
        """Set the fields that are not on the card from the loaded skill."""
        for name in SKILL_FIELDS:
            try:
                object.__getattribute__(self, name)
            except AttributeError:
                set_field(self, name, getattr(read, name))
