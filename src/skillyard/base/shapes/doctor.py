"""What ``doctor`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from skillyard.base.shapes import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check."""

    id: Annotated[str, "What was looked at."]
    status: Annotated[str, "ok, info, warning or error."]
    message: Annotated[str, "The result, as a sentence."]
    remedy: Annotated[str, "What to do; empty only where the status is ok."]
    command: Annotated[str, "The shell command that does it."]
    path: Annotated[str, "The file or folder that it is about."]
    line: Annotated[int | None, "1-based line in that file."]
    details: Annotated[Mapping[str, Any], "The facts behind the message."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The results of all checks."""

    schema: Schema[Literal["skillyard.doctor/1"]] = "skillyard.doctor/1"
    version: Annotated[str, "The version of skillyard."]
    findings: Annotated[tuple[Finding, ...], "In the order of the subjects."]
    counts: Annotated[Mapping[str, int], "The number of findings of each status."]

    @property
    def healthy(self) -> bool:
        """True when no finding is an error."""
        return not self.counts["error"]
