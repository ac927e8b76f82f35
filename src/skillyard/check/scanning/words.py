"""Where the words of all patterns stand in a text, and so where each pattern is searched.

A regular expression takes most of the time of a scan, and most expressions cannot match in most
files. So a pattern names groups of words, and is searched only around places where a word of each
group stands. One pass over a text finds them for all patterns.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count

_groups_of: dict[str, list[int]] = {}
"""Word -> the groups that it is in."""
_numbers = count()
_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\u3000-\uefff]")
"""Greek, Cyrillic and all scripts behind them: their words need not stand between blanks."""
_WORD = re.compile("[a-z0-9_\x80-\U0010ffff]+")
_LONG_WORD = 20
"""Length from which a word of letters and digits may be encoded text."""


def group(words: str) -> int:
    """Return the number of a new group of words in lower case, separated by blanks."""
    number = next(_numbers)
    for word in set(words.split()):
        _groups_of.setdefault(word, []).append(number)
    return number


@cache
def _of_other_scripts() -> tuple[str, ...]:
    return tuple(word for word in _groups_of if _OTHER_SCRIPT.match(word) is not None)


class Words:
    """The words of patterns that a text in lower case has."""

    def __init__(self, text: str, foreign: str) -> None:
        """``foreign`` are the characters of the text that are not ASCII."""
        places: dict[str, list[int]] = {}
        if _OTHER_SCRIPT.search(foreign) is not None:
            chars = frozenset(foreign.lower())
            for word in _of_other_scripts():
                if chars.issuperset(word) and word in text:
                    places[word] = [match.start() for match in re.finditer(re.escape(word), text)]
        self.has_long_word = False
        """True when a run of letters and digits is long enough to be encoded text."""
        for match in _WORD.finditer(text):
            word = match[0]
            if word in _groups_of:
                places.setdefault(word, []).append(match.start())
            if len(word) >= _LONG_WORD and word.isascii() and word.isalnum() and not word.isalpha():
                self.has_long_word = True
        by_group: dict[int, list[int]] = {}
        for word, at in places.items():
            for number in _groups_of[word]:
                by_group.setdefault(number, []).extend(at)
        self._places = by_group
        self.groups = by_group.keys()
        """The groups of which a word occurs."""

    def around(self, groups: Sequence[int], reach: int) -> Iterator[tuple[int, int]]:
        """Yield the parts around words of the first group that have one of each other group near.

        ``reach`` is how many characters before and after are meant.
        """
        first, *others = (sorted(self._places[each]) for each in groups)
        start, end = -1, -reach - 1
        for at in first:
            if all(_is_near(each, at, reach) for each in others):
                if at - reach > end:
                    if start >= 0:
                        yield start, end
                    start = max(at - reach, 0)
                # No match ends there, so nothing takes it for the end of a file.
                end = at + reach + 1
        if start >= 0:
            yield start, end


def _is_near(places: Sequence[int], at: int, reach: int) -> bool:
    index = bisect_left(places, at - reach)
    return index < len(places) and places[index] <= at + reach
