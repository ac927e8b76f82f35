"""Where the words of all patterns stand in a text, and so where each pattern is searched.

A regular expression takes most of the time of a scan, and most expressions cannot match in most
files. So a pattern names groups of words, and is searched only around places where a word of each
group stands. One pass over a text finds them for all patterns.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple


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
def _groups_of_words() -> dict[str, list[int]]:
    """Return the groups of each word."""
    groups: dict[str, list[int]] = {}
    for number, words in enumerate(_groups):
        for word in words:
            groups.setdefault(word, []).append(number)
    return groups


@cache
def _of_other_scripts() -> tuple[str, ...]:
    return tuple(word for word in _groups_of_words() if _OTHER_SCRIPT.match(word) is not None)


def _finds(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


_WORD = re.compile("[a-z0-9_\x80-\U0010ffff]+")
_LONG_WORD = 20
"""Length from which a word of letters and digits may be encoded text."""


def places_in(text: str, kind: int, foreign: str) -> Places:
    """Return what a text in lower case has. ``foreign`` are its characters that are not ASCII."""
    groups = _groups_of_words()
    of_word: dict[str, list[int]] = {}
    if _OTHER_SCRIPT.search(foreign) is not None:
        chars = frozenset(foreign.lower())
        for word in _of_other_scripts():
            if chars.issuperset(word) and (occurrences := [*_finds(text, word)]):
                of_word[word] = occurrences
    has_long_word = False
    for match in _WORD.finditer(text):
        word = match[0]
        if word in groups:
            of_word.setdefault(word, []).append(match.start())
        if len(word) >= _LONG_WORD and word.isascii() and word.isalnum() and not word.isalpha():
            has_long_word = True
    of_group: dict[int, list[str]] = {}
    for word in of_word:
        for each in groups[word]:
            of_group.setdefault(each, []).append(word)

    @cache
    def places(group: int) -> Sequence[int]:
        return sorted(at for word in of_group[group] for at in of_word[word])

    windows: dict[int, Sequence[int]] = {}
    for number, of in enumerate(_needs):
        if of.kinds & kind and all((~g if g < 0 else g) in of_group for g in of.groups):
            parts = [0, len(text)]
            if of.groups and of.groups[0] >= 0:
                parts = _windows(of.reach, [places(g) for g in of.groups if g >= 0])
            if parts:
                windows[number] = parts
    present = bytes(number in of_group for number in range(len(_groups)))
    return Places(windows, present, has_long_word)


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
