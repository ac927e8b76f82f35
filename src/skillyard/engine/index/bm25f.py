"""The terms of a skill, counted, and their BM25F impacts: weights that no query changes.

Source: Robertson, Zaragoza & Taylor, "Simple BM25 extension to multiple weighted fields", CIKM
2004: term frequencies are normalised by field length, weighted by field, summed, and saturated
once. Here ``impact = x / (k1 + x)`` with ``x = Σ_f w_f · tf_f / (1 - b + b · len_f / average_f)``.

The average lengths are constants instead of those of the library, so the impacts of a skill depend
on that skill alone, and an index can replace one document without changing the others.

Terms are counted by the kernel where that is available. It implements the analyzer for ASCII, Han,
kana and Hangul. It passes words of other scripts to :data:`~skillyard.engine.analysis.STANDARD`,
which is also used without a kernel.
"""

from __future__ import annotations

import os
import re
from array import array
from functools import cache
from typing import Any, NamedTuple

from skillyard.base.sums import stable_sum
from skillyard.engine.analysis import STANDARD
from skillyard.engine.analysis.analyzer import (
    ENGLISH,
    MAX_COMPOUND_PARTS,
    MAX_TERM_CHARS,
    MIN_STEMMED_CHARS,
    TECHNICAL,
    stem_word,
)
from skillyard.engine.analysis.body import split_body, split_description
from skillyard.engine.index.kernel import KERNEL
from skillyard.engine.skill import Skill


class WeightedField(NamedTuple):
    """One field of a skill with its weight."""

    name: str
    weight: float
    average: float
    """Mean length in terms over a pool of 10,476 public skills."""


FIELDS = (
    WeightedField("name", 3.0, 3.7),
    WeightedField("description", 2.0, 39.0),
    WeightedField("tags", 1.0, 40.7),
    WeightedField("headings", 0.5, 65.0),
    WeightedField("prose", 0.3, 768.0),
    WeightedField("code", 0.1, 324.0),
)
"""Weights tuned on the development queries and confirmed on held-out queries."""

K1 = 2.5
"""Saturation: the impact is 1/2 at ``x = K1``."""
B = 0.95
"""Strength of length normalisation, 0..1."""

Counts = dict[str, int]


class FieldCounts(NamedTuple):
    """The terms of a skill by field, with their frequencies."""

    name: Counts
    description: Counts
    tags: Counts
    headings: Counts
    prose: Counts
    code: Counts
    avoid: Counts
    """What the skill says it is not for; not part of the score."""


def field_texts(skill: Skill) -> tuple[str, ...]:
    """Return the texts of the seven fields, in the order of :class:`FieldCounts`."""
    description, avoid = split_description(skill.description)
    body = split_body(skill.body or "")
    return (
        _names(skill),
        description,
        "\n".join(
            (*skill.tags, *skill.keywords, *skill.triggers.keywords, *skill.triggers.phrases)
        ),
        body.headings,
        body.prose,
        body.code,
        avoid,
    )


def _names(skill: Skill) -> str:
    """Return the name, and the title and folder name when they differ from it."""
    names = [skill.name]
    for other in (skill.title or "", skill.slug.rsplit("/", 1)[-1].partition("~")[0]):
        if other and other.lower() not in (name.lower() for name in names):
            names.append(other)
    return " ".join(names)


def count_fields(skill: Skill) -> FieldCounts:
    """Return the term counts of a skill by field."""
    return count_texts(field_texts(skill))


def count_texts(texts: tuple[str, ...]) -> FieldCounts:
    """Return the term counts of the texts of :func:`field_texts`."""
    return FieldCounts(*map(term_counts, texts))


def _occurrence_weights(analysed: FieldCounts) -> list[tuple[Counts, float]]:
    """Return the counts of each field with the weight of one occurrence."""
    weights = []
    for field, counts in zip(FIELDS, analysed, strict=False):  # ``avoid`` is not scored
        if counts:
            length = sum(counts.values())
            weights.append((counts, field.weight / (1 - B + B * length / field.average)))
    return weights


def term_impacts(analysed: FieldCounts) -> dict[str, float]:
    """Return each term's impact in (0, 1), exact as a 32-bit float.

    Terms are in order of first occurrence, field by field.
    """
    sums: dict[str, float] = {}
    for counts, weight in _occurrence_weights(analysed):
        for term, number in counts.items():
            sums[term] = sums.get(term, 0.0) + weight * number
    return dict(zip(sums, array("f", [x / (K1 + x) for x in sums.values()]), strict=True))


def field_shares(analysed: FieldCounts, term: str) -> dict[str, float]:
    """Return the share of each field in a term's impact, 0..1; the shares sum to 1."""
    parts = {
        field.name: field.weight * counts[term] / (1 - B + B * sum(counts.values()) / field.average)
        for field, counts in zip(FIELDS, analysed, strict=False)
        if term in counts
    }
    total = stable_sum(parts.values())
    return {name: part / total for name, part in parts.items()}


MAX_CACHED_SURFACES = 400_000
"""Tokens whose terms the kernel caches: about 40 MB. A full cache is cleared."""


def term_counts(text: str) -> dict[str, int]:
    """Return the count of each term of ``text``, in order of first occurrence."""
    if KERNEL is None:
        return STANDARD.counts(text)
    return kernel_terms().counts(text)  # type: ignore[no-any-return]


@cache
def kernel_terms(remembered: int = MAX_CACHED_SURFACES) -> Any:
    """Return the kernel's analyzer, created on first use."""
    return KERNEL.Terms(
        STANDARD.of_surface,
        stem_word,
        _word_page,
        TECHNICAL,
        tuple(sorted(ENGLISH)),
        MAX_TERM_CHARS,
        MAX_COMPOUND_PARTS,
        MIN_STEMMED_CHARS,
        remembered,
        os.urandom(16),
    )


def _word_page(number: int) -> bytes:
    """Return 32 bytes, one bit for each of 256 characters: set for word characters."""
    first = number << 8
    bits = sum(1 << place for place in range(256) if re.match(r"\w", chr(first + place)))
    return bits.to_bytes(32, "little")
