"""The words of a skill's fields, prepared for matching, and a cache of them.

Splitting, folding and stemming the texts costs a hundred times as much as matching, and successive
searches often rank the same skills.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from sys import intern
from threading import Lock
from typing import NamedTuple

from skillyard.base.text import stream_safe
from skillyard.engine.analysis.filters import stem_words
from skillyard.engine.ranking.overlap import tokens
from skillyard.engine.skill import Skill

BODY_CHARS = 2_000
MIN_PREFIX = 4
"""A query term with at least this many letters also matches as a prefix."""
ID, TITLE, DESCRIPTION, BODY = 1, 2, 4, 8
"""One bit for each field."""
_ALL = ID | TITLE | DESCRIPTION | BODY
_FIELDS = (ID, TITLE, DESCRIPTION, BODY)
MAX_CACHE_BYTES = 64_000_000
"""Upper bound for skills without common words. About 1,500 real skills fit, in a third of it."""
_WORD_BYTES = 200
"""Memory of a word with its stem and positions, when no other skill contains it."""

# Scripts written without blanks: kana, Han, Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_WORD = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_SPACED_WORD = re.compile(r"[^\W_]+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_FIRST_UNSPACED = "\u0e00"
_BREAKS = re.compile(r"[\s\-_/]+")


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", stream_safe(text)).casefold()
    return unicodedata.normalize("NFKC", folded)


def terms(text: str) -> list[str]:
    """Return the words, folded, in order: letters and digits; unspaced scripts as pairs."""
    if text.isascii():
        return tokens(text)
    folded = _fold(text)
    if _IS_UNSPACED.search(folded) is None:
        return _SPACED_WORD.findall(folded)
    words: list[str] = []
    for run in _WORD.findall(folded):
        if run[0] < _FIRST_UNSPACED or not _is_unspaced(run[0]) or len(run) <= 2:
            words.append(run)
        else:
            words.extend(run[start : start + 2] for start in range(len(run) - 1))
    return words


def _is_unspaced(char: str) -> bool:
    return _IS_UNSPACED.fullmatch(char) is not None


def plain_id(text: str) -> str:
    """Return an id folded, with each run of blanks, hyphens, underscores, slashes as one blank."""
    return _BREAKS.sub(" ", _fold(text)).strip()


class Texts(NamedTuple):
    """The texts of a skill that the scorer reads; also the cache key."""

    id: str
    title: str
    description: str
    body: str
    """The first :data:`BODY_CHARS` characters."""


def texts_of(skill: Skill) -> Texts:
    """Return the texts of a skill's fields."""
    return Texts(
        skill.slug or skill.name,
        skill.title if skill.title is not None else skill.name,
        skill.description,
        (skill.body or "")[:BODY_CHARS],
    )


class FieldWords:
    """The words of the four fields of one skill. Immutable."""

    __slots__ = ("_fields", "_stems", "_words", "id_words", "plain_id", "size")

    def __init__(self, texts: Texts) -> None:
        fields: dict[str, int] = {}
        for bit, text in zip(_FIELDS, texts, strict=True):
            for word in terms(text):
                fields[word] = fields.get(word, 0) | bit
        words = sorted(map(intern, fields))
        self._words = tuple(words)
        self._fields = bytes([fields[word] for word in words])
        self._stems: dict[str, int] = {}
        for word, stem in zip(words, stem_words(words), strict=True):
            stem = word if stem == word else intern(stem)
            self._stems[stem] = self._stems.get(stem, 0) | fields[word]
        self.id_words = tuple(dict.fromkeys(terms(texts.id)))
        self.plain_id = plain_id(texts.id)
        self.size = sum(map(len, texts)) + sum(map(len, words)) + _WORD_BYTES * len(words)
        """Upper bound of its memory in bytes, with its texts."""

    def holding(self, term: str, stem: str) -> int:
        """Return the fields with a word of the same stem, or with the term as prefix."""
        fields = self._stems.get(stem, 0)
        if len(term) < MIN_PREFIX:
            return fields
        words = self._words
        place = bisect_left(words, term)
        while fields != _ALL and place < len(words) and words[place].startswith(term):
            fields |= self._fields[place]
            place += 1
        return fields


class FieldWordsCache:
    """A thread-safe LRU cache of field words, bounded in bytes."""

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._cache: OrderedDict[Texts, FieldWords] = OrderedDict()
        self._size = 0

    @property
    def size(self) -> int:
        """Upper bound of the memory of the cached words in bytes."""
        return self._size

    def __len__(self) -> int:
        return len(self._cache)

    def of(self, skills: Iterable[Skill]) -> list[FieldWords]:
        """Return the words of each skill."""
        return [self._one(texts_of(skill)) for skill in skills]

    def _one(self, texts: Texts) -> FieldWords:
        with self._lock:
            words = self._cache.get(texts)
            if words is not None:
                self._cache.move_to_end(texts)
                return words
        words = FieldWords(texts)
        with self._lock:
            if texts not in self._cache and words.size <= self._max_bytes:
                self._cache[texts] = words
                self._size += words.size
                while self._size > self._max_bytes:
                    self._size -= self._cache.popitem(last=False)[1].size
        return words


CACHE = FieldWordsCache()
"""Keyed by text, not by hash, because a caller can set the hash of a skill to any value."""
