"""What skillyard must do, as a list: an id, where it is demanded, and one sentence.

Tests cite these ids with :func:`requirement`; ``tests/test_requirements.py`` holds both ways
together. An entry is a line ``id | source`` and, indented below it, the sentence. Sources are the
documents by their short names (adk-skill, oasis, skyll, skill-evaluation), ``spec/…``, the
``rulings`` of ``spec/README.md`` by topic, and ``design``. Behaviour of later issues is not here.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.requirement_texts import context, packages, ranking, reading, safety, surfaces

__all__ = ["REQUIREMENTS", "Requirement", "requirement"]


class Requirement(NamedTuple):
    """One demanded behaviour."""

    id: str
    source: str
    sentence: str


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Return a mark that says which requirements a test or a class of tests protects."""
    return pytest.mark.requirement(*ids)


def read(text: str) -> list[Requirement]:
    """Return the entries of one block. Raises ValueError for a line that fits neither form."""
    entries: list[Requirement] = []
    for line in filter(None, text.splitlines()):
        if line.startswith(" "):
            last = entries[-1]
            entries[-1] = last._replace(sentence=f"{last.sentence} {line.strip()}".strip())
        else:
            name, source = line.split(" | ")
            entries.append(Requirement(name, source, ""))
    return entries


def collected(*blocks: str) -> dict[str, Requirement]:
    """Return all entries by id. Raises ValueError when an id is given twice."""
    entries = [entry for block in blocks for entry in read(block)]
    by_id = {entry.id: entry for entry in entries}
    if len(by_id) != len(entries):
        raise ValueError("an id stands twice in the list of requirements")
    return by_id


REQUIREMENTS = collected(
    *(reading.TEXT, ranking.TEXT, context.TEXT, surfaces.TEXT, packages.TEXT, safety.TEXT)
)
