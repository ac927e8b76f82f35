"""From skills to indexed documents: analysis, weights, marks and the vector of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skillyard.index.document import EXCLUDED, IndexedDocument
from skillyard.index.identity import key_of
from skillyard.index.marks import marks
from skillyard.index.table import Table
from skillyard.index.weighing import Analysed, analyse, impacts
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


def document_of(
    skill: Skill, table: Table, *, excluded: bool = False, record: bytes = b""
) -> IndexedDocument:
    """Return the skill as an index holds it. ``excluded`` keeps it from being an answer."""
    analysed = analyse(skill)
    weighed = impacts(analysed)
    weighed.update(marks(skill, analysed))
    return IndexedDocument(
        key_of(skill),
        record,
        EXCLUDED if excluded else 0,
        tuple(weighed),
        tuple(weighed.values()),
        table.vector(vector_fields(analysed)),
    )


def documents_of(
    skills: Iterable[Skill], table: Table, excluded: frozenset[int] = frozenset()
) -> Iterator[IndexedDocument]:
    """Yield the skills as documents; ``excluded`` holds places of skills that are no answers."""
    for place, skill in enumerate(skills):
        yield document_of(skill, table, excluded=place in excluded)
