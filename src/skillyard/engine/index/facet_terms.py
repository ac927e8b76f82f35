"""Facet terms: properties of a skill that are indexed as terms.

A facet term starts with a control character, so it never equals an analysed term. Tags, trigger
phrases, names, popularity and exclusions are stored in the ordinary postings this way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from skillyard.base.text import ASCII_LOWER
from skillyard.engine.analysis import STANDARD

PHRASE = "\x01"
"""Prefix of a name, trigger phrase or keyword of two or more words."""
NAME = "\x02"
"""Prefix of the first word of a name or slug, case folded, as in ``@name``."""
TAG = "\x03"
"""Prefix of a tag in lower case."""
PRIOR = "\x04"
"""The impact is the popularity of the skill: installs and curation."""
EXACT_NAME = "\x06"
"""Prefix of all terms of a name in alphabetical order."""
NAME_TERM = "\x07"
"""Prefix of one term of the name."""
AVOID = "\x05"
"""Prefix of a term from the passages that say what the skill is not for."""

LENGTH = "\x10"
"""The impact is the body length on a logarithmic scale from :data:`SHORT_BODY_TERMS` (0) to
:data:`MAX_BODY_TERMS` (1). Shorter bodies do not have this term."""

PHRASE_START = "\x08"
"""Prefix of the first two words of a phrase of three or more words."""

SHORT_BODY_TERMS = 200
"""Body lengths up to this number of terms count as short."""
MAX_BODY_TERMS = 1_000_000
"""Body lengths above this number of terms count as this long."""
MAX_PHRASE_WORDS = 6
"""Longer phrases are not indexed."""
MAX_INSTALLS = 1_000_000
FULL_IMPACT = 0.999
"""The impact of a facet term without a value of its own."""
CURATED = 0.2
"""Share of curation in the popularity; installs have the rest."""

_WORD = re.compile(r"\w+")
JOINERS = str.maketrans("-_.", "   ")


def phrase_words(text: str) -> tuple[str, ...]:
    """Return the words of a text for comparing phrases: case folded, without punctuation."""
    return tuple(_WORD.findall(text.casefold().replace("_", " ")))


def find_phrases(words: Sequence[str], known: Callable[[list[str]], list[str]]) -> list[str]:
    """Return the names and phrases of the library that occur in the words, each once.

    ``known`` returns those of the given terms that are in the index. Runs of more than two words
    are only looked up where a longer phrase starts.
    """
    pairs = list(map(" ".join, pairwise(words)))
    begun = frozenset(known([PHRASE_START + pair for pair in dict.fromkeys(pairs)]))
    runs: Iterable[str] = pairs
    if begun:
        runs = (
            " ".join(words[start:end])
            for start, pair in enumerate(pairs)
            for end in range(start + 2, min(start + MAX_PHRASE_WORDS, len(words)) + 1)
            if end == start + 2 or PHRASE_START + pair in begun
        )
    return [term[1:] for term in known([PHRASE + run for run in dict.fromkeys(runs)])]


def tag_term(tag: str) -> str:
    """Return the facet term of a tag. ASCII case is ignored."""
    return TAG + tag.translate(ASCII_LOWER)


def exact_name_term(text: str) -> str:
    """Return the facet term of a whole name, or of a request that consists of a name."""
    return EXACT_NAME + " ".join(sorted(set(STANDARD.terms(text.translate(JOINERS)))))


def name_terms(name: str) -> frozenset[str]:
    """Return the terms of a skill's name."""
    return frozenset(STANDARD.terms(name.translate(JOINERS)))
