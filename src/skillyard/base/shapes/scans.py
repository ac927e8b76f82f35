"""What ``scan`` writes: findings, and those that the user accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanFinding:
    """One place at which a rule of the scan applies."""

    rule: Annotated[str, "Identifier of the rule."]
    severity: Annotated[str, "high, medium or low."]
    path: Annotated[str, "The file."]
    line: Annotated[int, "1-based line; 1 for a file that is not text."]
    message: Annotated[str, "What the rule says."]
    quote: Annotated[str, "What stands there, shortened."]
    fix: Annotated[str, "What to do."]
    digest: Annotated[str, "Names the content of the file."]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFinding:
    """A finding that the lock file accepts."""

    finding: Annotated[ScanFinding, "What was accepted."]
    reason: Annotated[str, "Why, in the words of the user."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """The findings on some skills."""

    schema: Schema[Literal["skillyard.scan/1"]] = "skillyard.scan/1"
    paths: Annotated[tuple[str, ...], "What was scanned."]
    scopes: Annotated[tuple[str, ...], "The scopes whose folders were scanned too."] = ()
    skills: Annotated[int, "Scanned skills and single documents."]
    files: Annotated[int, "Their files."]
    findings: Annotated[tuple[ScanFinding, ...], "Sorted by path, line and rule."]
    counts: Annotated[Mapping[str, int], "Findings of each severity."]
    accepted: Annotated[tuple[AcceptedFinding, ...], "Findings that the lock file accepts."]
    lock: Annotated[str | None, "The lock file, where it accepts any."]
    profile: Annotated[str, "The profile of the policy in force; left out without one."] = ""
