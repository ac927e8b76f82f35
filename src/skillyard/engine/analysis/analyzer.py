"""The analyzer: a tokenizer and a chain of filters, the same for skills and for queries.

A filter is a function from the tokens of one word to tokens. Each can be tested and replaced alone.
"""

from __future__ import annotations

import re
import sys
from _thread import allocate_lock  # threading itself costs more than a stem of every word here
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from functools import cache, reduce
from typing import Any, Literal

VERSION = 2
"""Version of the analysis. Indexes of another version are rebuilt."""

# A run of word characters may hold underscores; what it holds is taken apart later. The pattern
# has no nested repetition over the same characters, so it is linear.
surfaces = re.compile(r"\.?\w+(?:[-.'’]\w+)*(?:\+\+|#)?").findall
"""Returns the surfaces of a text in order, repetitions kept: the words before any filter.

A surface is a maximal run of letters and digits with the joiners that technical writing puts
inside a word (``fast-api``, ``snake_case``, ``next.js``, ``don't``), a leading dot (``.net``)
and the endings of a few language names (``c++``, ``c#``). A slash joins nothing: paths fall
apart."""


_STOP_WORDS = """
a able about above actually after again all already also always am an and another any anyone
anything are around as at be because been before being below between both but by can cannot
cant come could did didnt do does doesnt doing done dont down during each either else etc even
ever every few for from further get gets getting give go going gonna got had has have having
he hello help helps her here hers herself hey hi him himself his how however i id if ill im in
into is isnt it its itself ive just kind know let lets like look looking lot make makes making
may maybe me mean means might mine more most much must my myself need needs neither no nor not
now of off ok okay on once one only onto or other our ours out over own per please put quite
rather really same say see seem seems shall she should since so some somehow someone something
still stuff such sure take tell than thank thanks that thats the their theirs them themselves
then there these they thing things this those though through to too toward try trying under
until up upon us use used uses using very via want wanted wants was way we well were what
whatever when where whether which while who whom whose why will wish with within without wont
would yes yet you your yours yourself
"""

ENGLISH = frozenset(_STOP_WORDS.split())
"""Words that carry no topic: English function words and the shell of a polite request.

The list is short, because rarity already reduces the weight of common words. It contains the words
that are frequent in requests but *not* in skills, where rarity is misleading.
"""

TECHNICAL: dict[str, str] = {
    "c++": "c++",
    "cpp": "c++",
    "c#": "c#",
    "csharp": "c#",
    "f#": "f#",
    "fsharp": "f#",
    ".net": "dotnet",
    "dotnet": "dotnet",
    "asp.net": "aspnet",
    "node.js": "nodejs",
    "next.js": "nextjs",
    "nuxt.js": "nuxt",
    "vue.js": "vue",
    "vuejs": "vue",
    "react.js": "react",
    "reactjs": "react",
    "angularjs": "angular",
    "three.js": "threejs",
    "d3.js": "d3",
    "express.js": "express",
    "k8s": "kubernetes",
    "kube": "kubernetes",
    "postgres": "postgresql",
    "psql": "postgresql",
    "pg": "postgresql",
    "mongo": "mongodb",
    "js": "javascript",
    "repo": "repository",
    "repos": "repository",
    "db": "database",
    "dbs": "database",
    "env": "environment",
    "config": "configuration",
    "configs": "configuration",
    "perf": "performance",
    "docs": "documentation",
    "spec": "specification",
    "specs": "specification",
    "app": "application",
    "apps": "application",
    "tf": "terraform",
    "gha": "githubactions",
    "xlsx": "excel",
    "xls": "excel",
    "docx": "word",
    "pptx": "powerpoint",
    "ppt": "powerpoint",
    "a11y": "accessibility",
    "i18n": "internationalization",
    "l10n": "localization",
    "o11y": "observability",
    "e2e": "endtoend",
}
"""Technical terms that ordinary splitting would destroy, and short names of the same thing.

Left: how people write it, in lower case. Right: the one term that stands for it, for skills and
queries alike. Only true synonyms are listed; what is merely related is the semantic table's work.
"""

# First code point of each block that matters here, its class, ascending. Blocks as in the
# Unicode Character Database, Blocks.txt; neighbours of one class are merged.
_STARTS = (
    (0x0000, "other"), (0x0041, "latin"), (0x0250, "other"), (0x0370, "greek"),
    (0x0400, "cyrillic"), (0x0530, "armenian"), (0x0590, "hebrew"), (0x0600, "arabic"),
    (0x0700, "other"), (0x0900, "devanagari"), (0x0980, "indic"), (0x0E00, "thai"),
    (0x0F00, "other"), (0x1000, "myanmar"), (0x10A0, "georgian"), (0x1100, "hangul"),
    (0x1200, "ethiopic"), (0x13A0, "other"), (0x1780, "khmer"), (0x1800, "other"),
    (0x1E00, "latin"), (0x1F00, "greek"), (0x2000, "other"), (0x2E80, "han"),
    (0x3040, "kana"), (0x3100, "han"), (0x3130, "hangul"), (0x3190, "han"),
    (0x31F0, "kana"), (0x3200, "han"), (0xA000, "other"), (0xAC00, "hangul"),
    (0xD800, "other"), (0xF900, "han"), (0xFB00, "latin"), (0xFB1D, "hebrew"),
    (0xFB50, "arabic"), (0xFE00, "other"), (0xFF66, "kana"), (0xFFA0, "hangul"),
    (0xFFE0, "other"), (0x20000, "han"), (0x32000, "other"),
)  # fmt: skip
_FIRST = [start for start, _ in _STARTS]
_CLASS = [name for _, name in _STARTS]

