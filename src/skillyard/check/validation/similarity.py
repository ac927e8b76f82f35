"""Finds similar descriptions: pairs of word sets with a high Jaccard similarity.

The Jaccard similarity of two sets is the size of their intersection over the size of their union.
Pairs are found without comparing all sets. Identical sets meet in a table. Two sets that reach the
threshold share one of their rarest words (prefix filter: of a set with n words, one of the first
``n - ceil(t·n) + 1`` by rarity). The result is exact except for one limit: a set is compared with
at most ``MAX_COMPARED`` others, those with its rarest words first. This keeps the time linear in
the number of skills.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

THRESHOLD = 0.8
"""From this similarity on, two descriptions are too similar for readers and scorers."""
MIN_WORDS = 4
"""Shorter descriptions are only compared for equality: a single word would decide."""
MAX_COMPARED = 64

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")
# Function words, and the words of "Use this skill when the user asks".
_FUNCTION_TEXT = """
a an and any are as at be by can for from has if in into is it its of on or that the their them
then they this to up use used user users using want wants was when where which with you your skill
asks needs
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())


class Pair(NamedTuple):
    """The indexes of a set and of the most similar earlier set."""

    later: int
    earlier: int
    likeness: float
    """0 to 1. 1 means the same words."""


def words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without function words.

    Chinese, Japanese and Korean text is split into character bigrams.
    """
    terms: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if word.isascii() or not _CJK.search(word):
            terms.add(word)
        else:
            terms.update(word[at : at + 2] for at in range(len(word) - 1))
    return frozenset(terms - _FUNCTION_WORDS)


def near_pairs(sets: Sequence[frozenset[str]], threshold: float = THRESHOLD) -> list[Pair]:
    """Return, for each set, the most similar earlier set at or above the threshold, if any."""
    ranked = _by_rarity(sets)
    first_of: dict[tuple[int, ...], int] = {}
    postings: dict[int, list[int]] = {}
    pairs = []
    for number, terms in enumerate(ranked):
        if not terms:
            continue
        same = first_of.setdefault(terms, number)
        if same != number:
            pairs.append(Pair(number, same, 1.0))
            continue
        if len(terms) < MIN_WORDS:
            continue
        prefix = terms[: len(terms) - math.ceil(threshold * len(terms)) + 1]
        best = _nearest(number, sets, _candidates(prefix, postings), threshold)
        if best is not None:
            pairs.append(best)
        for term in prefix:
            postings.setdefault(term, []).append(number)
    return pairs


def _by_rarity(sets: Sequence[frozenset[str]]) -> list[tuple[int, ...]]:
    """Return each set as the ranks of its words, rarest first. Ties are ordered by word."""
    counts = Counter(word for each in sets for word in each)
    order = sorted(counts, key=lambda word: (counts[word], word))
    rank = {word: number for number, word in enumerate(order)}
    return [tuple(sorted(rank[word] for word in each)) for each in sets]


def _candidates(prefix: Iterable[int], postings: dict[int, list[int]]) -> Iterator[int]:
    """Yield each set with a word of the prefix once, rarest word first, up to the limit."""
    yielded: set[int] = set()
    for term in prefix:
        for number in postings.get(term, ()):
            if number not in yielded:
                if len(yielded) >= MAX_COMPARED:
                    return
                yielded.add(number)
                yield number


def _nearest(
    number: int, sets: Sequence[frozenset[str]], candidates: Iterable[int], threshold: float
) -> Pair | None:
    mine = sets[number]
    best: Pair | None = None
    for other in candidates:
        theirs = sets[other]
        shared = len(mine & theirs)
        likeness = shared / (len(mine) + len(theirs) - shared)
        if likeness < threshold:
            continue
        if best is None or (-likeness, other) < (-best.likeness, best.earlier):
            best = Pair(number, other, likeness)
    return best
