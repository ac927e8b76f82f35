"""Text to terms: the preprocessing of the keyword signal.

Source: "Skill Evaluation System", "Text Preprocessing". Two points are repaired, as ruled: words
are split at inner capitals *before* lower-casing (after it there are none left), and letters of
every alphabet are letters. One is added: a word split at capitals also counts as a whole, so that
"GraphQL" and "JavaScript" in a text match the keywords ``graphql`` and ``javascript``. Stems come
from the Snowball English stemmer and are compared for equality only.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from skillyard.base.text import stream_safe
from skillyard.engine.analysis.filters import stem_word

MIN_CHARS = 3
"""Shorter words are dropped ("Filters stop words and short tokens (<3 chars)")."""

_MAX_CACHED_WORD_CHARS = 64
"""Longer words (keys, hashes) are not cached."""

# Function words, and the words of requests that say nothing about the task.
_STOP_TEXT = (
    "about above after again against all also and another any are because been before being "
    "below between both but can could did does doing done dont down during each few for from "
    "had has have having her here him his how into isnt its itself just more most must nor "
    "not now off once only onto other our out over own same she should some such than that "
    "the their them then there these they this those through too under until very was were "
    "what when where which while who why will with within without wont would yes you your get "
    "getting got make makes making use uses used using need needs want wants help let please "
    "thank thanks hello hey"
)
STOP_WORDS = frozenset(_STOP_TEXT.split())

# Runs of letters and digits; an apostrophe inside a word does not end it. The classes are
# disjoint, so the pattern is linear.
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_APOSTROPHES = str.maketrans("", "", "'\u2019")


class Term(NamedTuple):
    """One word of a text."""

    stem: str
    surface: str
    """The word itself, in small letters."""
    whole: bool
    """True for the unsplit form of a word whose parts are also terms."""


def terms(text: str, short_terms: frozenset[str] = frozenset()) -> list[Term]:
    """Return the terms of a text in order, with repetitions.

    Stop words, numbers, and words of fewer than three characters that are not in ``short_terms``
    (lower case) are dropped.
    """
    terms_: list[Term] = []
    for word in _words(text):
        known = _word_terms if len(word) <= _MAX_CACHED_WORD_CHARS else _word_terms.__wrapped__
        terms_ += known(word, short_terms)
    return terms_


def _words(text: str) -> list[str]:
    if text.isascii():
        return _WORD.findall(text)
    text = unicodedata.normalize("NFC", stream_safe(text))
    marks = {char for char in set(text) if unicodedata.category(char).startswith("M")}
    if not marks:
        return _WORD.findall(text)
    # Vowel signs and accents that do not compose belong to the surrounding word.
    word_chars = marks | {"'", "\u2019"}
    return "".join(char if char.isalnum() or char in word_chars else " " for char in text).split()


@lru_cache(maxsize=65_536)
def _word_terms(word: str, short_terms: frozenset[str]) -> tuple[Term, ...]:
    word = word.translate(_APOSTROPHES)
    parts = _split_at_capitals(word)
    split = [_term(part, False, short_terms) for part in parts]
    counted = [term for term in split if term is not None]
    if len(parts) > 1:
        whole = _term(word, bool(counted), short_terms)
        counted += [whole] if whole is not None else []
    return tuple(counted)


def _term(word: str, whole: bool, short_terms: frozenset[str]) -> Term | None:
    word = word.lower()
    if len(word) < MIN_CHARS and word not in short_terms:
        return None
    if word in STOP_WORDS or word.isnumeric():
        return None
    return Term(stem_word(word), word, whole)


def _split_at_capitals(word: str) -> list[str]:
    """Split ``getUserProfile`` and ``HTTPServer`` into their words."""
    if word[1:].islower() or word.isupper() or not word.isalnum():
        return [word]
    starts = [0]
    for at in range(1, len(word)):
        if not word[at].isupper():
            continue
        before, after = word[at - 1], word[at + 1 : at + 2]
        if not before.isupper() or after.islower():
            starts.append(at)
    return [word[start:end] for start, end in zip(starts, [*starts[1:], len(word)], strict=True)]
