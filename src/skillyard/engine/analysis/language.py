"""Detects the language of a request by its script and function words, and translates it.

Only the languages of the word list are distinguished. Any other text counts as
English.

The word list translates requests in other languages to English search terms. Each line is a
language: its code, then its forms of each concept, in the order of the first line, which has the
English words. So only one line is read closely, and the file packs well. A form that ends in ``*``
is a prefix. The forms of languages without blanks match anywhere. The list belongs to the project
(``training/data/lexicon``), and is loaded for the first request that is not English.
"""

import os
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from skillyard.engine.analysis.analyzer import ENGLISH, STANDARD, fold, latin_share

_DATA = os.path.join(os.path.dirname(__file__), "data")


def _function_words() -> dict[str, frozenset[str]]:
    with open(os.path.join(_DATA, "function_words.tsv"), encoding="utf-8") as file:
        lines = (line.rstrip("\n").split("\t") for line in file)
        return {code: frozenset(words.split()) for code, words in lines}


FUNCTION_WORDS = _function_words()
"""By language: words that carry grammar and no topic, as requests write them, with accents."""

MIN_FUNCTION_WORDS = 2
"""Function words of a language that a text must contain; one may be a coincidence, unless the text
has a letter or a sign that English does not use."""
_FOREIGN_LETTER = re.compile("[\u00bf\u00c0-\u024f\u1e00-\u1eff]")

MOSTLY_LATIN = 0.85
"""From this share of Latin letters the script does not decide the language."""

_WORD = r"[^\W\d_]+"
_MARK = 0xF0000
"""The first of the characters for private use that stand for concepts."""
_WORD_OR_MARK = re.compile(rf"[{chr(_MARK)}-\U000ffffd]|{_WORD}")

_SCRIPTS = (
    ("ja", "[\u3040-\u30ff\uff66-\uff9f]"),
    ("ko", "[\uac00-\ud7a3\u1100-\u11ff]"),
    ("zh", "[\u3400-\u9fff\U00020000-\U0002ffff]"),
    ("uk", "[іїєґІЇЄҐ]"),
    ("ru", "[\u0400-\u04ff]"),
    ("ar", "[\u0600-\u06ff]"),
    ("hi", "[\u0900-\u097f]"),
)


@cache
def cue_patterns(table: str, *languages: str) -> dict[str, list[str]]:
    """Return the patterns of a table of cues for some languages, by kind."""
    rows: dict[str, list[str]] = {}
    with open(os.path.join(_DATA, f"{table}.tsv"), encoding="utf-8") as file:
        for row in file:
            if not row.startswith("#"):
                code, kind, pattern = row.rstrip("\n").split("\t")
                if code in languages:
                    rows.setdefault(kind, []).append(pattern)
    return rows


def language_of(text: str, latin: float | None = None) -> str:
    """Return the ISO 639-1 code of the language of ``text``; ``en`` by default.

    The script decides when more than 15 % of the letters are not Latin. Among languages in Latin
    letters, the one with the most function words wins if it has more than English; ties go to the
    first code. ``latin`` is the share of Latin letters, if it is already known.
    """
    if (latin_share(text) if latin is None else latin) < MOSTLY_LATIN:
        for code, script in _SCRIPTS:
            if re.search(script, text):
                return code
    # Lower-cased after splitting: the lower case of İ contains a combining mark.
    counts = Counter(" ".join(re.findall(_WORD, text)).lower().split(" "))
    votes = {
        code: sum(map(counts.__getitem__, counts.keys() & words))
        for code, words in (*FUNCTION_WORDS.items(), ("en", ENGLISH))
    }
    english = votes.pop("en")
    best = min(votes, key=lambda code: (-votes[code], code))
    enough = MIN_FUNCTION_WORDS - (_FOREIGN_LETTER.search(text) is not None)
    return best if votes[best] >= enough and votes[best] > english else "en"


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
    rough: str
    """The text, put into English word by word."""


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
    with open(os.path.join(_DATA, "lexicon.tsv"), encoding="utf-8") as file:
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
    longest_first = sorted(spaced.items(), key=lambda item: (-len(item[0]), item[0]))
    for place, (form, number) in enumerate(longest_first):
        by_first.setdefault(form[0], []).append((place, form, number))
    return _Forms(whole, starts, lengths, heads, by_first)


def _fold(text: str) -> str:
    return " ".join(fold(text.split()))


@cache
def _terms(number: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(STANDARD.terms(_english(number).replace("/", " "))))


def _translated(text: str, codes: tuple[str, ...], silent: frozenset[str]) -> tuple[str, set[int]]:
    """Return a rough English of ``text``, word by word, and the numbers of its concepts.

    Unknown words stay; they may be names.
    """
    folded = _fold(text)
    for code in codes:
        spaced, chars = _forms(code).spaced, set(folded)
        near = [item for c in chars for item in spaced.get(c, ()) if item[1][-1] in chars]
        start = "" if code in INSIDE_WORDS or code in CLITICS else r"\b"
        for _, form, number in sorted(near):
            if form in folded:  # a matched form consumes its characters
                folded = re.sub(start + re.escape(form), f" {chr(_MARK + number)} ", folded)
    numbers: set[int] = set()

    def english(match: re.Match[str]) -> str:
        word = match.group()
        if word in silent:
            return ""
        own = [ord(word) - _MARK] if word >= chr(_MARK) else _concepts(word, codes)
        numbers.update(own)
        return " ".join([_english(number).partition("/")[0] for number in own]) or word

    return " ".join(_WORD_OR_MARK.sub(english, folded).split()), numbers


def _concepts(word: str, codes: tuple[str, ...]) -> list[int]:
    for code in codes:
        forms = _forms(code)
        for bare in _bare(word, code) if code in CLITICS else (word,):
            if hits := forms.whole.get(bare) or _start(bare, forms):
                return hits
    return []


def _english(number: int) -> str:
    return _concepts_by_language()["en"][number]


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
        return QueryLanguage(code, (), frozenset(), latin, text)
    words, terms = _silent(code)
    rough, numbers = _translated(text, NEIGHBOURS.get(code, (code,)), words)
    english = dict.fromkeys(term for number in sorted(numbers) for term in _terms(number))
    return QueryLanguage(code, tuple(english), terms, latin, rough)


@cache
def _silent(code: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return a language's function words, folded, and their terms."""
    words = FUNCTION_WORDS.get(code, ())
    terms = (term for word in words for term in STANDARD.of_surface(word))
    return frozenset(map(_fold, words)), frozenset(terms)
