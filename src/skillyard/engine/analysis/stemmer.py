"""Stems by Snowball's English stemmer (Porter 2), through PyStemmer."""

from __future__ import annotations

from _thread import allocate_lock  # threading itself costs more than a stem of every word here
from typing import Any

MIN_STEMMED_CHARS = 4
"""Shorter words are not stemmed, because they are acronyms as often as plurals."""

_lock = allocate_lock()
_stemmer: Any = None


def stem(tokens: list[str]) -> list[str]:
    """Return the tokens with ASCII words stemmed."""
    return [
        stem_word(t) if len(t) >= MIN_STEMMED_CHARS and t.isascii() and t.isalpha() else t
        for t in tokens
    ]


def stem_word(word: str) -> str:
    """Return the stem of one word of ASCII letters in lower case, whatever its length."""
    with _lock:  # a stemmer uses one buffer for all calls
        if _stemmer is None:
            _load()
        return _stemmer.stemWord(word)  # type: ignore[no-any-return]


def stem_words(words: list[str]) -> list[str]:
    """Return the stem of each word, in order."""
    with _lock:
        if _stemmer is None:
            _load()
        return _stemmer.stemWords(words)  # type: ignore[no-any-return]


def _load() -> None:
    global _stemmer  # noqa: PLW0603 - loaded when the first word is stemmed, not at import
    import Stemmer

    # PyStemmer's own cache is off, because the analyzer caches whole surfaces.
    _stemmer = Stemmer.Stemmer("english", 0)
