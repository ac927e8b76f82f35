"""The dense index of a library: an embedder's vector of each skill, searched by cosine."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from math import isfinite
from operator import add

from skillyard.base.configuration import cache_folder
from skillyard.base.errors import EmbedderFailed, InvalidInput, SkillError
from skillyard.engine.analysis.body import PASSAGE_CHARS, split_passages
from skillyard.engine.analysis.language import read_request
from skillyard.engine.embedding.cache import VectorCache, embed_cached
from skillyard.engine.embedding.protocol import (
    BACKGROUND,
    UNIT,
    Embedder,
    EmbedderPassages,
    embed_checked,
    passages_of,
    unit_bytes,
)
from skillyard.engine.index.library import Library, SkillCard, memory_searcher
from skillyard.engine.index.library_spec import WEIGHTING_VERSION
from skillyard.engine.index.segment_reader import IndexedDocument
from skillyard.engine.ranking.hybrid.query_analysis import ENGLISH, AnalysedQuery
from skillyard.engine.skill import Skill

UNIT_DOT = UNIT * UNIT
"""The dot product of a stored unit vector with itself."""


def embedded_text(skill: Skill) -> str:
    """Return what every embedder reads of a skill: name and description."""
    return f"{skill.name}. {skill.description}"


class AnyLanguage:
    """An embedder of English, and the multilingual one beside it, if any.

    A text in another language comes to the first put into English word by word, and to the second
    as it is; the mean of both is its vector.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.id = f"{embedder.id}-{WEIGHTING_VERSION}"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        """Return one vector for each text, in one space. Raises EmbedderFailed."""
        readings = [read_request(text) for text in texts]
        own = [
            text if each.language != ENGLISH else ""
            for text, each in zip(texts, readings, strict=True)
        ]
        return read_both(self.embedder, [each.rough for each in readings], own, query=query)


def read_both(
    embedder: Embedder, english: Sequence[str], own: Sequence[str], *, query: bool
) -> Sequence[Sequence[float]]:
    """Return the vectors of texts put into English; ``own`` are those not in English, else empty.

    Raises EmbedderFailed.
    """
    vectors = embed_checked(embedder, english, query=query)
    multilingual: Embedder | None = getattr(embedder, "multilingual", None)
    others = [text for text in own if text]
    if multilingual is None or not others:
        return vectors
    second = iter(embed_checked(multilingual, others, query=query))
    return [
        [*map(add, vector, next(second))] if text else vector
        for vector, text in zip(vectors, own, strict=True)
    ]


class WholeSkills:
    """Reads the skills of a library with their bodies: an embedder of their keys.

    The vector of a skill is that of its name and description plus, with a weight, the mean of those
    of passages of its body. Bodies are read where a vector is missing, and not kept.
    """

    def __init__(self, embedder: Embedder, library: Library, passages: EmbedderPassages) -> None:
        self.embedder, self.library, self.passages = embedder, library, passages
        self.id = f"{embedder.id}-{passages.limit}-{passages.weight}-{PASSAGE_CHARS}"
        self.changed: set[str] = set()
        """Keys of skills whose files have changed since they were indexed."""
        self._ordinals: dict[str, int] = {}

    def key(self, ordinal: int) -> str:
        """Return what a vector is stored for: name, description, and the hash of the content."""
        skill = self.library.peek(ordinal)
        has_body = isinstance(skill, SkillCard) or skill.body is not None
        key = f"{embedded_text(skill)}\n{skill.hash if has_body else ''}"
        self._ordinals[key] = ordinal
        return key

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Sequence[Sequence[float]]:
        """Return the vectors of the skills of these keys. Raises EmbedderFailed."""
        views = [self._views(key) for key in texts]
        read = embed_checked(self.embedder, [*chain(*views)], query=query)
        vectors = (
            memoryview(unit_bytes(vector) or bytes(len(vector))).cast("b") for vector in read
        )
        return [self._combined(*islice(vectors, len(each))) for each in views]

    def _views(self, key: str) -> list[str]:
        skill = self.library.peek(self._ordinals[key])
        passages = split_passages(self._body(skill, key), self.passages.limit)
        return [embedded_text(skill), *(f"{skill.name}. {passage}" for passage in passages)]

    def _body(self, skill: Skill, key: str) -> str:
        if not isinstance(skill, SkillCard):
            return skill.body or ""
        with suppress(SkillError):
            current = skill.read()
            if current.hash == skill.hash:
                return current.body or ""
        self.changed.add(key)
        return ""

    def _combined(self, described: Sequence[int], *passages: Sequence[int]) -> list[float]:
        share = self.passages.weight / max(len(passages), 1)
        return [
            own + share * sum(others) for own, *others in zip(described, *passages, strict=True)
        ]


