"""Labels: comparisons that a person has judged, one JSON object a line."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillyard.evals.cases.dataset import Dataset, read_json_cases
from skillyard.evals.cases.records import Record

__all__ = ["Label", "read_labels"]


@dataclass(frozen=True, slots=True)
class Label:
    """A person's judgement of one case."""

    id: str
    """Of the case in the results: ``skill/prompt/run/comparison``."""
    winner: str
    """A condition of the case, or ``tie``."""


def read_labels(*places: str | os.PathLike[str]) -> Dataset[Label]:
    """Read the ``*.jsonl`` files of folders, or files themselves: ``{"id", "winner"}`` a line.

    A case may be labelled once. Whether the case exists is checked against the results.
    """
    labelled: set[str] = set()
    return read_json_cases(places, lambda record: _label(record, labelled))


def _label(record: Record, labelled: set[str]) -> Label:
    before = record.notes.errors
    record.only(["id", "winner", "note"])
    label = Label(record.some_text("id"), record.some_text("winner"))
    record.text("note")
    if label.id in labelled:
        record.wrong("id", "is labelled twice", "keep one of the two labels", label.id)
    if record.notes.errors == before:
        labelled.add(label.id)
    return label
