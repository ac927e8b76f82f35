"""Where the words of all patterns stand in a text, and so where each pattern is searched.

A regular expression takes most of the time of a scan, and most expressions cannot match in most
files. So a pattern names groups of words, and is searched only around places where a word of each
group stands. One pass over a text finds them for all patterns, in the C kernel where there is one.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from skillyard.engine.index.kernel import KERNEL


class Need(NamedTuple):
    """What a text must have before a pattern is searched."""

    kinds: int
    """Kinds of files, as bits."""
    reach: int
    """Characters around a word of the first group that are searched."""
    groups: tuple[int, ...]
    """Groups of words of which one must be near a word of the first group. ``~g``: anywhere; where
    the first one is such, or there is none, all of the text is searched."""


class Places(NamedTuple):
    """What a text has of the words of all patterns."""

    windows: Mapping[int, Sequence[int]]
    """Number of a pattern -> starts and ends, in turns, of the parts that are searched."""
    present: Sequence[int]
    """For each group, whether one of its words occurs."""
    has_long_word: bool
    """True when a run of letters and digits is long enough to be encoded text."""
    may_be_spaced: bool
    """False when nowhere stand several letters with blanks between them."""


_groups: list[frozenset[str]] = []
_needs: list[Need] = []


def group(words: str) -> int:
    """Return the number of a group of words in lower case, separated by blanks."""
    _groups.append(frozenset(words.split()))
    return len(_groups) - 1


def need(kinds: int, reach: int, words: Sequence[str]) -> int:
    """Return the number of a pattern with these groups of words; see :class:`Need` for ``~``."""
    groups = tuple(~group(each[1:]) if each[:1] == "~" else group(each) for each in words)
    _needs.append(Need(kinds, reach, groups))
    return len(_needs) - 1


_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\u3000-\uefff]")
"""Greek, Cyrillic and all scripts behind them: their words need not stand between blanks."""


@cache
def _tables() -> tuple[list[str], dict[str, int], list[list[int]]]:
    """Return all words, the number of each, and its groups."""
    words = sorted(frozenset().union(*_groups))
    numbers = {word: number for number, word in enumerate(words)}
    of_word: list[list[int]] = [[] for _ in words]
    for number, each in enumerate(_groups):
        for word in each:
            of_word[numbers[word]].append(number)
    return words, numbers, of_word


@cache
def _of_other_scripts() -> tuple[str, ...]:
    return tuple(word for word in _tables()[0] if _OTHER_SCRIPT.match(word) is not None)


@cache
def _kernel() -> Any:
    words, _, of_word = _tables()
    return KERNEL.Words(
        [word.encode() for word in words],
        len(_groups),
        array("i", accumulate(map(len, of_word), initial=0)),
        array("i", [each for groups in of_word for each in groups]),
        array("i", [item for each in _needs for item in _flat(each)]),
    )


def _flat(each: Need) -> list[int]:
    return [each.kinds, each.reach, len(each.groups), *each.groups]


def places_in(text: str, kind: int, foreign: str) -> Places:
    """Return what a text in lower case has. ``foreign`` are its characters that are not ASCII."""
    others: list[int] = []
    if _OTHER_SCRIPT.search(foreign) is not None:
        numbers, chars = _tables()[1], frozenset(foreign.lower())
        for word in _of_other_scripts():
            if chars.issuperset(word):
                others += (item for at in _finds(text, word) for item in (numbers[word], at))
    if KERNEL is not None:
        return Places(*_kernel().search(text, kind, others))
    return _places_in(text, kind, others)


def _finds(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


_WORD = re.compile("[a-z0-9_\x80-\U0010ffff]+")
_LONG_WORD = 20
"""Length from which a word of letters and digits may be encoded text."""


def _places_in(text: str, kind: int, others: Sequence[int]) -> Places:
    """Return what the kernel returns."""
    _, numbers, of_word = _tables()
    of_one: dict[int, list[int]] = {}
    for number, at in zip(others[::2], others[1::2], strict=True):
        of_one.setdefault(number, []).append(at)
    has_long_word = False
    for match in _WORD.finditer(text):
        word = match[0]
        if word in numbers:
            of_one.setdefault(numbers[word], []).append(match.start())
        if len(word) >= _LONG_WORD and word.isascii() and word.isalnum() and not word.isalpha():
            has_long_word = True
    of_group: dict[int, list[int]] = {}
    for number in of_one:
        for each in of_word[number]:
            of_group.setdefault(each, []).append(number)

    @cache
    def places(group: int) -> Sequence[int]:
        return sorted(at for number in of_group[group] for at in of_one[number])

    windows: dict[int, Sequence[int]] = {}
    for number, of in enumerate(_needs):
        if of.kinds & kind and all((~g if g < 0 else g) in of_group for g in of.groups):
            parts = [0, len(text)]
            if of.groups and of.groups[0] >= 0:
                parts = _windows(of.reach, [places(g) for g in of.groups if g >= 0])
            if parts:
                windows[number] = parts
    present = bytes(number in of_group for number in range(len(_groups)))
    return Places(windows, present, has_long_word, may_be_spaced=True)


def _windows(reach: int, places: Sequence[Sequence[int]]) -> list[int]:
    """Return the parts around places of the first group that have one of each other group near."""
    windows: list[int] = []
    for at in places[0]:
        if all(_is_near(each, at, reach) for each in places[1:]):
            # No match ends there, so nothing takes it for the end of a file.
            end = at + reach + 1
            if windows and at - reach <= windows[-1]:
                windows[-1] = end
            else:
                windows += (max(at - reach, 0), end)
    return windows


def _is_near(places: Sequence[int], at: int, reach: int) -> bool:
    index = bisect_left(places, at - reach)
    return index < len(places) and places[index] <= at + reach
