"""Labels: comparisons that a person has judged, one JSON object a line."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillyard.errors import Diagnostic
from skillyard.evals.cases.dataset import Dataset, build_dataset, files_of, read_sources
from skillyard.evals.cases.parser import json_lines
from skillyard.evals.cases.records import Notes, Record

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

    A case may be labelled once. Whether the case exists is seen when labels meet results.
    """
    paths = [path for place in places for path in files_of(place, (".jsonl",))]
    files, unreadable, digest = read_sources(paths)
    diagnostics: list[Diagnostic] = list(unreadable)
    labels: dict[str, Label] = {}
    for file in files:
        notes = Notes(file.path)
        for record in json_lines(file.text, notes):
            _read_label(record, labels)
        diagnostics += notes.found
    return build_dataset(labels.values(), diagnostics, files, digest)


def _read_label(record: Record, labels: dict[str, Label]) -> None:
    before = record.notes.errors
    record.only(["id", "winner", "note"])
    label = Label(record.some_text("id"), record.some_text("winner"))
    record.text("note")
    if label.id in labels:
        record.wrong("id", "is labelled twice", "keep one of the two labels", label.id)
    if record.notes.errors == before:
        labels[label.id] = label
