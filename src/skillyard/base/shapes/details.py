"""Parts of documents: a diagnostic, an explanation, the finding of a scan, counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticDocument:
    """One finding about one file."""

    code: Annotated[str, "Identifier of the rule."]
    severity: Annotated[str, "error, warning or info."]
    path: Annotated[str, "The file."]
    line: Annotated[int | None, "1-based line."]
    column: Annotated[int | None, "1-based column."]
    message: Annotated[str, "What is wrong."]
    found: Annotated[str, "What stood there, shortened."]
    hint: Annotated[str, "What to do."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationDocument:
    """One node of the tree behind a score."""

    label: Annotated[str, "What this part is."]
    value: Annotated[float, "Its value."]
    op: Annotated[str, "How the value follows from the parts."]
    note: Annotated[str, "What was matched."] = ""
    parts: Annotated[tuple[ExplanationDocument, ...], "The parts."] = ()


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
class SkillCountsDocument:
    """What the skills are, and what is not counted among them."""

    skills: Annotated[int, "Distinct skills."]
    selectable: Annotated[int, "Of the skills: those that a request can choose."]
    by_name_only: Annotated[int, "Of the skills: those that only an explicit @name chooses."]
    shadowed: Annotated[int, "Of the skills: those that lose to another of the same name."]
    lacking: Annotated[int, "Of the skills: those whose requirements are not met here."]
    copies: Annotated[int, "Further places of skills, with the same bytes."]
    conventions: Annotated[int, "AGENTS.md, CLAUDE.md and kin."]
    files: Annotated[int, "All files that loaded."]


Remarks = Annotated[tuple[DiagnosticDocument, ...], "What did not load, or loaded with a remark."]
"""The type of the member ``diagnostics``."""
MaybeRemarks = Annotated[
    tuple[DiagnosticDocument, ...] | None, "What did not load, or loaded with a remark."
]
