"""What the commands of ``bench`` write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRun:
    """The settings and the output of a run."""

    schema: Schema[Literal["skillyard.bench-run/1"]] = "skillyard.bench-run/1"
    scorer: Annotated[str, "The scorer that ranked."]
    skills: Annotated[int, "Skills that were ranked."]
    queries: Annotated[int, "Queries of the run."]
    answered: Annotated[int, "Queries with at least one skill."]
    out: Annotated[str, "The file of the run."]
    complete: Annotated[bool, "False when it was interrupted: the file holds what was done."]


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchScore:
    """The measures of a run."""

    schema: Schema[Literal["skillyard.bench-score/1"]] = "skillyard.bench-score/1"
    run: Annotated[str, "The file of the run."]
    all: Annotated[Mapping[str, float], "By measure, over all queries."]
    by_kind: Annotated[Mapping[str, Mapping[str, float]], "The same for each kind of query."]
    intervals: Annotated[
        Mapping[str, tuple[float, float]], "The 95 % bootstrap interval of each mean."
    ]
