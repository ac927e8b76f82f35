"""The order of JavaScript's ``localeCompare`` in ICU's root locale, which ``en`` shares.

The common skills installer hashes a folder's files in this order, so an equal hash needs the same
order. It is the Unicode Collation Algorithm with ICU's root order: characters are compared by class
first (punctuation, symbols, digits, letters), then by accents, then by case and width, lower case
first. Punctuation counts. Texts that differ only in characters without weight (most control
characters) have the same key.

No package can replace the table: PyICU has no wheels on PyPI (installing it compiles against
libicu), icu4py has wheels but no collator, pyuca sorts by another table (DUCET), and feruca ignores
punctuation. Restricting names to ASCII would change the hash of skills that install today.

The order was read from Node's collator (``data/collation.json``). It is exact for single characters
with two exceptions: ideographs outside the basic block (U+4E00 to U+9FFF) follow that block by code
point, where ICU orders all of them by radical, and about 150 rare forms (circled, squared and
ligature letters and numbers) are in another order beside forms of the same letter.

Supported rules for several characters are canonical equivalence (by ``unicodedata``), letters with
a mark that count as letters of their own (й), and Thai and Lao vowels that are written first.
Contractions of other scripts, and a mark between the two parts of a contraction, are not supported.
Node uses the order of its own locale: with Swedish settings ``ö`` follows ``z`` there, and here it
never does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple
from unicodedata import decomposition, normalize

__all__ = ["CompareKey", "compare_key"]

CompareKey = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""Primary, secondary and tertiary weights; compares like a tuple."""

ASCII_ORDER = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
"""Primary weights of ASCII, ascending; other characters lie between two of these, or after them."""
_BETWEEN = 1 << 20
"""Gap after each ASCII character, so that its weight is known without reading the table."""
_PLAIN, _CAPITAL, _CAPITAL_FORM = 2, 8, 29
_HIRAGANA, _SMALL_KATAKANA, _CIRCLED_KANA = 13, 15, 19
"""Tertiary weights; compatibility forms lie between and above them."""

_OTHER_HAN, _UNKNOWN, _LAST = 1 << 40, 1 << 41, 1 << 42
_FIXED = {"\ufffe": -1, "\ufffd": _LAST, "\uffff": _LAST + 1}
"""Weights that ICU sorts before and after all others."""

_FORMS = {
    "<wide>": 3, "<compat>": 4, "<font>": 5, "<circle>": 6, "<narrow>": 18, "<super>": 20,
    "<sub>": 21, "<vertical>": 22, "<initial>": 23, "<medial>": 24, "<final>": 25,
    "<isolated>": 26, "<noBreak>": 27, "<square>": 28, "<small>": 15, "<fraction>": 30,
}  # fmt: skip
"""Tertiary weights by the kind of compatibility decomposition, as the algorithm defines them."""

# Vowels that are written before the consonant that they follow in speech, and those consonants.
_VOWEL_FIRST = "([\u0e40-\u0e44])([\u0e01-\u0e2e])|([\u0ec0-\u0ec4])([\u0e81-\u0eae\u0edc-\u0edf])"
_SURROGATES = "[\ud800-\udfff]"


class _Weight(NamedTuple):
    """The weights of one character on each level; 0 is ignorable."""

    first: int
    second: int
    third: int


class _Table(NamedTuple):
    weights: dict[str, tuple[_Weight, ...]]
    """By character, or by a decomposed letter with its mark that counts as one letter."""
    joined: dict[str, int]
    """Length of the longest entry of several characters, by its first character."""
    other_han: frozenset[int]


def compare_key(text: str) -> CompareKey:
    """Return a key that sorts as ``localeCompare`` does: equal keys where it returns 0."""
    weights = _ascii_weights(text) if text.isascii() else tuple(_weights(text))
    return (
        tuple(weight.first for weight in weights if weight.first),
        tuple(weight.second for weight in weights if weight.second),
        tuple(weight.third for weight in weights if weight.third),
    )


_COMMON = 1
"""The secondary weight of every character that is not a mark."""


@cache
def _ascii() -> dict[str, _Weight]:
    weights = {}
    for place, character in enumerate(ASCII_ORDER, 1):
        weights[character] = _Weight(place * _BETWEEN, _COMMON, _PLAIN)
        if character.isalpha():
            weights[character.upper()] = _Weight(place * _BETWEEN, _COMMON, _CAPITAL)
    return weights


def _ascii_weights(text: str) -> tuple[_Weight, ...]:
    known = _ascii()
    return tuple(known[character] for character in text if character in known)


