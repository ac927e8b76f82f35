"""Counts the query terms that each skill contains, by field.

:class:`DirectFields` looks into the cached words of each skill, which is fast for a few skills.
:class:`InvertedFields` uses an inverted index, which is fast for whole catalogs. Both return the
same counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillyard.engine.analysis.filters import stem_words
from skillyard.engine.ranking.field_words import (
    BODY,
    CACHE,
    DESCRIPTION,
    ID,
    MIN_PREFIX,
    TITLE,
    plain_id,
    terms,
    texts_of,
)
from skillyard.engine.skill import Skill


class FieldHits(NamedTuple):
    """Numbers of matched query terms by field; lists are indexed by skill number."""

    id: list[int]
    title: list[int]
    id_or_title: list[int]
    description: list[int]
    body: list[int]
    touched: set[int]
    """Skills that contain a query term."""
    matched: set[str]
    """Words matched by a query term, including all such words of the ids of touched skills."""


def _no_hits(size: int) -> FieldHits:
    counts = [[0] * size for _ in range(5)]
    return FieldHits(counts[0], counts[1], counts[2], counts[3], counts[4], set(), set())


class DirectFields:
    """The fields of a few skills, searched one by one."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._words = CACHE.of(skills)

    def id_words(self, number: int) -> tuple[str, ...]:
        """Return the words of a skill's id."""
        return self._words[number].id_words

    def plain_id(self, number: int) -> str:
        """Return a skill's id with separators as blanks."""
        return self._words[number].plain_id

    def hits(self, query_terms: list[str]) -> FieldHits:
        """Return the matched terms of each skill by field."""
        hits = _no_hits(len(self._words))
        pairs = list(zip(query_terms, stem_words(query_terms), strict=True))
        for number, words in enumerate(self._words):
            for term, stem in pairs:
                fields = words.holding(term, stem)
                if fields:
                    hits.touched.add(number)
                    _count(hits, number, fields)
        if hits.touched:
            hits.matched.update(self._matched_words(hits, pairs))
        return hits

    def _matched_words(self, hits: FieldHits, pairs: list[tuple[str, str]]) -> set[str]:
        """Return the words of ids that a query term matched."""
        words = {w for n in hits.touched if hits.id[n] for w in self._words[n].id_words}
        known = {stem for _, stem in pairs}
        beginnings = tuple(term for term, _ in pairs if len(term) >= MIN_PREFIX)
        word_list = list(words)
        return {
            word
            for word, stem in zip(word_list, stem_words(word_list), strict=True)
            if stem in known or word.startswith(beginnings)
        }


def _count(hits: FieldHits, number: int, fields: int) -> None:
    if fields & (ID | TITLE):
        hits.id_or_title[number] += 1
        if fields & ID:
            hits.id[number] += 1
        if fields & TITLE:
            hits.title[number] += 1
    if fields & DESCRIPTION:
        hits.description[number] += 1
    if fields & BODY:
        hits.body[number] += 1


class _WordIndex:
    """The words of all fields, by stem and in sorted order for prefixes."""

    __slots__ = ("_by_stem", "_ordered")

    def __init__(self, words: Iterable[str]) -> None:
        self._ordered = sorted(set(words))
        self._by_stem: dict[str, list[str]] = {}
        for word, stem in zip(self._ordered, stem_words(self._ordered), strict=True):
            self._by_stem.setdefault(stem, []).append(word)

    def matching(self, term: str, stem: str) -> list[str]:
        """Return the words with the same stem, or with the term as prefix (4+ letters)."""
        matches = dict.fromkeys(self._by_stem.get(stem, ()))
        if len(term) >= MIN_PREFIX:
            position = bisect_left(self._ordered, term)
            while position < len(self._ordered) and self._ordered[position].startswith(term):
                matches[self._ordered[position]] = None
                position += 1
        return list(matches)


Postings = dict[str, list[int]]
"""Words, each with the numbers of the skills that hold it."""


class InvertedFields:
    """The fields of many skills, in an inverted index."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._ids: list[tuple[tuple[str, ...], str]] = []
        self._id: Postings = {}
        self._title: Postings = {}
        self._description: Postings = {}
        self._body: Postings = {}
        fields = (self._id, self._title, self._description, self._body)
        for number, skill in enumerate(skills):
            texts = texts_of(skill)
            for postings, text in zip(fields, texts, strict=True):
                for word in dict.fromkeys(terms(text)):
                    row = postings.get(word)
                    if row is None:
                        postings[word] = [number]
                    else:
                        row.append(number)
            self._ids.append((tuple(dict.fromkeys(terms(texts.id))), plain_id(texts.id)))
        self._vocabulary = _WordIndex(word for postings in fields for word in postings)

    def id_words(self, number: int) -> tuple[str, ...]:
        """Return the words of a skill's id."""
        return self._ids[number][0]

    def plain_id(self, number: int) -> str:
        """Return a skill's id with separators as blanks."""
        return self._ids[number][1]

    def hits(self, query_terms: list[str]) -> FieldHits:
        """Return the matched terms of each skill by field."""
        hits = _no_hits(len(self._ids))
        for term, stem in zip(query_terms, stem_words(query_terms), strict=True):
            words = self._vocabulary.matching(term, stem)
            hits.matched.update(words)
            in_id = _union(self._id, words)
            in_title = _union(self._title, words)
            either = in_id if in_id == in_title else {*in_id, *in_title}
            described = _union(self._description, words)
            body = _union(self._body, words)
            for counts, numbers in (
                (hits.id, in_id),
                (hits.title, in_title),
                (hits.id_or_title, either),
                (hits.description, described),
                (hits.body, body),
            ):
                for number in numbers:
                    counts[number] += 1
            hits.touched.update(either, described, body)
        return hits


def _union(postings: Postings, words: list[str]) -> Iterable[int]:
    """Return the skills that contain one of the words, each once."""
    rows = [row for word in words if (row := postings.get(word))]
    if len(rows) == 1:
        return rows[0]
    return set().union(*rows) if rows else []
