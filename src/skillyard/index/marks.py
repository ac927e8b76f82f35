"""Marks: facts of a skill that are looked up like terms, but are no words of its text.

A mark is a term that starts with a control character, which no analysed text can hold. So tags,
trigger phrases, names, popularity and what a skill is not for need no file of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from math import log, log1p
from typing import TYPE_CHECKING

from skillyard.analysis import STANDARD
from skillyard.index.term_counts import term_counts

if TYPE_CHECKING:
    from skillyard.skill import Skill

__all__ = [
    "AVOID",
    "CALL",
    "EXACT",
    "IN_NAME",
    "LENGTH",
    "NAME",
    "PRIOR",
    "START",
    "TAG",
    "exact_mark",
    "marks",
    "phrase_words",
    "phrases_in",
    "tag_mark",
]

CALL = "\x01"
"""Followed by the words of a name, a trigger phrase or a keyword of two words and more."""
NAME = "\x02"
"""Followed by the first word of a name or slug, case folded: what ``@name`` starts with."""
TAG = "\x03"
"""Followed by a whole tag in lower case."""
PRIOR = "\x04"
"""Its impact grows with installs and with being curated."""
EXACT = "\x06"
"""Followed by the terms of a name, in alphabetical order."""
IN_NAME = "\x07"
"""Followed by a term of the name."""
AVOID = "\x05"
"""Followed by a term of what the skill says it is not for."""

LENGTH = "\x10"
"""Its impact is the logarithm of how much longer the body is than :data:`SHORT`, beside that of
:data:`LONGEST`; a shorter one has no such mark."""

START = "\x08"
"""Followed by the first two words of a phrase that is longer."""

SHORT = 200
"""Terms of a body, prose and code, up to which its length makes no difference."""
LONGEST = 1_000_000
"""Terms from which a longer body makes no difference."""
LONGEST_PHRASE = 6
"""Words of a phrase that are looked up."""
MANY_INSTALLS = 1_000_000
FULL = 0.999
"""The impact of a mark that is simply there."""
CURATED = 0.2
"""What being curated adds to the prior, beside installs; both stay below 1."""

_WORD = re.compile(r"\w+")


def phrase_words(text: str) -> tuple[str, ...]:
    """Return the words of a phrase as phrases are compared: folded, punctuation left out."""
    return tuple(_WORD.findall(text.casefold().replace("_", " ")))


def phrases_in(words: Sequence[str], known: Callable[[list[str]], list[str]]) -> list[str]:
    """Return the names and phrases of the library that stand among the words, each once.

    ``known`` returns those of some marks that any skill has: runs of more than two words are only
    looked at where a phrase starts.
    """
    pairs = list(map(" ".join, pairwise(words)))
    begun = frozenset(known([START + pair for pair in dict.fromkeys(pairs)]))
    runs: Iterable[str] = pairs
    if begun:
        runs = (
            " ".join(words[start:end])
            for start, pair in enumerate(pairs)
            for end in range(start + 2, min(start + LONGEST_PHRASE, len(words)) + 1)
            if end == start + 2 or START + pair in begun
        )
    return [mark[1:] for mark in known([CALL + run for run in dict.fromkeys(runs)])]


def tag_mark(tag: str) -> str:
    """Return the mark of a tag; ASCII case is ignored, as everywhere with tags."""
    if tag.isascii():
        return TAG + tag.lower()
    return TAG + "".join(char.lower() if char.isascii() else char for char in tag)


def exact_mark(text: str) -> str:
    """Return the mark of a name, or of a request that is nothing but a name."""
    return EXACT + " ".join(sorted(set(STANDARD.terms(_without_joiners(text)))))


def _without_joiners(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").replace(".", " ")


def marks(
    skill: Skill, name_terms: Collection[str], avoid_terms: Iterable[str], body_terms: int
) -> dict[str, float]:
    """Return the skill's marks with their impacts, each exact as a 32-bit float.

    ``avoid_terms`` are those of what the skill says it is not for; ``body_terms`` is how many its
    body has, prose and code.
    """
    found: dict[str, float] = {}
    simply_there = _exact(FULL)
    triggers = skill.triggers
    for call in (
        skill.name,
        skill.title or "",
        *triggers.phrases,
        *triggers.keywords,
        *skill.keywords,
    ):
        words = phrase_words(call)
        if 2 <= len(words) <= LONGEST_PHRASE:
            found[CALL + " ".join(words)] = simply_there
            if len(words) > 2:
                found[START + " ".join(words[:2])] = simply_there
    for name in (skill.name, skill.slug):
        found.update((NAME + word, simply_there) for word in name.casefold().split()[:1])
    if name_terms:
        counts = term_counts(_without_joiners(skill.name))
        found[EXACT + " ".join(sorted(counts))] = simply_there
    for term in name_terms:
        found[IN_NAME + term] = simply_there
    found.update(dict.fromkeys(map(tag_mark, skill.tags), simply_there))
    for term in avoid_terms:
        found[AVOID + term] = simply_there
    prior = _prior(skill)
    if prior:
        found[PRIOR] = _exact(prior)
    share = _length(body_terms)
    if share:
        found[LENGTH] = _exact(share)
    return found


def _length(terms: int) -> float:
    """Return where the body's length stands between :data:`SHORT` and :data:`LONGEST`, 0..1."""
    return FULL * log(min(max(terms, SHORT), LONGEST) / SHORT) / log(LONGEST / SHORT)


def _prior(skill: Skill) -> float:
    """Return popularity and curation in 0..1: the logarithm of installs, of a million at most."""
    installs = log1p(max(0, min(skill.install_count, MANY_INSTALLS))) / log1p(MANY_INSTALLS)
    return (1 - CURATED) * installs * FULL + CURATED * skill.curated * FULL


def _exact(value: float) -> float:
    """Return the nearest 32-bit float."""
    from array import array

    return array("f", [value])[0]
