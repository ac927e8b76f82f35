"""Names that may be taken for one another: one letter apart, or the same to the eye.

One letter apart is inserted, left out, changed, or two neighbours swapped. The same to the eye is
an equal skeleton: accents off, look-alike letters folded, separators dropped.

``check`` compares the names of one library with each other (:func:`look_alike_pairs`), by a table
of what is left of each name without one of its letters, not by a comparison of all names. ``add``
compares one new name with those that are installed (:func:`look_alikes`), and folds more there:
case, accents, width, letters of other scripts, digits that stand for letters, plurals, and a random
suffix. Of 9,355 real names 8 (0.09 %) are reported against the 300 most frequent ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

MIN_CHARS = 4
"""Shorter names (pdf, git) have honest neighbours everywhere: one letter apart is not reported."""
NEIGHBOUR_CHARS = 64
"""Longest name that is compared letter by letter: the length that agentskills.io allows. Bounds the
table, which grows with the square of it."""
FOLDED_CHARS = 256
"""Longest name that is compared. Longer ones do not load (``limits.name_chars``)."""
MAX_BUCKET = 64
"""Names compared within one table entry: bounds the work where many names are one pattern."""

_RANDOM_SUFFIX = re.compile(
    r"[-_](?=[a-z0-9]{4,8}\Z)(?:[a-z]+[0-9]+[a-z]+|[0-9]+[a-z]+[0-9])[a-z0-9]*\Z"
)
"""Letters and digits that change at least twice (``-6yr3b``): copies of a name are called so."""

# What is taken for a Latin letter or a digit (from Unicode TR 39, as far as names may hold it).
_LOOK = {
    **dict(zip("аеорсухіјѕԁһӏ", "aeopcyxijsdhl", strict=True)),
    **dict(zip("αικνορυχ", "aiknopux", strict=True)),
    "0": "o",
    "1": "l",
    "i": "l",
    "5": "s",
}
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))

# Shapes that the skeleton does not fold: letters of other scripts that nobody writes in a skill's
# name by mistake, stroked letters without a decomposition, and digits that stand for letters.
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


def skeleton(name: str) -> str:
    """Return the visual skeleton of a name; names with equal skeletons are confusable."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    letters = (char for char in folded if not unicodedata.combining(char) and char not in "-_. ")
    text = "".join(_LOOK.get(char, char) for char in letters)
    for pair, letter in _PAIRS:
        text = text.replace(pair, letter)
    return text


def latin_shape(char: str) -> str:
    """Return the small Latin letter that a letter of another script looks like, else the letter."""
    if char.isascii():
        return char
    small = char.lower()
    return _LOOK.get(small, small.translate(_SHAPES))


def differ_by_one_letter(one: str, two: str) -> bool:
    """Return True when one insertion, deletion, change or swap of neighbours makes them equal."""
    if one == two or abs(len(one) - len(two)) > 1:
        return False
    start = 0
    while start < min(len(one), len(two)) and one[start] == two[start]:
        start += 1
    rest_one, rest_two = one[start:], two[start:]
    return (
        rest_one[1:] == rest_two[1:]
        or rest_one[1:] == rest_two
        or rest_one == rest_two[1:]
        or (rest_one[:2] == rest_two[:2][::-1] and rest_one[2:] == rest_two[2:])
    )


def _deletions(text: str) -> set[str]:
    """Return the text itself and all that is left of it when one letter is left out."""
    return {text, *(text[:at] + text[at + 1 :] for at in range(len(text)))}


def look_alikes(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names of ``known`` that ``name`` may be taken for, sorted.

    A name that is itself known has none. Nor has one without any letter or digit, or one too long
    to load.
    """
    names = frozenset(known)
    plain = _plain(name)
    if name in names or not plain or len(name) > FOLDED_CHARS:
        return ()
    suffix = _RANDOM_SUFFIX.search(name.casefold())
    folds = {_fold(name), _fold(name if suffix is None else name[: suffix.start()])}

    def is_alike(other: str) -> bool:
        letters = _plain(other)
        is_compared = len(plain) >= MIN_CHARS and len(letters) <= NEIGHBOUR_CHARS
        is_near = is_compared and differ_by_one_letter(letters, plain)
        return bool(letters) and (is_near or letters == plain or _fold(other) in folds)

    return tuple(sorted(each for each in names if len(each) <= FOLDED_CHARS and is_alike(each)))


def _decompose(name: str) -> str:
    """Return the name in lower case with accents and widths taken apart."""
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())


@lru_cache(maxsize=65_536)
def _plain(name: str) -> str:
    """Return the letters and digits of a name, lower case, without accents."""
    return "".join(char for char in _decompose(name) if char.isalnum())


@lru_cache(maxsize=65_536)
def _fold(name: str) -> str:
    """Return a name with its shapes folded, each word singular, and without separators."""
    visible = (
        char if char.isalnum() else " "
        for char in _decompose(name)
        if not unicodedata.combining(char) and (char.isprintable() or char.isspace())
    )
    return skeleton("".join(map(_singular, "".join(visible).translate(_SHAPES).split())))


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 2 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def look_alike_pairs(names: Sequence[str]) -> dict[str, str]:
    """Return, for each name that has one, the first other name that it may be taken for.

    Order: as given. Names that are equal are one name; a series of numbers (step-1, step-2) is no
    imitation.
    """
    distinct = list(dict.fromkeys(name for name in names if len(name) <= NEIGHBOUR_CHARS))
    pairs: dict[str, str] = {}
    for bucket in _buckets(distinct):
        _add_pairs(bucket, pairs)
    position = {name: number for number, name in enumerate(distinct)}
    return dict(sorted(pairs.items(), key=lambda item: position[item[0]]))


def _buckets(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the groups within which look-alikes are: equal skeletons, equal but for a letter."""
    by_skeleton: dict[str, list[str]] = {}
    by_deletion: dict[str, list[str]] = {}
    for name in names:
        by_skeleton.setdefault(skeleton(name), []).append(name)
        if len(name) >= MIN_CHARS:
            for deletion in sorted(_deletions(name)):
                by_deletion.setdefault(deletion, []).append(name)
    for groups in (by_skeleton, by_deletion):
        yield from (group for group in groups.values() if len(group) > 1)


def _add_pairs(bucket: list[str], pairs: dict[str, str]) -> None:
    group = bucket[:MAX_BUCKET]
    for name in group:
        if name in pairs:
            continue
        for other in group:
            if other != name and not _same_series(name, other):
                if not differ_by_one_letter(name, other) and skeleton(name) != skeleton(other):
                    continue
                pairs[name] = other
                break


def _same_series(one: str, two: str) -> bool:
    """Return True when the names differ in digits only, as step-1 and step-2 do."""
    if len(one) != len(two):
        return False
    return all(a == b or (a.isdigit() and b.isdigit()) for a, b in zip(one, two, strict=True))