_UNSPACED = frozenset({"han", "kana", "hangul", "thai", "khmer", "myanmar"})
"""Written without blanks, or (Hangul) with attached endings."""
_DIGITS = frozenset("0123456789")


def _class(char: str) -> str:
    return _CLASS[bisect_right(_FIRST, ord(char)) - 1]


def script_runs(word: str) -> list[tuple[str, bool]]:
    """Return (run of one script, whether it is unspaced); digits belong to the preceding run.

    Han and kana are one script here: Japanese words mix them.
    """
    runs: list[tuple[str, bool]] = []
    start, current = 0, ""
    for place, char in enumerate(word):
        if char in _DIGITS and current:
            continue
        kind = _class(char)
        kind = "han" if kind == "kana" else kind
        if kind == "other":  # combining marks belong to the preceding character
            kind = current or kind
        if current and kind != current:
            runs.append((word[start:place], current in _UNSPACED))
            start = place
        current = kind
    runs.append((word[start:], current in _UNSPACED))
    return [run for run in runs if run[0]]


def latin_share(text: str) -> float:
    """Return the share of Latin letters among the letters of ``text``, 0..1; 1.0 without any."""
    if text.isascii():
        return 1.0
    others = sum(map(str.isalpha, "".join(_not_latin().findall(text))))
    if not others:
        return 1.0
    letters = sum(map(str.isalpha, text))
    return (letters - others) / letters


@cache
def _not_latin() -> re.Pattern[str]:
    """Return the pattern of runs outside the blocks of Latin letters and what precedes them."""
    ends = (*_FIRST[1:], sys.maxunicode + 1)
    latin = [(a, b) for a, b, name in zip(_FIRST, ends, _CLASS, strict=True) if name == "latin"]
    spans = [f"{chr(start)}-{chr(end - 1)}" for start, end in [(0, latin[0][1]), *latin[1:]]]
    return re.compile(f"[^{''.join(spans)}]+")


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
    global _stemmer  # noqa: PLW0603 - loaded when the first word is stemmed, not at import
    with _lock:  # a stemmer uses one buffer for all calls
        if _stemmer is None:
            import Stemmer

            # PyStemmer's own cache is off, because the analyzer caches whole surfaces.
            _stemmer = Stemmer.Stemmer("english", 0)
        return _stemmer.stemWord(word)  # type: ignore[no-any-return]


FOR_OTHER_SCRIPTS = frozenset({compatible, split_scripts, bigrams})
"""The filters that leave tokens of ASCII as they are."""


MAX_CACHED_SURFACES = 400_000
"""Tokens whose terms are cached: about 60 MB. A full cache is cleared."""


class Analyzer:
    """A chain of filters behind :func:`surfaces`: text → terms. Thread-safe."""

    __slots__ = ("_for_ascii", "_known", "filters")

    def __init__(self, *filters: Filter) -> None:
        self.filters = filters
        self._for_ascii = [each for each in filters if each not in FOR_OTHER_SCRIPTS]
        self._known: dict[str, tuple[str, ...]] = {}

    def of_surface(self, surface: str) -> tuple[str, ...]:
        """Return the terms of one token of the tokenizer, in order. The result is cached."""
        terms = self._known.get(surface)
        if terms is None:
            if len(self._known) >= MAX_CACHED_SURFACES:
                self._known.clear()
            steps = self._for_ascii if surface.isascii() else self.filters
            tokens = reduce(lambda tokens, step: step(tokens), steps, [surface])
            terms = self._known[surface] = tuple([token for token in tokens if token])
        return terms

    def terms(self, text: str) -> list[str]:
        """Return the terms of ``text`` in order, with repetitions."""
        of = self.of_surface
        return [term for surface in surfaces(text) for term in of(surface)]

    def counts(self, text: str) -> dict[str, int]:
        """Return the count of each term of ``text``, in order of first occurrence."""
        return dict(Counter(self.terms(text)))


STANDARD = Analyzer(
    compatible, known_terms, split_compounds, split_scripts, fold, bigrams, stop, stem
)
"""The chain of the index and of ``hybrid``."""
