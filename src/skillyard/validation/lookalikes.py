"""Finds confusable names: names that differ in one letter, or that look the same.

Names that differ in one edit (insertion, deletion, substitution, or a swap of neighbours) share one
of the texts that result from deleting one letter. Names that look the same have an equal skeleton:
without accents and hyphens, with look-alike letters folded. Both use tables with one entry for each
letter, so that names are not compared pairwise.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

__all__ = ["look_alikes", "one_letter_apart", "skeleton"]

_MIN_CHARS = 4
"""Shorter names (pdf, git) often differ in one letter for good reason."""
_MAX_CHARS = 64
"""The specification does not allow longer names, and their table entries would be many."""
_MAX_BUCKET = 64
"""Limit for the names compared within one table entry, when many names follow one pattern."""

# Characters that look like a Latin letter or a digit (from Unicode TR 39, as far as allowed in
# names).
_LOOK = {
    **dict(zip("аеорсухіјѕԁһӏ", "aeopcyxijsdhl", strict=True)),
    **dict(zip("αικνορυχ", "aiknopux", strict=True)),
    "0": "o",
    "1": "l",
    "i": "l",
    "5": "s",
}
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))


def skeleton(name: str) -> str:
    """Return the skeleton of a name. Names with equal skeletons look the same."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    chars = (char for char in folded if not unicodedata.combining(char) and char not in "-_. ")
    text = "".join(_LOOK.get(char, char) for char in chars)
    for pair, letter in _PAIRS:
        text = text.replace(pair, letter)
    return text


def one_letter_apart(one: str, two: str) -> bool:
    """True when one insertion, deletion, change or swap of neighbours makes the names equal."""
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


def _numbered(one: str, two: str) -> bool:
    """True when the names differ only in digits, as in a series (step-1, step-2)."""
    if len(one) != len(two):
        return False
    return all(a == b or (a.isdigit() and b.isdigit()) for a, b in zip(one, two, strict=True))


def look_alikes(names: Sequence[str]) -> dict[str, str]:
    """Return each confusable name with the first other name that it can be confused with.

    The order is that of ``names``. Equal names count once.
    """
    distinct = list(dict.fromkeys(name for name in names if len(name) <= _MAX_CHARS))
    lookalike_of: dict[str, str] = {}
    for bucket in _buckets(distinct):
        _pair_up(bucket, lookalike_of)
    place = {name: number for number, name in enumerate(distinct)}
    return dict(sorted(lookalike_of.items(), key=lambda item: place[item[0]]))


def _buckets(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield groups of names that may be confusable: with equal skeletons, or one edit apart."""
    by_skeleton: dict[str, list[str]] = {}
    by_rest: dict[str, list[str]] = {}
    for name in names:
        by_skeleton.setdefault(skeleton(name), []).append(name)
        if len(name) >= _MIN_CHARS:
            for rest in sorted({name, *(name[:at] + name[at + 1 :] for at in range(len(name)))}):
                by_rest.setdefault(rest, []).append(name)
    for groups in (by_skeleton, by_rest):
        yield from (group for group in groups.values() if len(group) > 1)


def _pair_up(bucket: list[str], lookalike_of: dict[str, str]) -> None:
    group = bucket[:_MAX_BUCKET]
    for name in group:
        if name in lookalike_of:
            continue
        for other in group:
            if other != name and not _numbered(name, other) and _alike(name, other):
                lookalike_of[name] = other
                break


def _alike(one: str, two: str) -> bool:
    return one_letter_apart(one, two) or skeleton(one) == skeleton(two)
