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
    "EXACT_NAME",
    "LENGTH",
    "NAME",
    "NAME_TERM",
    "PHRASE",
    "PHRASE_START",
    "PRIOR",
    "TAG",
    "exact_name_term",
    "facet_terms",
    "find_phrases",
    "phrase_words",
    "tag_term",
]

PHRASE = "\x01"
"""Followed by the words of a name, a trigger phrase or a keyword of two words and more."""
NAME = "\x02"
"""Followed by the first word of a name or slug, case folded: what ``@name`` starts with."""
TAG = "\x03"
"""Followed by a whole tag in lower case."""
PRIOR = "\x04"
"""Its impact grows with installs and with being curated."""
EXACT_NAME = "\x06"
"""Followed by the terms of a name, in alphabetical order."""
NAME_TERM = "\x07"
"""Followed by a term of the name."""
AVOID = "\x05"
"""Followed by a term of what the skill says it is not for."""

LENGTH = "\x10"
"""Its impact is the logarithm of how much longer the body is than :data:`SHORT_BODY_TERMS`, beside that of
:data:`MAX_BODY_TERMS`; a shorter one has no such mark."""

PHRASE_START = "\x08"
"""Followed by the first two words of a phrase that is longer."""

SHORT_BODY_TERMS = 200
"""Terms of a body, prose and code, up to which its length makes no difference."""
MAX_BODY_TERMS = 1_000_000
"""Terms from which a longer body makes no difference."""
MAX_PHRASE_WORDS = 6
"""Words of a phrase that are looked up."""
MAX_INSTALLS = 1_000_000
FULL_IMPACT = 0.999
"""The impact of a mark that is simply there."""
CURATED = 0.2
"""What being curated adds to the prior, beside installs; both stay below 1."""

_WORD = re.compile(r"\w+")


def phrase_words(text: str) -> tuple[str, ...]:
    """Return the words of a phrase as phrases are compared: folded, punctuation left out."""
    return tuple(_WORD.findall(text.casefold().replace("_", " ")))


def find_phrases(words: Sequence[str], known: Callable[[list[str]], list[str]]) -> list[str]:
    """Return the names and phrases of the library that stand among the words, each once.

    ``known`` returns those of some marks that any skill has: runs of more than two words are only
    looked at where a phrase starts.
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
    return [mark[1:] for mark in known([PHRASE + run for run in dict.fromkeys(runs)])]


def tag_term(tag: str) -> str:
    """Return the mark of a tag; ASCII case is ignored, as everywhere with tags."""
    if tag.isascii():
        return TAG + tag.lower()
    return TAG + "".join(char.lower() if char.isascii() else char for char in tag)


def exact_name_term(text: str) -> str:
    """Return the mark of a name, or of a request that is nothing but a name."""
    return EXACT_NAME + " ".join(sorted(set(STANDARD.terms(_without_joiners(text)))))


def _without_joiners(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").replace(".", " ")


def facet_terms(
    skill: Skill, name_terms: Collection[str], avoid_terms: Iterable[str], body_terms: int
) -> dict[str, float]:
    """Return the skill's marks with their impacts, each exact as a 32-bit float.

    ``avoid_terms`` are those of what the skill says it is not for; ``body_terms`` is how many its
    body has, prose and code.
    """
    impacts: dict[str, float] = {}
    present = _to_float32(FULL_IMPACT)
    triggers = skill.triggers
    for phrase in (
        skill.name,
        skill.title or "",
        *triggers.phrases,
        *triggers.keywords,
        *skill.keywords,
    ):
        words = phrase_words(phrase)
        if 2 <= len(words) <= MAX_PHRASE_WORDS:
            impacts[PHRASE + " ".join(words)] = present
            if len(words) > 2:
                impacts[PHRASE_START + " ".join(words[:2])] = present
    for name in (skill.name, skill.slug):
        impacts.update((NAME + word, present) for word in name.casefold().split()[:1])
    if name_terms:
        counts = term_counts(_without_joiners(skill.name))
        impacts[EXACT_NAME + " ".join(sorted(counts))] = present
    for term in name_terms:
        impacts[NAME_TERM + term] = present
    impacts.update(dict.fromkeys(map(tag_term, skill.tags), present))
    for term in avoid_terms:
        impacts[AVOID + term] = present
    prior = _popularity(skill)
    if prior:
        impacts[PRIOR] = _to_float32(prior)
    length_share = _length_share(body_terms)
    if length_share:
        impacts[LENGTH] = _to_float32(length_share)
    return impacts


def _length_share(terms: int) -> float:
    """Return where the body's length stands between :data:`SHORT_BODY_TERMS` and :data:`MAX_BODY_TERMS`, 0..1."""
    return (
        FULL_IMPACT
        * log(min(max(terms, SHORT_BODY_TERMS), MAX_BODY_TERMS) / SHORT_BODY_TERMS)
        / log(MAX_BODY_TERMS / SHORT_BODY_TERMS)
    )


def _popularity(skill: Skill) -> float:
    """Return popularity and curation in 0..1: the logarithm of installs, of a million at most."""
    installs = log1p(max(0, min(skill.install_count, MAX_INSTALLS))) / log1p(MAX_INSTALLS)
    return (1 - CURATED) * installs * FULL_IMPACT + CURATED * skill.curated * FULL_IMPACT


def _to_float32(value: float) -> float:
    """Return the nearest 32-bit float."""
    from array import array

    return array("f", [value])[0]
