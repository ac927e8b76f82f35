"""Labels: comparisons that a person has judged, one JSON object a line."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillyard.base.strict_toml import SomeText
from skillyard.evals.cases.case_lines import Identities, read_case_lines
from skillyard.evals.cases.dataset import Dataset, build_dataset, files_of, read_sources
from skillyard.evals.cases.records import Notes, Record


@dataclass(frozen=True, slots=True)
class Label:
    """A person's judgement of one case."""

    id: SomeText
    """Of the case in the results: ``skill/prompt/run/comparison``."""
    winner: SomeText
    """A condition of the case, or ``tie``."""


def read_labels(*places: str | os.PathLike[str]) -> Dataset[Label]:
    """Read the ``*.jsonl`` files of folders, or files themselves: ``{"id", "winner"}`` a line.

    A case may be labelled once. Whether the case exists is checked against the results.
    """
    identities = Identities()

    def parse(record: Record) -> Label:
        label = record.read(Label, also=("note",))
        identities.check(record, label.id)
        return label

    notes = Notes()
    files = read_sources((path for place in places for path in files_of(place, (".jsonl",))), notes)
    return build_dataset(read_case_lines(files, notes, parse), notes, files)
