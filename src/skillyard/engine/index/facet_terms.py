"""Facet terms: properties of a skill that are indexed as terms.

A facet term starts with a control character, so it never equals an analysed term. Tags, trigger
phrases, names, popularity and exclusions are stored in the ordinary postings this way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from math import log, log1p
from typing import TYPE_CHECKING

from skillyard.engine.analysis import STANDARD
from skillyard.engine.analysis.phrases import QUOTED, START

if TYPE_CHECKING:
    from skillyard.engine.skill import Skill

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
_JOINERS = str.maketrans("-_.", "   ")


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
    if tag.isascii():
        return TAG + tag.lower()
    return TAG + "".join(char.lower() if char.isascii() else char for char in tag)


def exact_name_term(text: str) -> str:
    """Return the facet term of a whole name, or of a request that consists of a name."""
    return EXACT_NAME + " ".join(sorted(set(STANDARD.terms(text.translate(_JOINERS)))))


def name_terms(name: str) -> frozenset[str]:
    """Return the terms of a skill's name."""
    return frozenset(STANDARD.terms(name.translate(_JOINERS)))


def facet_terms(
    skill: Skill,
    name_terms: Collection[str],
    avoid_terms: Iterable[str],
    quoted: Iterable[tuple[str, ...]],
    body_terms: int,
) -> dict[str, float]:
    """Return the facet terms of a skill with their impacts, exact as 32-bit floats.

    ``avoid_terms`` are the terms of what the skill is not for; ``quoted`` are the keys of the
    phrases that its description quotes; ``body_terms`` is the number of
    terms of its body, prose and code.
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
        from skillyard.engine.index.bm25f import term_counts  # deferred: only for documents

        counts = term_counts(skill.name.translate(_JOINERS))
        impacts[EXACT_NAME + " ".join(sorted(counts))] = present
    for term in name_terms:
        impacts[NAME_TERM + term] = present
    impacts.update(dict.fromkeys(map(tag_term, skill.tags), present))
    for term in avoid_terms:
        impacts[AVOID + term] = present
    for keys in quoted:
        impacts[QUOTED] = impacts[QUOTED + " ".join(keys)] = present
        impacts.update((START + " ".join(keys[:end]), present) for end in range(1, len(keys) + 1))
    prior = _popularity(skill)
    if prior:
        impacts[PRIOR] = _to_float32(prior)
    length_share = _length_share(body_terms)
    if length_share:
        impacts[LENGTH] = _to_float32(length_share)
    return impacts


def _length_share(terms: int) -> float:
    """Return the body length between short (0) and maximal (1), on a logarithmic scale."""
    return (
        FULL_IMPACT
        * log(min(max(terms, SHORT_BODY_TERMS), MAX_BODY_TERMS) / SHORT_BODY_TERMS)
        / log(MAX_BODY_TERMS / SHORT_BODY_TERMS)
    )


def _popularity(skill: Skill) -> float:
    """Return the popularity, 0..1: log-scaled installs (at most a million) and curation."""
    installs = log1p(max(0, min(skill.install_count, MAX_INSTALLS))) / log1p(MAX_INSTALLS)
    return (1 - CURATED) * installs * FULL_IMPACT + CURATED * skill.curated * FULL_IMPACT


def _to_float32(value: float) -> float:
    """Return the nearest 32-bit float."""
    from array import array

    return array("f", [value])[0]
