"""Labels: comparisons that a person has judged, one JSON object a line."""

from __future__ import annotations

import os
from dataclasses import dataclass

from skillyard.evals.cases.case_files import Dataset, build_dataset, files_of, read_sources
from skillyard.evals.cases.reading import STRICT, Notes, SomeText, checked, json_lines


@dataclass(frozen=True, slots=True)
class Label:
    """A person's judgement of one case."""

    __pydantic_config__ = STRICT

    id: SomeText
    """Of the case in the results: ``skill/prompt/run/comparison``."""
    winner: SomeText
    """A condition of the case, or ``tie``."""
    note: str = ""


def read_labels(*places: str | os.PathLike[str]) -> Dataset[Label]:
    """Read the ``*.jsonl`` files of folders, or files themselves: ``{"id", "winner"}`` a line.

    A case may be labelled once. Whether the case exists is checked against the results.
    """
    notes, labels = Notes(), dict[str, Label]()
    paths = (path for place in places for path in files_of(place, (".jsonl",)))
    files = [file._replace(kind="labels") for file in read_sources(paths, notes)]
    for file in files:
        own = notes.of_file(file.path)
        for entry in json_lines(file.text, own):
            label = checked(Label, entry, own)
            if label is not None and label.id in labels:
                hint = "give each case one label"
                own.error("case_duplicate_id", entry.line(), "the id is taken", hint, label.id)
            elif label is not None:
                labels[label.id] = label
    return build_dataset(labels.values(), notes, files, ("labels",))
