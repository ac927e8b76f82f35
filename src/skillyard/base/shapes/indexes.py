"""What the commands of ``index`` write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.details import DiagnosticDocument, Remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexBuilt:
    """The result of building or updating an index."""

    schema: Schema[Literal["skillyard.index-build/1"]] = "skillyard.index-build/1"
    folder: Annotated[str, "Where it is."]
    generation: Annotated[int, "Its generation."]
    skills: Annotated[int, "Its skills."]
    added: Annotated[int, "New files."]
    changed: Annotated[int, "Changed files."]
    removed: Annotated[int, "Removed files."]
    diagnostics: Remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """The state of an index. Without one all but ``folder`` and ``state`` are empty."""

    schema: Schema[Literal["skillyard.index-status/1"]] = "skillyard.index-status/1"
    folder: Annotated[str, "Where it is."]
    state: Annotated[str, "current, stale, missing, damaged or foreign (of another version)."]
    generation: Annotated[int, "Its generation."]
    skills: Annotated[int, "Its skills."]
    segments: Annotated[int, "Its segments."]
    bytes: Annotated[int, "Size of its files."]
    settings: Annotated[Mapping[str, str], "What it was built with."]
    problem: Annotated[str, "What is damaged."]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexVerified:
    """The result of verifying an index."""

    schema: Schema[Literal["skillyard.index-verify/1"]] = "skillyard.index-verify/1"
    folder: Annotated[str, "Where it is."]
    sound: Annotated[bool, "True without faults; a stray file is not a fault."]
    findings: Annotated[tuple[DiagnosticDocument, ...], "Its faults."]
