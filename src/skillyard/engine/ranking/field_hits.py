"""The words of skills by field, inverted, and the query terms that each skill contains."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from skillyard.base.text import stream_safe
from skillyard.engine.analysis.analyzer import stem_word
from skillyard.engine.ranking.overlap import tokens
from skillyard.engine.skill import Skill

BODY_CHARS = 2_000
"""Characters of a body that are read: the first ones."""
MIN_PREFIX = 4
"""A query term with at least this many letters also matches as a prefix."""

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
        if run[0] < _FIRST_UNSPACED or _IS_UNSPACED.match(run) is None or len(run) <= 2:
            words.append(run)
        else:
            words.extend(run[start : start + 2] for start in range(len(run) - 1))
    return words


def plain_id(text: str) -> str:
    """Return an id folded, with each run of blanks, hyphens, underscores, slashes as one blank."""
    return _BREAKS.sub(" ", _fold(text)).strip()


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


Postings = dict[str, list[int]]
"""Words, each with the numbers of the skills that hold it."""


class InvertedFields:
    """The fields of skills, in an inverted index."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._ids: list[tuple[tuple[str, ...], str]] = []
        self._id: Postings = {}
        self._title: Postings = {}
        self._description: Postings = {}
        self._body: Postings = {}
        fields = (self._id, self._title, self._description, self._body)
        for number, skill in enumerate(skills):
            own_id = skill.slug or skill.name
            title = skill.title if skill.title is not None else skill.name
            texts = (own_id, title, skill.description, (skill.body or "")[:BODY_CHARS])
            for postings, text in zip(fields, texts, strict=True):
                for word in dict.fromkeys(terms(text)):
                    row = postings.get(word)
                    if row is None:
                        postings[word] = [number]
                    else:
                        row.append(number)
            self._ids.append((tuple(dict.fromkeys(terms(own_id))), plain_id(own_id)))
        self._vocabulary = sorted({word for postings in fields for word in postings})
        self._by_stem: dict[str, list[str]] = {}
        for word in self._vocabulary:
            self._by_stem.setdefault(stem_word(word), []).append(word)

    def id_words(self, number: int) -> tuple[str, ...]:
        """Return the words of a skill's id."""
        return self._ids[number][0]

    def plain_id(self, number: int) -> str:
        """Return a skill's id with separators as blanks."""
        return self._ids[number][1]

    def _matching(self, term: str) -> list[str]:
        """Return the words with the same stem, or with the term as prefix (4+ letters)."""
        matches = dict.fromkeys(self._by_stem.get(stem_word(term), ()))
        if len(term) >= MIN_PREFIX:
            start, end = (
                bisect_left(self._vocabulary, each) for each in (term, f"{term}\U0010ffff")
            )
            matches |= dict.fromkeys(self._vocabulary[start:end])
        return list(matches)

    def hits(self, query_terms: list[str]) -> FieldHits:
        """Return the matched terms of each skill by field."""
        counts = [[0] * len(self._ids) for _ in range(5)]
        hits = FieldHits(counts[0], counts[1], counts[2], counts[3], counts[4], set(), set())
        for term in query_terms:
            words = self._matching(term)
            hits.matched.update(words)
            in_id = _union(self._id, words)
            in_title = _union(self._title, words)
            either = in_id if in_id == in_title else {*in_id, *in_title}
            described = _union(self._description, words)
            body = _union(self._body, words)
            for numbers_by_skill, numbers in (
                (hits.id, in_id),
                (hits.title, in_title),
                (hits.id_or_title, either),
                (hits.description, described),
                (hits.body, body),
            ):
                for number in numbers:
                    numbers_by_skill[number] += 1
            hits.touched.update(either, described, body)
        return hits


def _union(postings: Postings, words: list[str]) -> Iterable[int]:
    """Return the skills that contain one of the words, each once."""
    rows = [row for word in words if (row := postings.get(word))]
    if len(rows) == 1:
        return rows[0]
    return set().union(*rows) if rows else []
