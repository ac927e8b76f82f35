"""Builds index documents from skills: term impacts, facet terms and the vector.

BM25F impacts are the weights of terms that no query changes.

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
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from math import log, log1p
from typing import Any, NamedTuple

from skillyard.base.errors import ResourceRefused
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
from skillyard.engine.analysis.phrases import QUOTED, START, phrase_keys, phrases_of
from skillyard.engine.index.facet_terms import (
    AVOID,
    CURATED,
    EXACT_NAME,
    FULL_IMPACT,
    JOINERS,
    LENGTH,
    MAX_BODY_TERMS,
    MAX_INSTALLS,
    MAX_PHRASE_WORDS,
    NAME,
    NAME_TERM,
    PHRASE,
    PHRASE_START,
    PRIOR,
    SHORT_BODY_TERMS,
    phrase_words,
    tag_term,
)
from skillyard.engine.index.kernel import KERNEL
from skillyard.engine.index.segment_reader import EXCLUDED, IndexedDocument, document_key
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.skill import Origin, Skill


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

PAGE_CHARS = 600
"""How much of each page beside a SKILL.md is indexed (``training/README.md``)."""
_MARKS = re.compile(r"\A---\n.*?\n---\n|```|~~~", re.DOTALL)
"""The frontmatter of a page, and the fences of its code, as its end is cut off."""

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
    body = split_body("\n\n".join((skill.body or "", *_pages(skill))))
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


def _pages(skill: Skill) -> Iterator[str]:
    """Yield the name and the beginning of each page beside a SKILL.md, as parts of its body."""
    from skillyard.engine.discovery.layout import MAX_PAGES  # a query does not build documents
    from skillyard.engine.resources import read_resource

    for page in [each for each in skill.references if each.path[-3:].lower() == ".md"][:MAX_PAGES]:
        text = page.content or ""
        if page.content is None and skill.origin is not None:  # it comes from a file
            with suppress(ResourceRefused):
                text = read_resource(skill, page.path)[: 4 * PAGE_CHARS].decode("utf-8", "replace")
        if start := _MARKS.sub("", text)[:PAGE_CHARS]:
            yield f"## {page.name[:-3].translate(JOINERS)}\n\n{start}"


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


VECTOR_FIELDS = (
    ("name", 0.5),
    ("description", 1.0),
    ("tags", 0.2),
    ("headings", 0.35),
    ("prose", 0.35),
)
"""Weight of each field in a skill's vector. Each field contributes a unit vector."""


class IndexedText(NamedTuple):
    """The indexed form of a skill's texts, and the input of its facet terms."""

    terms: tuple[str, ...]
    impacts: array[float]
    vector: bytes
    name: Collection[str]
    """Terms of the name."""
    avoid: Collection[str]
    """Terms of the passages that say what the skill is not for."""
    length: int
    """Number of terms of the body, prose and code."""


def index_texts(texts: tuple[str, ...], table: TokenTable) -> IndexedText:
    """Return the indexed form of the texts of :func:`field_texts`."""
    if KERNEL is not None:
        terms, impacts_, vector, lengths, name, avoid = kernel_terms().index_text(
            texts, _FIELD_WEIGHTS, K1, B, _VECTOR_WEIGHTS, table.sections
        )
        return IndexedText(
            terms, array("f", impacts_), vector, name, avoid, lengths[_PROSE] + lengths[_CODE]
        )
    analysed = count_texts(texts)
    weighed = term_impacts(analysed)
    return IndexedText(
        tuple(weighed),
        array("f", weighed.values()),
        table.vector(
            [(weight, getattr(analysed, field).items()) for field, weight in VECTOR_FIELDS]
        ),
        analysed.name,
        analysed.avoid,
        sum(analysed.prose.values()) + sum(analysed.code.values()),
    )


_PROSE, _CODE = (FieldCounts._fields.index(field) for field in ("prose", "code"))
_FIELD_WEIGHTS = tuple((field.weight, field.average) for field in FIELDS)
_VECTOR_WEIGHTS = tuple(
    (FieldCounts._fields.index(field), weight) for field, weight in VECTOR_FIELDS
)


def build_document(
    skill: Skill, table: TokenTable, *, excluded: bool = False, record: bytes = b""
) -> IndexedDocument:
    """Return the document of a skill. ``excluded`` keeps it out of search results."""
    texts = field_texts(skill)
    weighed = index_texts(texts, table)
    avoid = list(weighed.avoid)
    if avoid:  # "any form that is not a PDF form": the skill is for forms
        name, description, *_ = texts
        positive = term_counts(f"{name}\n{description}")
        avoid = [term for term in avoid if term not in positive]
    phrases = (*phrases_of(texts[1]), *skill.triggers.phrases)
    quoted = filter(None, map(phrase_keys, phrases))
    more = facet_terms(skill, weighed.name, avoid, quoted, weighed.length)
    return IndexedDocument(
        document_key(skill),
        record,
        EXCLUDED if excluded else 0,
        (*weighed.terms, *more),  # facet terms never collide with analysed terms
        weighed.impacts + array("f", more.values()),
        weighed.vector,
    )


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
    names = (skill.name, skill.title or "")
    for phrase in (*names, *triggers.phrases, *triggers.keywords, *skill.keywords):
        words = phrase_words(phrase)
        if 2 <= len(words) <= MAX_PHRASE_WORDS:
            impacts[PHRASE + " ".join(words)] = present
            if len(words) > 2:
                impacts[PHRASE_START + " ".join(words[:2])] = present
    for name in (skill.name, skill.slug):
        impacts.update((NAME + word, present) for word in name.casefold().split()[:1])
    if name_terms:
        counts = term_counts(skill.name.translate(JOINERS))
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
    return array("f", [value])[0]


def build_documents(
    skills: Iterable[Skill],
    table: TokenTable,
    key: Callable[[int, Skill], str],
    *,
    include_conventions: bool = False,
    encode: Callable[[Skill], bytes] = lambda _: b"",
) -> tuple[list[IndexedDocument], list[str], dict[str, tuple[str, ...]]]:
    """Return the documents of a catalog or of a list of skills, and what queries need beside them.

    That is the keys of skills that are selected only when called by name, and the file patterns, by
    key, of the skills that a search finds.

    ``key`` returns the key for a position and its skill, ``encode`` the record of a skill.
    """
    shadowed = getattr(skills, "shadowed", {})
    documents: list[IndexedDocument] = []
    hidden: list[str] = []
    patterns: dict[str, tuple[str, ...]] = {}
    for place, skill in enumerate(skills):
        is_hidden = skill.hidden and skill not in shadowed
        is_convention = skill.origin == Origin.CONVENTION and not include_conventions
        out = is_hidden or is_convention or skill in shadowed
        document = build_document(skill, table, excluded=out, record=encode(skill))
        name = key(place, skill)
        documents.append(document._replace(key=name))
        if is_hidden:
            hidden.append(name)
        if skill.triggers.files and not out:
            patterns[name] = skill.triggers.files
    return documents, hidden, patterns
