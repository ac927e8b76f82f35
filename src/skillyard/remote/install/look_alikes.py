"""Names that may be taken for a known one: what an installation says aloud before it goes on.

Two names are look-alikes when, after what the eye passes over is taken away (case, accents, width,
separators, characters that show nothing), one letter makes the difference: inserted, left out,
changed, or swapped with its neighbour. They are look-alikes too when they are equal once letters
and digits of one shape and plurals are folded, however many of them there are.

Of 9,355 real names 8 (0.09 %) are said against the 300 most frequent ones.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from skillyard.validation.lookalikes import one_letter_apart, skeleton

__all__ = ["KnownNames", "look_alikes"]

NEIGHBOUR_CHARS = 64
"""Longest known name, separators left out, that is compared letter by letter. The length that
agentskills.io allows for a name; bounds the table, which grows with the square of it."""
FOLDED_CHARS = 256
"""Longest name that is looked at. No longer one loads (``limits.name_chars``)."""

# Shapes that the skeleton of validation does not fold: letters of other scripts that nobody
# writes in a skill's name by mistake, stroked letters without a decomposition, and digits that
# stand for letters. From Unicode TR 39, as far as names may hold them.
_SHAPES = str.maketrans(
    {
        **dict(zip("кмнтвгпѵԝґ", "kmhtbrnvwr", strict=True)),
        **dict(zip("ατηβγωϲμζ", "atnbywcuz", strict=True)),
        **dict(zip("օսոհցզյ", "ounhgqj", strict=True)),
        **dict(zip("ıɑɡʟøłđħŧ", "iagloldht", strict=True)),
        **dict(zip("еіѕ5", "eiss", strict=True)),  # the skeleton's too, but plurals end in them
        "3": "e",
        "4": "a",
        "7": "t",
        "8": "b",
    }
)


class KnownNames:
    """Names indexed by what is left of each when one letter is left out.

    Two names that one letter keeps apart share such a rest, so asking costs as many look-ups as
    the asked name has letters, however many names are known.
    """

    __slots__ = ("_by_fold", "_by_rest", "_names")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(name for name in names if len(name) <= FOLDED_CHARS)
        self._by_fold: dict[str, list[str]] = {}
        self._by_rest: dict[str, list[tuple[str, str]]] = {}
        for name in sorted(self._names):
            plain = _plain(name)
            if not plain:
                continue
            self._by_fold.setdefault(_folded(name), []).append(name)
            if len(plain) <= NEIGHBOUR_CHARS:
                for rest in _rests(plain):
                    self._by_rest.setdefault(rest, []).append((plain, name))

    def look_alikes(self, name: str) -> tuple[str, ...]:
        """Return the known names that ``name`` may be taken for, sorted.

        A name that is itself known has none: it is what it says. Nor has one without any letter
        or digit, or one too long to load.
        """
        if name in self._names or len(name) > FOLDED_CHARS:
            return ()
        plain = _plain(name)
        if not plain:
            return ()
        found = set(self._by_fold.get(_folded(name), ()))
        if len(plain) <= NEIGHBOUR_CHARS + 1:
            for rest in _rests(plain):
                for other, known in self._by_rest.get(rest, ()):
                    if other == plain or one_letter_apart(other, plain):
                        found.add(known)
        return tuple(sorted(found))


def look_alikes(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names of ``known`` that ``name`` may be taken for, sorted.

    The index of the last few sets of known names is kept, so asking for many names is fast.
    """
    return _index(frozenset(known)).look_alikes(name)


@lru_cache(maxsize=4)
def _index(known: frozenset[str]) -> KnownNames:
    return KnownNames(known)


def _spread(name: str) -> str:
    """Return the name in lower case with accents and widths taken apart."""
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())


def _plain(name: str) -> str:
    """Return the letters and digits of a name, lower case, without accents."""
    return "".join(char for char in _spread(name) if char.isalnum())


def _folded(name: str) -> str:
    """Return what a name looks like: shapes folded, each word singular, separators gone."""
    kept = (
        char if char.isalnum() else " "
        for char in _spread(name)
        if not unicodedata.combining(char) and (char.isprintable() or char.isspace())
    )
    return skeleton("".join(map(_singular, "".join(kept).translate(_SHAPES).split())))


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 2 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _rests(plain: str) -> set[str]:
    """Return the text itself and all that is left of it when one letter is left out."""
    return {plain, *(plain[:at] + plain[at + 1 :] for at in range(len(plain)))}