def skill_vectors(
    embedder: Embedder, library: Library, progress: Callable[[int, int], object] | None = None
) -> list[bytes]:
    """Return the vector of each skill in the order of the ordinals, as signed bytes.

    Missing ones are computed, and stored in the cache folder. Raises EmbedderFailed, and what
    ``progress`` raises.
    """
    reader = AnyLanguage(embedder) if getattr(embedder, "is_english", False) else embedder
    cached = partial(VectorCache, os.path.join(cache_folder(), "vectors"))
    ordinals, passages = library.searcher.ordinals(), passages_of(embedder)
    if passages is None:
        texts = [embedded_text(library.peek(ordinal)) for ordinal in ordinals]
        return embed_cached(reader, texts, cached(reader.id), progress)
    whole = WholeSkills(reader, library, passages)
    return embed_cached(
        whole, [*map(whole.key, ordinals)], cached(whole.id), progress, whole.changed
    )


class DenseIndex:
    """The vectors of a library's skills by one embedder. Immutable and thread-safe.

    The vectors are computed when the scorer is bound, and stored in the cache folder.
    """

    def __init__(
        self,
        embedder: Embedder,
        library: Library,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        """Raises EmbedderFailed, and what ``progress`` raises."""
        self.embedder = embedder
        searcher = library.searcher
        ordinals = list(searcher.ordinals())
        self.is_english = bool(getattr(embedder, "is_english", False))
        vectors = skill_vectors(embedder, library, progress)
        documents = (
            IndexedDocument(searcher.key(ordinal), b"", searcher.flags(ordinal), (), (), vector)
            for ordinal, vector in zip(ordinals, vectors, strict=True)
        )
        self.dimensions = max(map(len, vectors), default=0)
        self._searcher = memory_searcher(documents, self.dimensions)
        self._library_ordinals = dict(zip(self._searcher.ordinals(), ordinals, strict=True))
        self._own_ordinals = {
            library_ordinal: own_ordinal
            for own_ordinal, library_ordinal in self._library_ordinals.items()
        }

    def direction(self, analysed: AnalysedQuery) -> bytes:
        """Return the vector of a request; empty when it has none. Raises EmbedderFailed."""
        text = analysed.english if self.is_english else analysed.wanted
        if not text.strip() or not self.dimensions:
            return b""
        own = analysed.wanted if self.is_english and not analysed.is_english else ""
        (vector,) = read_both(self.embedder, [text], [own], query=True)
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

    def asides(self, text: str, language: str) -> Sequence[tuple[int, int, float]]:
        """Return (start, end, probability that it is set aside) of a request's pieces."""
        second = getattr(self.embedder, "multilingual", None)
        reader = self.embedder if language == ENGLISH or second is None else second
        asides_of = getattr(reader, "asides", None)
        if not callable(asides_of):
            return ()
        try:
            return [(int(start), int(end), float(own)) for start, end, own in asides_of(text)]
        except (TypeError, ValueError) as error:
            raise EmbedderFailed(self.embedder.id, f"asides: {error}") from None

    def background(self, direction: bytes) -> tuple[float, ...]:
        """Return the request's cosines with the embedder's background; empty without one."""
        return self._numbers("background", direction, "two numbers", BACKGROUND)

    def talk(self, direction: bytes) -> float:
        """Return the probability that a request asks for no work; 0.0 where nothing tells it."""
        return sum(self._numbers("talk", direction, "a number", 1))

    def _numbers(self, method: str, direction: bytes, what: str, count: int) -> tuple[float, ...]:
        """Return what a method of the embedder says of a request. Raises EmbedderFailed."""
        told_by = getattr(self.embedder, method, None)
        if not direction or not callable(told_by):
            return ()
        told = told_by(direction)
        numbers = tuple(map(float, told if count > 1 else (told,)))
        if len(numbers) != count or not all(map(isfinite, numbers)):
            raise EmbedderFailed(self.embedder.id, f"{method} is {numbers}, not {what}")
        return numbers

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
