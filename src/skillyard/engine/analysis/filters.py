"""The filters of the analyzer chain (:mod:`.analyzer`).

A filter is a function from the tokens of one word to tokens. Each can be tested and replaced alone.
"""

from __future__ import annotations

import re
from _thread import allocate_lock  # threading itself costs more than a stem of every word here
from collections.abc import Callable
from typing import Any, Literal

from skillyard.engine.analysis.language import script_runs
from skillyard.engine.analysis.vocabulary import ENGLISH, TECHNICAL

Filter = Callable[[list[str]], list[str]]

MAX_TERM_CHARS = 40
"""Longer tokens are hashes, keys or encoded data, and are dropped."""

MAX_COMPOUND_PARTS = 3
"""Compounds of up to this many parts are also kept as a whole."""

_PART = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])"  # the HTTP of HTTPServer
    r"|[A-Z]?[a-z]+[0-9]*"  # fast, Api, python3
    r"|[A-Z]+[0-9]*"  # API, S3
    r"|[0-9]+(?:[a-z]{1,2}(?![a-z]))?"  # 42, 4k, 3d
)
_PLURAL = re.compile(r"(?<=[A-Z]{2})s(?![A-Za-z])")
"""The ending of a plural acronym: of ``PRs`` and ``PDFs``."""
_JOINED = r"[-_.'’]+"
_NUMBERED = r"([a-z]{3,})[0-9]+$"


def compatible(tokens: list[str]) -> list[str]:
    """Return the compatibility forms (NFKC), for example of full-width letters and ligatures."""
    return [t if t.isascii() else _normalise("NFKC", t) for t in tokens]


def _normalise(form: Literal["NFKC", "NFD"], token: str) -> str:
    from unicodedata import normalize  # deferred: ASCII text does not need it

    return normalize(form, token)


def known_terms(tokens: list[str]) -> list[str]:
    """Replace technical terms by their canonical form: ``C++`` and ``cpp`` become ``c++``."""
    return [TECHNICAL.get(t.lower(), t) for t in tokens]


def split_compounds(tokens: list[str]) -> list[str]:
    """Split camelCase, kebab-case, snake_case and dotted words, and keep short compounds whole too.

    ``FastAPI-templates`` gives ``Fast API templates FastAPItemplates``; ``python3`` gives
    ``python3 python``, and ``PRs`` gives ``PR``. Possessive ``'s`` and words in ``n't`` are
    dropped.
    """
    out: list[str] = []
    for token in tokens:
        if (token.islower() and token.isalpha() and token.isascii()) or token in TECHNICAL.values():
            out.append(token)
        elif token.isascii():
            out += _parts(token)
        else:
            out += _pieces(token)
    return out


def _pieces(token: str) -> list[str]:
    """Split a word that is not ASCII at hyphens and the like."""
    pieces = [piece for piece in re.split(_JOINED, token) if piece]
    return pieces if len(pieces) < 2 else [*pieces, "".join(pieces)]


def _parts(token: str) -> list[str]:
    token = token.replace("’", "'")
    if token.endswith(("'s", "'S")):
        token = token[:-2]
    elif token.endswith(("n't", "N'T")):
        return []
    parts = _PART.findall(_PLURAL.sub("", token.replace("'", "")))
    known = [TECHNICAL.get(part.lower(), part) for part in parts]
    whole = "".join(parts)
    if 1 < len(parts) <= MAX_COMPOUND_PARTS and any(part.isalpha() for part in parts):
        known.append(TECHNICAL.get(whole.lower(), whole))
    numbered = [m[1] for part in parts if (m := re.match(_NUMBERED, part.lower()))]
    return known + numbered


def fold(tokens: list[str]) -> list[str]:
    """Fold case, and accents of the Latin script: ``Déploiement`` is ``deploiement``."""
    return [t.lower() if t.isascii() else _fold(t) for t in tokens]


def _fold(token: str) -> str:
    folded = token.casefold()
    if min(folded) > "\u1eff":
        return folded
    if not any("\u00c0" <= char <= "\u024f" or "\u1e00" <= char <= "\u1eff" for char in folded):
        return folded
    marks = _normalise("NFD", folded.replace("ł", "l").replace("ı", "i"))
    return "".join(char for char in marks if not "\u0300" <= char <= "\u036f")


def split_scripts(tokens: list[str]) -> list[str]:
    """Split a word where its script changes: ``Dockerの`` gives ``Docker`` and ``の``."""
    out: list[str] = []
    for token in tokens:
        out += [token] if token.isascii() else [run for run, _ in script_runs(token)]
    return out


def bigrams(tokens: list[str]) -> list[str]:
    """Replace words of scripts without blanks by character bigrams; a single character stays."""
    out: list[str] = []
    for token in tokens:
        if token.isascii() or not any(dense for _, dense in script_runs(token)) or len(token) == 1:
            out.append(token)
        else:
            out += [token[i : i + 2] for i in range(len(token) - 1)]
    return out


def stop(tokens: list[str]) -> list[str]:
    """Drop English function words, numbers of five or more digits, and tokens that are too long."""
    return [
        t
        for t in tokens
        if t not in ENGLISH and len(t) <= MAX_TERM_CHARS and not (t.isdigit() and len(t) > 4)
    ]


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
