"""Phrases that a description quotes or lists: Use when asked to "create a branch"."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from skillyard.engine.analysis.analyzer import ENGLISH, MIN_STEMMED_CHARS, fold, script_runs, stem
from skillyard.engine.analysis.language import FUNCTION_WORDS

MAX_TOKENS = 8
"""Longer phrases are sentences, which nobody repeats."""
MAX_GAP = 1
"""Other words that a request may have between two words of a phrase."""
LONG_PHRASE = 4
"""Words that nobody writes in the same order by chance."""
LONG_PHRASE_SHARE = 0.5
"""What such a phrase counts at least, in a request of any length."""
MAX_CACHED_WORDS = 20_000
QUOTED = "\x0e"
"""Prefix of the facet term of a phrase; alone, of skills that have one."""
START = "\x0f"
"""Prefix of the facet term of the first words of a phrase, and of all its words."""
VERBATIM = "="
"""Begins the keys of a phrase of which all words count, side by side."""
_QUOTED = re.compile(
    r"\"([^\"\n]{2,80})\"|“([^”“\n]{2,80})[”“]|„([^“”„\n]{2,80})[“”]|«([^»\n]{2,80})»|「([^」\n]{2,80})」"
    r"|(?<![\w’'])['‘]([^'’\n]{2,80})['’](?!\w)"
)
_LIST = re.compile(
    r"\b(?:triggers?(?: (?:on|phrases|words|keywords|include))?|keywords|auslöser|disparadores"
    r"|déclencheurs|触发词|トリガー)\s?[:：]\s*([^.\n]{3,600})",
    re.IGNORECASE,
)
_COMMA = re.compile(r"[,;，、；|]")
_WORD = re.compile(r"\w+")
_UNSPACED_FUNCTION_WORDS = frozenset("一个篇的了我你帮请をはがにのでと")


class Token(NamedTuple):
    """One word of a text, or one character of a script without blanks."""

    key: str
    """Its stem, case folded."""
    is_content: bool
    """False for function words and numbers."""
    start: int
    end: int


@cache
def _function_words() -> frozenset[str]:
    return frozenset().union(ENGLISH, _UNSPACED_FUNCTION_WORDS, *FUNCTION_WORDS.values())


def phrases_of(description: str) -> list[str]:
    """Return the quoted phrases and the items of trigger lists, as they are written."""
    phrases = [next(filter(None, match.groups())) for match in _QUOTED.finditer(description)]
    for match in _LIST.finditer(description):
        phrases += [item for item in _COMMA.split(match[1]) if not _QUOTED.search(item)]
    return phrases


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text in order."""
    listed = []
    for match in _WORD.finditer(text.replace("_", " ")):
        word, (at, end) = match[0], match.span()
        if word.isascii():
            listed.append(Token(*_read(word), at, end))
            continue
        for run, is_unspaced in script_runs(word):
            for part in run if is_unspaced else (run,):
                listed.append(Token(*_read(part), at, at + len(part)))
                at += len(part)
    return listed


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _read(word: str) -> tuple[str, bool]:
    """Return the key of a word, and whether it is a content word."""
    (key,) = fold([word])
    if len(key) >= MIN_STEMMED_CHARS:
        (key,) = stem([key])
    return key, not word.isdecimal() and word.lower() not in _function_words()


def phrase_keys(phrase: str) -> tuple[str, ...]:
    """Return the keys of a phrase: of its content words, or of all words when only one is left.

    Empty for a single word, for function words alone, and for a sentence.
    """
    every = tokens(phrase)
    words = [token for token in every if token.is_content]
    chosen = words if len(words) > 1 else every if words else []
    least = 2 if any(len(token.key) > 1 for token in chosen) else 3
    if not least <= len(chosen) <= MAX_TOKENS:
        return ()
    first, *rest = (token.key for token in chosen)
    return (first if chosen is words else VERBATIM + first, *rest)


def find_phrases_in(
    text: str, known: Callable[[list[str]], list[str]]
) -> list[tuple[str, str, float]]:
    """Return (key, words of the text, share of the text's content words) of each phrase in it.

    ``known`` returns those of the given facet terms that are in the index. Content words may have
    another one between them; all words of a phrase with a single content word stand side by side.
    """
    every = tokens(text)
    words = [token for token in every if token.is_content]
    begun = [START + token.key for token in words]
    begun += [START + VERBATIM + token.key for token in every]
    starts = frozenset(known(begun))
    spans: dict[tuple[str, int, int], bool] = {}
    for run, sign, gap in ((words, "", MAX_GAP), (every, VERBATIM, 0)):
        for first, token in enumerate(run):
            key = sign + token.key
            open_ends = [(key, first)] if START + key in starts else []
            while open_ends:
                prefix, at = open_ends.pop()
                for place in range(at + 1, min(at + 2 + gap, len(run))):
                    key = f"{prefix} {run[place].key}"
                    if known([START + key]):
                        open_ends.append((key, place))
                        if known([QUOTED + key]):
                            spans.setdefault((key, token.start, run[place].end), not gap)
    matches = []
    for (key, start, end), is_verbatim in spans.items():
        inside = [token for token in every if start <= token.start < end]
        share = sum(token.is_content for token in inside) / max(1, len(words))
        if is_verbatim and len(inside) >= LONG_PHRASE:
            share = max(share, LONG_PHRASE_SHARE)
        matches.append((key, text[start:end], share))
    return matches
