"""Pairs that a person has judged: one JSON object a line, to hold the judge against."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillyard.evals.cases.dataset import Dataset, files_of, read_dataset
from skillyard.evals.cases.parsing import case_lines
from skillyard.evals.cases.records import Record

__all__ = ["Label", "read_labels"]


@dataclass(frozen=True, slots=True)
class Label:
    """What a person says of one case."""

    id: str
    """Of the case in the results: ``skill/prompt/run/comparison``."""
    winner: str
    """A condition of the case, or ``tie``."""


def read_labels(*places: str | os.PathLike[str]) -> Dataset[Label]:
    """Read the ``*.jsonl`` files of folders, or files themselves: ``{"id", "winner"}`` a line.

    A case may be labelled once. Whether the case exists is seen when labels meet results.
    """
    labeled: set[str] = set()
    return read_dataset(
        [path for place in places for path in files_of(place, (".jsonl",))],
        lambda file, notes: case_lines(file.text, notes, lambda record: _label(record, labeled)),
    )


def _label(record: Record, labeled: set[str]) -> Label:
    before = record.notes.errors
    record.only(["id", "winner", "note"])
    label = Label(record.some_text("id"), record.some_text("winner"))
    record.text("note")
    if label.id in labeled:
        record.wrong("id", "is labelled twice", "keep one of the two labels", label.id)
    if record.notes.errors == before:
        labeled.add(label.id)
    return label
