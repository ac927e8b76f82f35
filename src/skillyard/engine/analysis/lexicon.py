"""The word list: translates requests in other languages to English search terms.

Each line is a language: its code, then its forms of each concept, in the order of the first line,
which has the English words. So only one line is read closely, and the file packs well. A form that
ends in ``*`` is a prefix. The forms of languages without blanks match anywhere. The list belongs to
the project (``training/data/lexicon``), and is loaded for the first request that is not English.
"""

import os
import re
from functools import cache
from typing import NamedTuple

from skillyard.engine.analysis.analyzer import STANDARD
from skillyard.engine.analysis.filters import fold
from skillyard.engine.analysis.language import FUNCTION_WORDS, language_of, latin_share

INSIDE_WORDS = frozenset({"ja", "zh", "ko"})
"""Languages whose forms match anywhere: they have no word boundaries, or attached endings."""
NEIGHBOURS = {"uk": ("uk", "ru"), "ru": ("ru", "uk")}
"""Related languages whose lists are used together."""
CLITICS = {
    "ar": ("وال", "بال", "لل", "ال", "و", "ب", "ل"),
}
"""Prefixes attached to words: articles, conjunctions, prepositions."""


class QueryLanguage(NamedTuple):
    """The language of a request, and its translation."""

    language: str
    english: tuple[str, ...]
    """English terms from the word list; empty for English requests."""
    silent: frozenset[str]
    """Terms that are function words of the language."""
    latin: float
    """Share of Latin letters, 0..1."""


class _Forms(NamedTuple):
    whole: dict[str, list[int]]
    starts: dict[str, list[int]]
    lengths: tuple[int, ...]
    """Lengths of ``starts``, longest first."""
    heads: frozenset[str]
    """The first characters of ``starts``, as many as the shortest has."""
    spaced: dict[str, list[tuple[int, str, int]]]
    """Forms of several words, or of a script without blanks, by their first character: (position
    in the longest-first order, form, number of the concept)."""


@cache
def _concepts_by_language() -> dict[str, list[str]]:
    """Return the forms of each concept by language, separated by commas; empty without any."""
    path = os.path.join(os.path.dirname(__file__), "data", "lexicon.tsv")
    with open(path, encoding="utf-8") as file:
        lines = (line.rstrip("\n").split("\t") for line in file)
        return {code: concepts for code, *concepts in lines}


@cache
def _forms(code: str) -> _Forms:
    whole: dict[str, list[int]] = {}
    starts: dict[str, list[int]] = {}
    spaced: dict[str, int] = {}
    for number, forms in enumerate(_concepts_by_language().get(code, ())):
        for form in filter(None, map(str.strip, forms.split(","))):
            folded = _fold(form.rstrip("*"))
            if code in INSIDE_WORDS or not folded.isalpha():
                spaced.setdefault(folded, number)
            elif form.endswith("*"):
                starts.setdefault(folded, []).append(number)
            else:
                whole.setdefault(folded, []).append(number)
    lengths = tuple(sorted({len(start) for start in starts}, reverse=True))
    heads = frozenset(start[: lengths[-1]] for start in starts)
    by_first: dict[str, list[tuple[int, str, int]]] = {}
    for place, (form, number) in enumerate(sorted(spaced.items(), key=_longest_first)):
        by_first.setdefault(form[0], []).append((place, form, number))
    return _Forms(whole, starts, lengths, heads, by_first)


def _longest_first(item: tuple[str, int]) -> tuple[int, str]:
    return (-len(item[0]), item[0])


def _fold(text: str) -> str:
    return " ".join(fold(text.split()))


@cache
def _terms(number: int) -> tuple[str, ...]:
    english = _concepts_by_language()["en"][number].replace("/", " ")
    return tuple(dict.fromkeys(STANDARD.terms(english)))


_WORD = r"[^\W\d_]+"


def _concepts(text: str, code: str) -> list[int]:
    """Return the numbers of the concepts in ``text``, for one language, ascending."""
    forms = _forms(code)
    folded = _fold(text)
    numbers: set[int] = set()
    chars = set(folded)
    near = [item for c in chars for item in forms.spaced.get(c, ()) if item[1][-1] in chars]
    for _, form, number in sorted(near):
        if form in folded:
            numbers.add(number)
            folded = folded.replace(form, "\n")  # a matched form consumes its characters
    if not forms.whole and not forms.starts:
        return sorted(numbers)
    has_clitics = code in CLITICS
    for word in re.findall(_WORD, folded):
        for bare in _bare(word, code) if has_clitics else (word,):
            hits = forms.whole.get(bare) or _start(bare, forms)
            if hits:
                numbers.update(hits)
                break
    return sorted(numbers)


def _bare(word: str, code: str) -> list[str]:
    cut = [word[len(c) :] for c in CLITICS.get(code, ()) if word.startswith(c)]
    return [word, *(rest for rest in cut if len(rest) > 2)]


def _start(word: str, forms: _Forms) -> list[int]:
    if not forms.lengths or word[: forms.lengths[-1]] not in forms.heads:
        return []
    for length in forms.lengths:
        if length <= len(word) and (hits := forms.starts.get(word[:length])):
            return hits
    return []


def read_request(text: str, language: str = "") -> QueryLanguage:
    """Return the language of a request, its English terms, and its function words.

    ``language`` is its ISO 639-1 code where that is known.
    """
    latin = latin_share(text)
    code = language or language_of(text, latin)
    if code == "en":
        return QueryLanguage(code, (), frozenset(), latin)
    numbers = [n for near in NEIGHBOURS.get(code, (code,)) for n in _concepts(text, near)]
    english = dict.fromkeys(term for number in numbers for term in _terms(number))
    return QueryLanguage(code, tuple(english), _silent(code), latin)


@cache
def _silent(code: str) -> frozenset[str]:
    """Return the terms of a language's function words."""
    words = FUNCTION_WORDS.get(code, ())
    return frozenset(term for word in words for term in STANDARD.of_surface(word))


def translate(text: str) -> tuple[str, ...]:
    """Return the English terms for a request in another language; nothing for an English one."""
    return read_request(text).english
