"""Names that are taken for one another: one letter apart, or the same to the eye.

One letter apart (one inserted, left out, changed, or two neighbours swapped) is found by leaving
out each letter of every name: two such names share one of the results. The same to the eye means
an equal skeleton: accents off, look-alike letters folded, hyphens dropped. Both cost a table of
as many entries as the names have letters, not a comparison of all names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

__all__ = ["look_alikes", "one_letter_apart", "skeleton"]

_MIN_CHARS = 4
"""Shorter names (pdf, git) have honest neighbours everywhere."""
_MAX_CHARS = 64
"""Longer names are no spec names; and a table of their parts would be large."""
_MAX_BUCKET = 64
"""Names compared within one table entry: bounds the work where many names are one pattern."""

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


def skeleton(name: str) -> str:
    """Return what a name looks like at a glance; equal skeletons are confusable."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    kept = (char for char in folded if not unicodedata.combining(char) and char not in "-_. ")
    text = "".join(_LOOK.get(char, char) for char in kept)
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
    """True when the names differ in one digit only: a series (step-1, step-2), no imitation."""
    if len(one) != len(two):
        return False
    return all(a == b or (a.isdigit() and b.isdigit()) for a, b in zip(one, two, strict=True))


def look_alikes(names: Sequence[str]) -> dict[str, str]:
    """Return, for each name that has one, the first other name that it may be taken for.

    Order: as given. Names that are equal are one name.
    """
    distinct = list(dict.fromkeys(name for name in names if len(name) <= _MAX_CHARS))
    found: dict[str, str] = {}
    for bucket in _buckets(distinct):
        _pair_up(bucket, found)
    place = {name: number for number, name in enumerate(distinct)}
    return dict(sorted(found.items(), key=lambda item: place[item[0]]))


def _buckets(names: Sequence[str]) -> Iterator[list[str]]:
    """Yield the groups within which look-alikes are: equal skeletons, equal but for a letter."""
    by_skeleton: dict[str, list[str]] = {}
    by_rest: dict[str, list[str]] = {}
    for name in names:
        by_skeleton.setdefault(skeleton(name), []).append(name)
        if len(name) >= _MIN_CHARS:
            for rest in sorted({name, *(name[:at] + name[at + 1 :] for at in range(len(name)))}):
                by_rest.setdefault(rest, []).append(name)
    for groups in (by_skeleton, by_rest):
        yield from (group for group in groups.values() if len(group) > 1)


def _pair_up(bucket: list[str], found: dict[str, str]) -> None:
    group = bucket[:_MAX_BUCKET]
    for name in group:
        if name in found:
            continue
        for other in group:
            if other != name and not _numbered(name, other) and _alike(name, other):
                found[name] = other
                break


def _alike(one: str, two: str) -> bool:
    return one_letter_apart(one, two) or skeleton(one) == skeleton(two)
