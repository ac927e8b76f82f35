"""What ``check`` writes: findings, their counts, and what was fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.base.shapes import Schema
from skillyard.base.shapes.details import Diagnostic


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCount:
    """How often one rule has findings, with one severity."""

    code: Annotated[str, "Identifier of the rule."]
    severity: Annotated[str, "error, warning or info."]
    findings: Annotated[int, "Its findings."]
    files: Annotated[int, "The files that they are in."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """One repair that was made."""

    code: Annotated[str, "Identifier of the rule."]
    path: Annotated[str, "The file."]
    line: Annotated[int, "1-based line at which the repair begins."]
    message: Annotated[str, "What was repaired."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The findings on some paths, and what was fixed before."""

    schema: Schema[Literal["skillyard.check/1"]] = "skillyard.check/1"
    paths: Annotated[tuple[str, ...], "What was checked."]
    scopes: Annotated[tuple[str, ...], "The scopes whose folders were checked too."] = ()
    profile: Annotated[str, "lenient, spec or reference."]
    diagnostics: Annotated[tuple[Diagnostic, ...], "Sorted by path, line and code."]
    skills: Annotated[int, "Skills that were checked."]
    files: Annotated[int, "Those, convention documents, and files that did not load."]
    counts: Annotated[Mapping[str, int], "Findings of each severity."]
    rules: Annotated[tuple[RuleCount, ...], "The severest first, then the most frequent."]
    configs: Annotated[tuple[str, ...], "The configuration files that were used."]
    fixable: Annotated[int, "Repairs that --fix would make."]
    fixes: Annotated[tuple[Fix, ...], "Repairs that were made."]
    refused: Annotated[tuple[Diagnostic, ...], "Files that could not be repaired, and why."]
