"""Descriptions that say nearly the same: pairs of word sets with a high Jaccard measure.

The measure of two sets is the size of what they share over the size of what they hold together.
Pairs are found without comparing all: identical sets meet in a table, and two sets that reach the
threshold must share one of their rarest words (prefix filter: of a set with n words, one of the
first ``n - ceil(t·n) + 1`` by rarity). Exact but for one bound: a set is compared with at most
``MAX_COMPARED`` others, those that share its rarest words first, so that the work stays linear in
the number of skills whatever they say.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["MAX_COMPARED", "THRESHOLD", "Pair", "near_pairs", "words"]

THRESHOLD = 0.8
"""From here on two descriptions leave a reader, or a ranking, with little to choose by."""
MIN_WORDS = 4
"""Shorter ones are compared for being identical only: one word more or less decides too much."""
MAX_COMPARED = 64

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")
# Function words, and the words of the phrase "Use this skill when the user asks".
_FUNCTION_TEXT = """
a an and any are as at be by can for from has if in into is it its of on or that the their them
then they this to up use used user users using want wants was when where which with you your skill
asks needs
"""
_FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())


class Pair(NamedTuple):
    """A set and the one before it that is most like it, by their numbers."""

    later: int
    earlier: int
    likeness: float
    """0 to 1; 1 for the same words."""


def words(text: str) -> frozenset[str]:
    """Return the content words of a text: lower case, function words left out.

    A run of Chinese, Japanese or Korean letters gives its pairs of neighbours.
    """
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if word.isascii() or not _CJK.search(word):
            found.add(word)
        else:
            found.update(word[at : at + 2] for at in range(len(word) - 1))
    return frozenset(found - _FUNCTION_WORDS)


def near_pairs(sets: Sequence[frozenset[str]], threshold: float = THRESHOLD) -> list[Pair]:
    """Return, for each set that has one, its nearest earlier set at or above the threshold."""
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
    """Return each set as the ranks of its words, rarest first; ties by the word itself."""
    counts = Counter(word for each in sets for word in each)
    order = sorted(counts, key=lambda word: (counts[word], word))
    rank = {word: number for number, word in enumerate(order)}
    return [tuple(sorted(rank[word] for word in each)) for each in sets]


def _candidates(prefix: Iterable[int], postings: dict[int, list[int]]) -> Iterator[int]:
    """Yield each set that shares a word of the prefix once, rarest word first, up to the bound."""
    seen: set[int] = set()
    for term in prefix:
        for number in postings.get(term, ()):
            if number not in seen:
                if len(seen) >= MAX_COMPARED:
                    return
                seen.add(number)
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
