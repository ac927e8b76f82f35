"""A library: skills together with the index that searches them, on disk or in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from skillyard.base.errors import IndexDamaged
from skillyard.engine.index.document import IndexedDocument, document_key
from skillyard.engine.index.manifest import IndexManifest, SegmentEntry
from skillyard.engine.index.segment_searcher import SegmentSearcher, make_searcher
from skillyard.engine.index.token_table import TokenTable, bundled_table

if TYPE_CHECKING:
    from skillyard.engine.skill import Skill


class Library:
    """The skills and the index that a bound scorer uses.

    ``decode`` makes a skill of a record of the index. The keys of ``hidden`` are those of skills
    that are selected only when called by name; ``patterns`` has file patterns by key.
    """

    def __init__(
        self,
        searcher: SegmentSearcher,
        table: TokenTable,
        decode: Callable[[bytes], Skill],
        hidden: Iterable[str] = (),
        patterns: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self.searcher = searcher
        self.table = table
        self._decode = decode
        self._hidden_keys = tuple(hidden)
        self._patterns_by_key = patterns or {}
        self._cache: dict[int, Skill] = {}
        self._known: dict[int, int] = {}
        """Ordinals of the cached skills by identity, set before the skill is returned."""

    @property
    def skills(self) -> Sequence[Skill]:
        """All skills, in the order of their ordinals."""
        return tuple(map(self.skill, self.searcher.ordinals()))

    def skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal, the same object each time. Raises IndexDamaged."""
        skill = self._cache.get(ordinal)
        if skill is None:
            # All threads get the same object.
            skill = self._cache.setdefault(ordinal, self.card(ordinal))
            self._known[id(skill)] = ordinal
        return skill

    def card(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal from its record, a new object. Raises IndexDamaged."""
        try:
            return self._decode(self.searcher.record(ordinal))
        except (ValueError, TypeError, LookupError):
            raise IndexDamaged("a record cannot be read", path=self.searcher.folder) from None

    def full_skill(self, ordinal: int) -> Skill:
        """Return the skill of an ordinal with its body loaded."""
        return self.skill(ordinal)

    def ordinal(self, skill: Skill) -> int | None:
        """Return the ordinal of a skill, or None when the index does not contain it."""
        known = self._known.get(id(skill))
        return self.searcher.ordinal(document_key(skill)) if known is None else known

    def hidden(self) -> Iterable[tuple[int, Skill]]:
        """Yield (ordinal, skill) of the skills that are selected only when called by name."""
        for ordinal in self.ordinals_of(self._hidden_keys):
            yield ordinal, self.skill(ordinal)

    def patterns(self) -> Mapping[int, tuple[str, ...]]:
        """Return the file patterns of skills by ordinal; skills without patterns are left out."""
        by_ordinal = {
            self.searcher.ordinal(key): globs for key, globs in self._patterns_by_key.items()
        }
        return {ordinal: globs for ordinal, globs in by_ordinal.items() if ordinal is not None}

    def ordinals_of(self, keys: Iterable[str]) -> Iterator[int]:
        """Yield the ordinals of the keys that are in the index."""
        for key in keys:
            ordinal = self.searcher.ordinal(key)
            if ordinal is not None:
                yield ordinal


class MemoryLibrary(Library):
    """A catalog or a list of skills with an index built in memory."""

    def __init__(self, skills: Iterable[Skill], *, include_conventions: bool = False) -> None:
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
        super().__init__(searcher, table, _no_record, hidden, patterns)
        self._given = tuple(skills)
        self._cache = dict(zip(searcher.ordinals(), self._given, strict=True))
        self._known = {id(skill): ordinal for ordinal, skill in self._cache.items()}

    @property
    def skills(self) -> Sequence[Skill]:
        """The skills as they were given."""
        return self._given


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
    return make_searcher("", manifest, memoryview(b"".join(blobs)))
