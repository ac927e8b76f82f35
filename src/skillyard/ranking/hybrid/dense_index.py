"""What an embedder says of a library: a vector for each skill, and how near a request lies."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

from skillyard.index.library import Library
from skillyard.skill import Skill

if TYPE_CHECKING:
    from skillyard.embedding.protocol import Embedder
    from skillyard.index.document import IndexedDocument

__all__ = ["DenseIndex", "embedded_text"]


def embedded_text(skill: Skill) -> str:
    """Return what of a skill is embedded: its name and its description."""
    return f"{skill.name}. {skill.description}"


class DenseIndex:
    """The vectors of a library's skills by one embedder. Immutable; safe to share between threads.

    They are made when the scorer is bound, and kept in the cache folder for the next time.
    """

    def __init__(self, embedder: Embedder, library: Library) -> None:
        """Raises EmbedderFailed."""
        from skillyard.embedding.cache import VectorCache, embed_cached
        from skillyard.index.library_spec import cache_folder
        from skillyard.index.memory_segments import build_memory_segments

        self.embedder = embedder
        ordinals = list(library.searcher.ordinals())
        cache = VectorCache(os.path.join(cache_folder(), "vectors"), embedder.id)
        texts = [embedded_text(library.skill(ordinal)) for ordinal in ordinals]
        vectors = embed_cached(embedder, texts, cache)
        self.dimensions = max(map(len, vectors), default=0)
        documents = _documents(library, ordinals, vectors)
        self._searcher = build_memory_segments(documents, self.dimensions)
        self._theirs = dict(zip(self._searcher.ordinals(), ordinals, strict=True))
        self._ours = {theirs: ours for ours, theirs in self._theirs.items()}

    def direction(self, text: str) -> bytes:
        """Return the vector of a request; empty where it has none. Raises EmbedderFailed."""
        from skillyard.embedding.protocol import embed_checked, unit_bytes
        from skillyard.errors import EmbedderFailed, InvalidInput

        if not text.strip() or not self.dimensions:
            return b""
        (vector,) = embed_checked(self.embedder, [text], query=True)
        try:
            stored = unit_bytes(vector)
        except InvalidInput as error:
            raise EmbedderFailed(self.embedder.id, str(error)) from None
        if stored and len(stored) != self.dimensions:
            raise EmbedderFailed(
                self.embedder.id,
                f"{len(stored)} numbers for the request, {self.dimensions} for each skill",
            )
        return stored

    def nearest(
        self, direction: bytes, limit: int, allowed: Container[int] | None
    ) -> list[tuple[int, float]]:
        """Return up to ``limit`` (the library's ordinal, cosine) above zero, best first."""
        if not direction:
            return []
        inside = None
        if allowed is not None:
            inside = frozenset(ours for ours, theirs in self._theirs.items() if theirs in allowed)
        near = self._searcher.semantic(direction, limit, inside)
        return [(self._theirs[ours], dot / UNIT_DOT) for ours, dot in near]

    def cosines(self, direction: bytes, ordinals: Sequence[int]) -> dict[int, float]:
        """Return the cosine of each skill named, by the library's ordinal."""
        if not direction:
            return {}
        known = [ordinal for ordinal in ordinals if ordinal in self._ours]
        dots = self._searcher.dots(direction, [self._ours[ordinal] for ordinal in known])
        return {ordinal: dot / UNIT_DOT for ordinal, dot in zip(known, dots, strict=True)}


UNIT_DOT = 127 * 127
"""The dot product of a stored unit vector with itself."""


def _documents(
    library: Library, ordinals: Sequence[int], vectors: Sequence[bytes]
) -> Iterator[IndexedDocument]:
    from skillyard.index.document import IndexedDocument

    searcher = library.searcher
    for ordinal, vector in zip(ordinals, vectors, strict=True):
        yield IndexedDocument(searcher.key(ordinal), b"", searcher.flags(ordinal), (), (), vector)
