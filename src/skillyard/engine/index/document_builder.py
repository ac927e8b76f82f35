"""Builds index documents from skills: term impacts, facet terms and the vector."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from skillyard.engine.analysis.phrases import phrase_keys, phrases_of
from skillyard.engine.index.bm25f import (
    FIELDS,
    K1,
    B,
    FieldCounts,
    count_texts,
    field_texts,
    kernel_terms,
    term_counts,
    term_impacts,
)
from skillyard.engine.index.facet_terms import facet_terms
from skillyard.engine.index.kernel import KERNEL
from skillyard.engine.index.segment_reader import EXCLUDED, IndexedDocument, document_key
from skillyard.engine.index.token_table import TokenTable
from skillyard.engine.skill import Origin, Skill

VECTOR_FIELDS = (
    ("name", 0.5),
    ("description", 1.0),
    ("tags", 0.2),
    ("headings", 0.35),
    ("prose", 0.35),
)
"""Weight of each field in a skill's vector. Each field contributes a unit vector."""


def vector_fields(analysed: FieldCounts) -> list[tuple[float, Iterable[tuple[str, float]]]]:
    """Return the term counts of the fields of a skill's vector, each with its weight."""
    return [(weight, getattr(analysed, field).items()) for field, weight in VECTOR_FIELDS]


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
    """Return the indexed form of the texts of :func:`~.bm25f.field_texts`."""
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
        table.vector(vector_fields(analysed)),
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


class LibraryDocuments(NamedTuple):
    """The documents of the skills of a library, and what queries need beside them."""

    documents: list[IndexedDocument]
    hidden: list[str]
    """Keys of skills that are selected only when called by name."""
    patterns: dict[str, tuple[str, ...]]
    """File patterns by key, of the skills that a search finds."""


def build_documents(
    skills: Iterable[Skill],
    table: TokenTable,
    key: Callable[[int, Skill], str],
    *,
    include_conventions: bool = False,
    encode: Callable[[Skill], bytes] = lambda _: b"",
) -> LibraryDocuments:
    """Return the documents of a catalog or of a list of skills.

    ``key`` returns the key for a position and its skill, ``encode`` the record of a skill.
    """
    shadowed = getattr(skills, "shadowed", {})
    result = LibraryDocuments([], [], {})
    for place, skill in enumerate(skills):
        is_hidden = skill.hidden and skill not in shadowed
        is_convention = skill.origin == Origin.CONVENTION and not include_conventions
        out = is_hidden or is_convention or skill in shadowed
        document = build_document(skill, table, excluded=out, record=encode(skill))
        name = key(place, skill)
        result.documents.append(document._replace(key=name))
        if is_hidden:
            result.hidden.append(name)
        if skill.triggers.files and not out:
            result.patterns[name] = skill.triggers.files
    return result