def _weights(text: str) -> Iterator[_Weight]:
    table = _table()
    if re.search(_SURROGATES, text):  # surrogate pairs count as one character, as in JavaScript
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    text = re.sub(_VOWEL_FIRST, _spoken, normalize("NFD", text))
    place = 0
    while place < len(text):
        character = text[place]
        size = table.joined.get(character, 1)
        while size > 1 and text[place : place + size] not in table.weights:
            size -= 1
        yield from _of_entry(text[place : place + size], table)
        place += size


def _spoken(match: re.Match[str]) -> str:
    return (match[2] or match[4]) + (match[1] or match[3])


def _of_entry(entry: str, table: _Table) -> tuple[_Weight, ...]:
    known = table.weights.get(entry)
    return _of_unlisted(entry, table) if known is None else known


def _of_unlisted(character: str, table: _Table) -> tuple[_Weight, ...]:
    """Return the weights of a character that is not in the table, from its decomposition if any."""
    kind, *parts = decomposition(character).split() or [""]
    if kind in _FORMS:
        return tuple(
            _formed(weight, kind)
            for part in parts
            for letter in normalize("NFD", chr(int(part, 16)))
            for weight in _of_entry(letter, table)
        )
    code = ord(character)
    first = (_OTHER_HAN if code in table.other_han else _UNKNOWN) + code
    return (_Weight(first, _COMMON, _PLAIN),)


def _formed(weight: _Weight, kind: str) -> _Weight:
    """Return the weight of a letter in a compatibility form."""
    third = _FORMS[kind]
    if weight.third == _CAPITAL:
        third = third + _CAPITAL - _PLAIN if third < _CAPITAL else _CAPITAL_FORM
    elif weight.third >= _HIRAGANA and kind == "<circle>":
        third = _CIRCLED_KANA
    elif weight.third == _SMALL_KATAKANA and kind == "<narrow>":
        third = _SMALL_KATAKANA + 1
    return weight._replace(third=third)


@cache
def _table() -> _Table:
    """Load the table that was made from Node's collator."""
    source = files("skillyard.remote.install").joinpath("data/collation.json")
    stored = json.loads(source.read_text(encoding="utf-8"))
    weights: dict[str, tuple[_Weight, ...]] = dict.fromkeys(_characters(stored["ignorable"]), ())
    for place, line in enumerate(stored["marks"], 1):
        one_mark = (_Weight(0, _second(place * 100), _PLAIN),)
        weights.update(dict.fromkeys(_characters([line]), one_mark))
    _add_leaders(weights, stored["order"])
    for line in stored["variants"]:
        leader, second, third, *runs = line.split()
        weight = weights[_decomposed(leader)][0]._replace(third=int(third))
        mark = (_Weight(0, _second(int(second)), _PLAIN),) if int(second) else ()
        for character in _characters(runs):
            weights[normalize("NFD", character)] = (weight, *mark)
    for line in stored["spelled"]:
        character, spelling = line.split()
        weights[_decomposed(character)] = _spelled(spelling, chr(int(character, 16)))
    weights.update(
        {character: (_Weight(first, _COMMON, _PLAIN),) for character, first in _FIXED.items()}
    )
    joined: dict[str, int] = {}
    for entry in weights:
        if len(entry) > 1:
            joined[entry[0]] = max(len(entry), joined.get(entry[0], 1))
    return _Table(weights, joined, frozenset(map(ord, _characters(stored["han"]))))


def _second(weight: int) -> int:
    return _COMMON + weight


def _spelled(spelling: str, character: str) -> tuple[_Weight, ...]:
    """Return the weights of a letter that counts as two; the second has a mark."""
    third = _CAPITAL if character != character.lower() else 4
    ascii_weights = [weight._replace(third=third) for weight in _ascii_weights(spelling)]
    return (ascii_weights[0], _Weight(0, _second(1_000_000), _PLAIN), *ascii_weights[1:])


def _add_leaders(weights: dict[str, tuple[_Weight, ...]], order: list[str]) -> None:
    known = _ascii()
    first = 0
    for character in _characters(order):
        first = known[character].first if character in known else first + 1
        weights[normalize("NFD", character)] = (_Weight(first, _COMMON, _PLAIN),)


def _decomposed(code: str) -> str:
    return normalize("NFD", chr(int(code, 16)))


def _characters(lines: list[str]) -> Iterator[str]:
    """Yield the characters of lines such as ``61 63-7a``."""
    for line in lines:
        for run in line.split():
            start, _, end = run.partition("-")
            yield from map(chr, range(int(start, 16), int(end or start, 16) + 1))
