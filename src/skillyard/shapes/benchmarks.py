"""What the commands of ``bench`` and ``log replay`` write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.shapes import Schema

__all__ = ["BenchReport", "BenchRun", "BenchScore", "Drift", "LogReplay", "Replay"]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchReport:
    """The report of a run."""

    schema: Schema[Literal["skillyard.bench-report/1"]] = "skillyard.bench-report/1"
    out: Annotated[str, "The file of the report."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One difference between a logged answer and the current one."""

    line: Annotated[int, "1-based line in the log."]
    text: Annotated[str, "The request."]
    skill: Annotated[str, "The short identifier of the skill."]
    what: Annotated[str, "gone, changed, dropped, added or moved."]
    before: Annotated[float | None, "Its logged score."]
    after: Annotated[float | None, "Its score now."]
    place_before: Annotated[int | None, "Its logged place."]
    place_after: Annotated[int | None, "Its place now."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The differences for the queries of a log."""

    schema: Schema[Literal["skillyard.bench-replay/1"]] = "skillyard.bench-replay/1"
    log: Annotated[str, "The file of the log."]
    queries: Annotated[int, "Queries that were repeated."]
    skipped: Annotated[int, "Entries that contain only a digest of the request."]
    moved: Annotated[tuple[Drift, ...], "In the order of the log."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReplay(Replay):
    """The same for the decision log."""

    schema: Schema[Literal["skillyard.log-replay/1"]] = "skillyard.log-replay/1"  # type: ignore[assignment]
