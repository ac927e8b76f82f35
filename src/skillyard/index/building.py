"""From skills to indexed documents: analysis, weights, marks and the vector of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from skillyard.index.document import EXCLUDED, IndexedDocument
from skillyard.index.identity import key_of
from skillyard.index.kernel import KERNEL
from skillyard.index.marks import marks
from skillyard.index.table import Table
from skillyard.index.term_counts import kernel_terms
from skillyard.index.weighing import (
    FIELDS,
    K1,
    Analysed,
    B,
    analysed_texts,
    field_texts,
    impacts,
)
from skillyard.skill import Skill

__all__ = ["document_of", "documents_of", "vector_fields"]

VECTOR_FIELDS = (
    ("name", 0.5),
    ("description", 1.0),
    ("tags", 0.2),
    ("headings", 0.35),
    ("prose", 0.35),
)
"""What each field counts in a skill's vector; its direction counts, not its length."""


def vector_fields(analysed: Analysed) -> list[tuple[float, Iterable[tuple[str, float]]]]:
    """Return the fields that make a skill's vector, each with its weight."""
    return [(weight, getattr(analysed, field).items()) for field, weight in VECTOR_FIELDS]


class Weighed(NamedTuple):
    """What an index holds of a skill's texts, and what its marks are made of."""

    terms: tuple[str, ...]
    impacts: tuple[float, ...]
    vector: bytes
    name: Collection[str]
    """Terms of the name."""
    avoid: Collection[str]
    """Terms of what the skill says it is not for."""
    length: int
    """Terms of the body, prose and code."""


def weigh(texts: tuple[str, ...], table: Table) -> Weighed:
    """Return what an index holds of the texts of :func:`~.weighing.field_texts`."""
    if KERNEL is not None:
        terms, impacts_, vector, lengths, name, avoid = kernel_terms().weigh(
            texts, _SUMMED, K1, B, _MIXING, table.sections
        )
        return Weighed(terms, impacts_, vector, name, avoid, lengths[_PROSE] + lengths[_CODE])
    analysed = analysed_texts(texts)
    weighed = impacts(analysed)
    return Weighed(
        tuple(weighed),
        tuple(weighed.values()),
        table.vector(vector_fields(analysed)),
        analysed.name,
        analysed.avoid,
        sum(analysed.prose.values()) + sum(analysed.code.values()),
    )


_PROSE, _CODE = (Analysed._fields.index(field) for field in ("prose", "code"))
_SUMMED = tuple((field.weight, field.average) for field in FIELDS)
_MIXING = tuple((Analysed._fields.index(field), weight) for field, weight in VECTOR_FIELDS)


def document_of(
    skill: Skill, table: Table, *, excluded: bool = False, record: bytes = b""
) -> IndexedDocument:
    """Return the skill as an index holds it. ``excluded`` keeps it from being an answer."""
    weighed = weigh(field_texts(skill), table)
    more = marks(skill, weighed.name, weighed.avoid, weighed.length)
    return IndexedDocument(
        key_of(skill),
        record,
        EXCLUDED if excluded else 0,
        (*weighed.terms, *more),  # no mark is a term
        (*weighed.impacts, *more.values()),
        weighed.vector,
    )


def documents_of(
    skills: Iterable[Skill], table: Table, excluded: frozenset[int] = frozenset()
) -> Iterator[IndexedDocument]:
    """Yield the skills as documents; ``excluded`` holds places of skills that are no answers."""
    for place, skill in enumerate(skills):
        yield document_of(skill, table, excluded=place in excluded)
