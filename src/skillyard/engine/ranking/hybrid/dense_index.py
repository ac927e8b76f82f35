"""The dense index of a library: an embedder's vector of each skill, searched by cosine."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Sequence
from typing import TYPE_CHECKING

from skillyard.base.io.sha256 import sha256
from skillyard.engine.index.library import Library
from skillyard.engine.index.segment_searcher import SegmentSearcher
from skillyard.engine.skill import Skill

if TYPE_CHECKING:
    from skillyard.engine.embedding.protocol import Embedder
    from skillyard.engine.index.document import IndexedDocument


def embedded_text(skill: Skill) -> str:
    """Return the text of a skill that is embedded: name and description."""
    return f"{skill.name}. {skill.description}"


class DenseIndex:
    """The vectors of a library's skills by one embedder. Immutable and thread-safe.

    The vectors are computed when the scorer is bound, and stored in the cache folder. Reading them
    from there takes time for each skill; :meth:`save` writes them in a form that is mapped.
    """

    def __init__(
        self,
        embedder: Embedder,
        library: Library,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        """Raises EmbedderFailed, and what ``progress`` raises."""
        self.embedder = embedder
        self._library = library
        ordinals = list(library.searcher.ordinals())
        saved = _open_saved(embedder, library, len(ordinals))
        self._is_saved = saved is not None
        if saved is None:
            saved = self._compute(ordinals, progress)
        elif progress is not None:
            texts = int(saved.notes[TEXTS])
            progress(texts, texts)
        self._searcher = saved
        self.dimensions = saved.dimensions
        self._library_ordinals = dict(zip(saved.ordinals(), ordinals, strict=True))
        self._own_ordinals = {
            library_ordinal: own_ordinal
            for own_ordinal, library_ordinal in self._library_ordinals.items()
        }

    def _compute(
        self, ordinals: Sequence[int], progress: Callable[[int, int], object] | None
    ) -> SegmentSearcher:
        """Return an index in memory of the cached vectors and of those that are missing."""
        from skillyard.base.io.user_folders import cache_folder
        from skillyard.engine.embedding.cache import VectorCache, embed_cached
        from skillyard.engine.index.library import memory_searcher

        library, embedder = self._library, self.embedder
        cache = VectorCache(os.path.join(cache_folder(), "vectors"), embedder.id)
        texts = [embedded_text(library.skill(ordinal)) for ordinal in ordinals]
        vectors = embed_cached(embedder, texts, cache, progress)
        documents = _documents(library, ordinals, vectors)
        return memory_searcher(documents, max(map(len, vectors), default=0))

    def save(self) -> None:
        """Write the vectors beside the index of the library, so that the next process maps them.

        Does nothing for a library in memory, and when another process writes them. Raises
        SkillIoError.
        """
        folder = _saved_folder(self.embedder, self._library)
        if self._is_saved or not folder or not self.dimensions:
            return
        from skillyard.base.errors import SkillIoError
        from skillyard.engine.index.index_writer import IndexWriter

        try:
            with IndexWriter(
                folder,
                dimensions=self.dimensions,
                settings=_saved_settings(self.embedder, self._library),
                fresh=True,
            ) as writer:
                own = self._searcher
                vectors = [own.vector(ordinal) for ordinal in own.ordinals()]
                ordinals = list(self._library_ordinals.values())
                for document in _documents(self._library, ordinals, vectors):
                    writer.add(document)
                texts = {embedded_text(self._library.skill(ordinal)) for ordinal in ordinals}
                writer.note(TEXTS, str(len(texts)))
                writer.commit()
        except SkillIoError as error:
            if error.code != "index_busy":
                raise

    def direction(self, text: str) -> bytes:
        """Return the vector of a request; empty when it has none. Raises EmbedderFailed."""
        from skillyard.base.errors import EmbedderFailed, InvalidInput
        from skillyard.engine.embedding.protocol import embed_checked, unit_bytes

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
        """Return up to ``limit`` (library ordinal, cosine) with a positive cosine, best first."""
        if not direction:
            return []
        inside = None
        if allowed is not None:
            inside = frozenset(
                own_ordinal
                for own_ordinal, library_ordinal in self._library_ordinals.items()
                if library_ordinal in allowed
            )
        near = self._searcher.semantic(direction, limit, inside)
        return [(self._library_ordinals[own_ordinal], dot / UNIT_DOT) for own_ordinal, dot in near]

    def cosines(self, direction: bytes, ordinals: Sequence[int]) -> dict[int, float]:
        """Return the cosines of the given skills by library ordinal."""
        if not direction:
            return {}
        known = [ordinal for ordinal in ordinals if ordinal in self._own_ordinals]
        dots = self._searcher.dots(direction, [self._own_ordinals[ordinal] for ordinal in known])
        return {ordinal: dot / UNIT_DOT for ordinal, dot in zip(known, dots, strict=True)}


def save_vectors(bound: object) -> None:
    """Save the vectors of a bound scorer, if it has any: :meth:`DenseIndex.save`.

    Raises SkillIoError.
    """
    dense = getattr(bound, "dense", None)
    if isinstance(dense, DenseIndex):
        dense.save()


UNIT_DOT = 127 * 127
"""The dot product of a stored unit vector with itself."""
TEXTS = "texts"
"""The note of a saved index with the number of different texts."""


def _saved_folder(embedder: Embedder, library: Library) -> str:
    """Return the folder of the saved vectors: inside that of the index; empty without one."""
    folder = getattr(library.searcher, "folder", "")
    name = sha256(embedder.id.encode("utf-8", "surrogatepass")).hex()[:16]
    return os.path.join(folder, f"vectors-{name}") if folder else ""


def _saved_settings(embedder: Embedder, library: Library) -> dict[str, str]:
    """Return what vectors are of: they are used for the same documents and embedder only."""
    searcher = library.searcher
    assert isinstance(searcher, SegmentSearcher)
    return {"embedder": embedder.id, "documents": searcher.contents_digest(), "form": "1"}


def _open_saved(embedder: Embedder, library: Library, size: int) -> SegmentSearcher | None:
    """Return the saved vectors of the documents of a library; None when there are none."""
    folder = _saved_folder(embedder, library)
    if not folder or not os.path.isdir(folder):
        return None
    from skillyard.base.errors import IndexDamaged, SkillIoError
    from skillyard.engine.index.segment_searcher import open_index

    try:
        saved = open_index(folder)
    except (IndexDamaged, SkillIoError, OSError):
        return None
    if saved is None or saved.settings != _saved_settings(embedder, library):
        return None
    is_whole = sum(1 for _ in saved.ordinals()) == size and saved.notes.get(TEXTS, "").isdecimal()
    return saved if is_whole else None


def _documents(
    library: Library, ordinals: Sequence[int], vectors: Sequence[bytes]
) -> Iterator[IndexedDocument]:
    from skillyard.engine.index.document import IndexedDocument

    searcher = library.searcher
    for ordinal, vector in zip(ordinals, vectors, strict=True):
        yield IndexedDocument(searcher.key(ordinal), b"", searcher.flags(ordinal), (), (), vector)
