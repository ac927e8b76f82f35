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
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
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


def near_pairs(sets: Sequence[frozenset[str]]) -> Iterator[Pair]:
    """Yield, for each set, the most similar earlier set at or above the threshold, if any."""
    counts = Counter(word for each in sets for word in each)
    first_of: dict[frozenset[str], int] = {}
    postings: dict[str, list[int]] = defaultdict(list)
    for number, terms in enumerate(sets):
        same = first_of.setdefault(terms, number)
        if same != number and terms:
            yield Pair(number, same, 1.0)
        if same != number or len(terms) < MIN_WORDS:
            continue
        ordered = sorted(terms, key=lambda word: (counts[word], word))
        prefix = ordered[: len(terms) - math.ceil(THRESHOLD * len(terms)) + 1]
        others = dict.fromkeys(n for word in prefix for n in postings[word][:MAX_COMPARED])
        pairs = [
            Pair(number, other, len(terms & sets[other]) / len(terms | sets[other]))
            for other in islice(others, MAX_COMPARED)
        ]
        best = max(pairs, key=lambda pair: (pair.likeness, -pair.earlier), default=None)
        if best is not None and best.likeness >= THRESHOLD:
            yield best
        for word in prefix:
            postings[word].append(number)
