"""Opens an index on disk, and searches the segments of one generation.

Results depend on the live documents only: not on the order of insertion, the distribution over
segments, or the implementation (C or Python). The first pass therefore sums integers, ties are
broken by a digest of the document key, and the second pass sums doubles in query order.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from struct import Struct
from typing import Any
from zlib import crc32

from skillyard.base.errors import IndexDamaged
from skillyard.base.io.files import new_sha256
from skillyard.engine.index.kernel import KERNEL
from skillyard.engine.index.manifest import NAME, REBUILD, IndexManifest, map_file, parse_manifest
from skillyard.engine.index.segment_reader import KEYS, TERMS, SegmentReader

SHIFT = 16
MASK = (1 << SHIFT) - 1
"""An ordinal is ``segment position << SHIFT | document number``."""
MAX_ATTEMPTS = 8
"""Attempts to open a generation while a writer keeps replacing it."""
MAX_CACHED_TERMS = 100_000
"""Terms whose positions are cached: a few megabytes."""
_SPAN = Struct("qqq")
_ABSENT_SPAN = _SPAN.pack(-1, 0, 0)


Weights = Sequence[tuple[str, float]]
"""The distinct terms of a query with their weights: the score of an impact of 1."""

CANDIDATES = 200
"""Documents of the first pass that are scored exactly; at least the requested limit."""
MAX_TERMS = 256
"""Terms of one query; the heaviest ones are used."""
MAX_INTEGER_WEIGHT = 1_023
"""The integer weight of the heaviest term: 255 · 1,023 · 256 fits 32 bits."""


def heaviest_terms(weights: Weights) -> Weights:
    """Return up to :data:`MAX_TERMS` terms, the heaviest ones, in their order."""
    if len(weights) <= MAX_TERMS:
        return weights
    heaviest = {term for term, _ in sorted(weights, key=lambda w: (-w[1], w[0]))[:MAX_TERMS]}
    return [pair for pair in weights if pair[0] in heaviest]


def integer_weights(weights: Weights) -> list[int]:
    """Return the integer weights of the first pass, 1..1,023."""
    top = max((weight for _, weight in weights), default=1.0)
    return [max(1, round(MAX_INTEGER_WEIGHT * weight / top)) for _, weight in weights]


def tie_key(key: str) -> tuple[int, str]:
    """Return the sort key for equal scores: a digest of the document key, then the key."""
    data = key.encode("utf-8", "surrogatepass")
    return int.from_bytes(new_sha256(data).digest()[:8], "big"), key


def exact_score(weights: Weights, impacts: Sequence[float]) -> float:
    """Return Σ weight · impact, added in order (``sum`` compensates rounding on Python 3.12+)."""
    total = 0.0
    for (_, weight), impact in zip(weights, impacts, strict=True):
        if impact:
            total += weight * impact
    return total


def matched_weight(weights: Weights, impacts: Sequence[float]) -> float:
    """Return Σ weight over the terms with an impact, added in order."""
    return exact_score(weights, [1.0 if impact else 0.0 for impact in impacts])


def open_index(folder: str, before: SegmentSearcher | None = None) -> SegmentSearcher | None:
    """Open the current generation of the index in ``folder``. Returns None when there is none.

    Segments shared with ``before``, an earlier generation, are not verified again. The searcher
    does not see later commits; see :meth:`SegmentSearcher.stale`. Raises IndexDamaged, and
    SkillIoError when the index cannot be read.
    """
    missing = ""
    for _ in range(MAX_ATTEMPTS):
        data = map_file(os.path.join(folder, NAME))
        if data is None:
            return None
        manifest = parse_manifest(memoryview(data), os.path.join(folder, NAME))
        try:
            return SEARCHER(folder, manifest, memoryview(data), before)
        except FileNotFoundError as error:  # a merge removed the segment; read the new manifest
            missing = str(error.filename)
    raise IndexDamaged("a segment is missing", path=missing, hint=REBUILD)


class SegmentSearcher:
    """Searches the segments of one generation. Immutable; later commits are not seen."""

    def __init__(
        self,
        folder: str,
        manifest: IndexManifest,
        data: memoryview,
        before: SegmentSearcher | None = None,
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self.generation = manifest.generation
        self.settings = manifest.settings
        self.notes = manifest.notes
        # File names contain the content hash, so equal names mean equal segments.
        known = before.by_file() if before is not None else {}
        self.segments: list[SegmentReader] = []
        for part in manifest.parts:
            if part.file in known and known[part.file].size == part.size:
                self.segments.append(known[part.file].with_dead(part.dead))
                continue
            path = os.path.join(folder, part.file or NAME)
            body = data[part.offset : part.offset + part.size]
            if part.file:
                if os.path.basename(part.file) != part.file:
                    raise IndexDamaged(
                        "a segment has an invalid file name", path=path, hint=REBUILD
                    )
                whole = map_file(path)
                if whole is None:
                    raise FileNotFoundError(2, "no such segment", path)
                body = memoryview(whole)
            if len(body) != part.size:
                raise IndexDamaged("a segment has another size", path=path, hint=REBUILD)
            segment = SegmentReader(body, path)
            if segment.dimensions != manifest.dimensions:
                raise segment.mark_damaged("its vectors have another size")
            if any(number >= segment.documents for number in part.dead):
                raise segment.mark_damaged("a deleted document does not exist")
            segment.dead = part.dead
            self.segments.append(segment)
        self.dimensions = manifest.dimensions
        self.size = sum(s.documents - len(s.dead | s.excluded) for s in self.segments)
        self._terms: dict[str, tuple[int, ...]] = {}
        self._frequencies: dict[str, int] = {}
        self._spans: dict[str, bytes] = {}

    def by_file(self) -> dict[str, SegmentReader]:
        """Return the segments in files of their own, by file name."""
        pairs = zip(self.manifest.parts, self.segments, strict=True)
        return {part.file: segment for part, segment in pairs if part.file}

    def stale(self) -> bool:
        """Return True when there is a newer generation, or none that can be read."""
        try:
            data = map_file(os.path.join(self.folder, NAME))
            if data is None:
                return True
            current = parse_manifest(memoryview(data), self.folder)
        except IndexDamaged:
            return True
        return current.generation != self.generation or current.settings != self.settings

    def side_file(self, name: str) -> bytes | None:
        """Return a side file of this generation, or None. Raises IndexDamaged."""
        side = self.manifest.sides.get(name)
        if side is None:
            return None
        path = os.path.join(self.folder, side.file)
        data = map_file(path)
        if data is None or len(data) != side.size or crc32(data) != side.check:
            raise IndexDamaged(f"the side file {name} is damaged", path=path, hint=REBUILD)
        return bytes(data)

    def _numbers(self, term: str) -> tuple[int, ...]:
        """Return the term's number in each segment; -1 when a segment does not contain it."""
        numbers = self._terms.get(term)
        if numbers is None:
            numbers = tuple(segment.find(TERMS, term) for segment in self.segments)
            if len(self._terms) < MAX_CACHED_TERMS:
                self._terms[term] = numbers
        return numbers

    def frequency(self, term: str) -> int:
        """Return the number of live documents that contain the term."""
        count = self._frequencies.get(term)
        if count is None:
            count = sum(
                [
                    segment.posting_count(number)
                    for segment, number in zip(self.segments, self._numbers(term), strict=True)
                    if number >= 0
                ]
            )
            if len(self._frequencies) < MAX_CACHED_TERMS:
                self._frequencies[term] = count
        return count

    def holders(self, term: str) -> list[int] | None:
        """Return the live documents that a search for the term finds.

        None when no document has the term, also none that is excluded from searches.
        """
        numbers = self._numbers(term)
        if all(number < 0 for number in numbers):
            return None
        return [
            place << SHIFT | document
            for place, (segment, number) in enumerate(zip(self.segments, numbers, strict=True))
            if number >= 0
            for document in segment.postings(number)[0]
            if document not in segment.dead
        ]

    def existing_terms(self, terms: Sequence[str]) -> list[str]:
        """Return the terms that occur in live documents, in their order."""
        known = map(self._frequencies.get, terms)  # most are cached
        return [
            term
            for term, number in zip(terms, known, strict=True)
            if (self.frequency(term) if number is None else number)
        ]

    def lexical(
        self, weights: Weights, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` (ordinal, exact BM25F score) of the candidates, best first."""
        weights = heaviest_terms(weights)
        integers = integer_weights(weights)
        candidates = max(min(limit, sum(s.documents for s in self.segments)), CANDIDATES)
        sums: list[tuple[int, int]] = []
        for place, segment in enumerate(self.segments):
            terms = [
                (number, weight)
                for (term, _), weight in zip(weights, integers, strict=True)
                if (number := self._numbers(term)[place]) >= 0
            ]
            if terms:
                best = segment.best(terms, candidates, _inside(allowed, place, segment))
                sums += [(total, place << SHIFT | number) for total, number in best]
        chosen = self._first(sums, candidates)
        exact = self.exact_scores(weights, chosen)
        return self._sort(zip(exact, chosen, strict=True), limit)

    def _first(self, scored: list[tuple[int, int]], limit: int) -> list[int]:
        """Return the ordinals of the best, unordered; ties are broken by :func:`tie_key`."""
        if len(scored) <= limit:
            return [ordinal for _, ordinal in scored]
        scored.sort(reverse=True)
        least = scored[limit - 1][0]
        above = [ordinal for total, ordinal in scored if total > least]
        tied = [ordinal for total, ordinal in scored if total == least]
        tied.sort(key=self._tie)
        return above + tied[: limit - len(above)]

    def _tie(self, ordinal: int) -> tuple[int, str]:
        segment, number = self.segments[ordinal >> SHIFT], ordinal & MASK
        return int(segment.view("ties", number, number + 1)[0]), segment.key(number)

    def _sort(self, scores: Iterable[tuple[float, int]], limit: int) -> list[tuple[int, float]]:
        ordered = sorted(scores, reverse=True)
        ranked: list[tuple[int, float]] = []
        place = 0
        while place < len(ordered) and len(ranked) < limit:
            end = place + 1
            while end < len(ordered) and ordered[end][0] == ordered[place][0]:
                end += 1
            group = [ordinal for _, ordinal in ordered[place:end]]
            if len(group) > 1:
                group.sort(key=self._tie)
            ranked += [(ordinal, ordered[place][0]) for ordinal in group]
            place = end
        return ranked[:limit]

    def exact_scores(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return the exact BM25F scores of the given documents."""
        weights = heaviest_terms(weights)
        return [exact_score(weights, impacts) for impacts in self._impacts(weights, ordinals)]

    def matched_weights(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return, for each given document, the summed weight of the terms that it contains."""
        weights = heaviest_terms(weights)
        return [matched_weight(weights, impacts) for impacts in self._impacts(weights, ordinals)]

    def _impacts(self, weights: Weights, ordinals: Sequence[int]) -> Iterator[list[float]]:
        """Yield the impacts of the terms in each given document."""
        numbers = [self._numbers(term) for term, _ in weights]
        by_segment = [[n[place] for n in numbers] for place in range(len(self.segments))]
        for ordinal in ordinals:
            place = ordinal >> SHIFT
            yield self.segments[place].impacts(ordinal & MASK, by_segment[place])

    def semantic(
        self, query: bytes, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, int]]:
        """Return up to ``limit`` (ordinal, dot product) above zero, best first."""
        scored: list[tuple[int, int]] = []
        for place, segment in enumerate(self.segments):
            near = segment.nearest(query, limit, _inside(allowed, place, segment))
            scored += [(dot, place << SHIFT | number) for dot, number in near]
        dots = {ordinal: dot for dot, ordinal in scored}
        chosen = self._first(scored, limit)
        ordered = self._sort(((dots[ordinal], ordinal) for ordinal in chosen), limit)
        return [(ordinal, int(dot)) for ordinal, dot in ordered]

    def dots(self, query: bytes, ordinals: Sequence[int]) -> list[int]:
        """Return the dot products of the given documents with the query vector."""
        return [self.segments[o >> SHIFT].dot(query, o & MASK) for o in ordinals]

    def vector(self, ordinal: int) -> bytes:
        """Return the document's vector, in signed bytes; zeros where it has none."""
        return self.segments[ordinal >> SHIFT].vector(ordinal & MASK)

    def impacts(self, ordinal: int, terms: Sequence[str]) -> list[float]:
        """Return the document's impact of each term; 0.0 when it is absent."""
        place = ordinal >> SHIFT
        numbers = [self._numbers(term)[place] for term in terms]
        return self.segments[place].impacts(ordinal & MASK, numbers)

    def key(self, ordinal: int) -> str:
        """Return the document's key."""
        return self.segments[ordinal >> SHIFT].key(ordinal & MASK)

    def record(self, ordinal: int) -> bytes:
        """Return the document's record."""
        return self.segments[ordinal >> SHIFT].record(ordinal & MASK)

    def flags(self, ordinal: int) -> int:
        """Return the document's flags."""
        return self.segments[ordinal >> SHIFT].flags(ordinal & MASK)

    def ordinal(self, key: str) -> int | None:
        """Return the ordinal of the document of that key, or None."""
        for place, segment in enumerate(self.segments):
            number = segment.find(KEYS, key)
            if number >= 0 and number not in segment.dead:
                return place << SHIFT | number
        return None

    def ordinals(self) -> Iterator[int]:
        """Yield the ordinals of all documents that are not deleted."""
        for place, segment in enumerate(self.segments):
            yield from (place << SHIFT | number for number in segment.live())


def _inside(
    allowed: Container[int] | None, place: int, segment: SegmentReader
) -> frozenset[int] | None:
    """Return the numbers of the allowed documents of one segment."""
    if allowed is None:
        return None
    base = place << SHIFT
    return frozenset(n for n in range(segment.documents) if base | n in allowed)


class KernelSearcher(SegmentSearcher):
    """The searcher that calls the C kernel, with the same results.

    Python verifies checksums on first use. The rest of a query is one call into the kernel.
    """

    _vectors_checked = False

    @cached_property
    def _engine(self) -> Any:
        parts = [segment.for_kernel() for segment in self.segments]
        return KERNEL.Engine(parts, self.dimensions)

    def _packed(self, terms: Iterable[str]) -> list[bytes]:
        """Return the packed posting ranges of each term; the postings are verified."""
        spans = []
        for term in terms:
            packed = self._spans.get(term)
            if packed is None:
                packed = b"".join(
                    [
                        _SPAN.pack(number, *segment.check_postings(number))
                        if number >= 0
                        else _ABSENT_SPAN
                        for segment, number in zip(self.segments, self._numbers(term), strict=True)
                    ]
                )
                if len(self._spans) < MAX_CACHED_TERMS:
                    self._spans[term] = packed
            spans.append(packed)
        return spans

    def impacts(self, ordinal: int, terms: Sequence[str]) -> list[float]:
        """Return the document's impact of each term; 0.0 when it is absent."""
        if len(terms) > MAX_TERMS:
            return super().impacts(ordinal, terms)
        spans = self._packed(terms)
        impacts: list[float] | None = self._engine.impacts(spans, ordinal)
        if impacts is None:
            self._check_forward_lists([ordinal])
            impacts = self._engine.impacts(spans, ordinal)
        assert impacts is not None
        return impacts

    def _check_forward_lists(self, ordinals: Sequence[int]) -> None:
        by_segment: dict[int, list[int]] = {}
        for ordinal in ordinals:
            by_segment.setdefault(ordinal >> SHIFT, []).append(ordinal & MASK)
        for place, numbers in by_segment.items():
            self.segments[place].check_forwards(numbers)

    def lexical(
        self, weights: Weights, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` (ordinal, exact BM25F score) of the candidates, best first."""
        if allowed is not None or not weights:
            return super().lexical(weights, limit, allowed)
        if len(weights) > MAX_TERMS:
            weights = heaviest_terms(weights)
        spans = self._packed([term for term, _ in weights])
        factors = [weight for _, weight in weights]
        while True:
            hits, unchecked = self._engine.lexical(spans, factors, limit, CANDIDATES)
            if not unchecked:
                return hits  # type: ignore[no-any-return]
            self._check_forward_lists(unchecked)

    def exact_scores(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return the exact BM25F scores of the given documents."""
        return self._of_each(self._engine.exact_scores, weights, ordinals)

    def matched_weights(self, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        """Return, for each given document, the summed weight of the terms that it contains."""
        return self._of_each(self._engine.matched_weights, weights, ordinals)

    def _of_each(self, score: Any, weights: Weights, ordinals: Sequence[int]) -> list[float]:
        if len(weights) > MAX_TERMS:
            weights = heaviest_terms(weights)
        spans = self._packed([term for term, _ in weights])
        factors = [weight for _, weight in weights]
        numbers = list(ordinals)
        while True:
            values, unchecked = score(spans, factors, numbers)
            if not unchecked:
                return values  # type: ignore[no-any-return]
            self._check_forward_lists(unchecked)

    def semantic(
        self, query: bytes, limit: int, allowed: Container[int] | None = None
    ) -> list[tuple[int, int]]:
        """Return up to ``limit`` (ordinal, dot product) above zero, best first."""
        if allowed is not None:
            return super().semantic(query, limit, allowed)
        if not self._vectors_checked:
            for segment in self.segments:
                segment.section("vectors")
            self._vectors_checked = True
        return self._engine.nearest(query, limit)  # type: ignore[no-any-return]

    def dots(self, query: bytes, ordinals: Sequence[int]) -> list[int]:
        """Return the dot products of the given documents with the query vector."""
        if not self._vectors_checked:  # do not verify all vectors for a few of them
            return super().dots(query, ordinals)
        return self._engine.dots(query, list(ordinals))  # type: ignore[no-any-return]


SEARCHER = SegmentSearcher if KERNEL is None else KernelSearcher
"""What searches: with the kernel where that is available."""
