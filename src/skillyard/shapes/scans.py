"""What ``scan`` writes: findings, and those that the user accepted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from skillyard.shapes import Schema
from skillyard.shapes.improvements import ImproveRequests

__all__ = ["AcceptedFinding", "ScanFinding", "ScanReader", "ScanTool", "Scanned", "UnreadPart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanFinding:
    """One place at which a rule of the scan applies."""

    rule: Annotated[str, "Identifier of the rule; a model may say `other`."]
    severity: Annotated[str, "high, medium or low."]
    path: Annotated[str, "The file."]
    line: Annotated[int, "1-based line; 1 for a file that is not text."]
    message: Annotated[str, "What the rule says."]
    quote: Annotated[str, "What stands there, shortened."]
    fix: Annotated[str, "What to do."]
    digest: Annotated[str, "Names the content of the file."]
    reader: Annotated[str, "The model or other scanner that says so; absent for a rule."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFinding:
    """A finding that the lock file accepts."""

    finding: Annotated[ScanFinding, "What was accepted."]
    reason: Annotated[str, "Why, in the words of the user."]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadPart:
    """A skill, or a part of one, that a model or another scanner did not read."""

    path: Annotated[str, "The skill."]
    why: Annotated[str, "Why there is no answer about it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReader:
    """What a model says about the same skills (`--reader`)."""

    model: Annotated[str, "The model."]
    provider: Annotated[str, "The provider of models."]
    host: Annotated[str, "The server that gets the files."]
    dry_run: Annotated[bool, "True where nothing was sent."]
    skills: Annotated[int, "Skills and single documents with text."]
    files: Annotated[int, "Their files that are text."]
    requests: Annotated[ImproveRequests, "Before anything was sent."]
    input_tokens: Annotated[int, "Estimated tokens of the requests to send."]
    cost_low: Annotated[float | None, "US dollars with short answers; null without a price."]
    cost_high: Annotated[float | None, "US dollars with answers of full length."]
    calls: Annotated[int, "Requests sent, with repeated ones."]
    cost: Annotated[float, "US dollars paid now."]
    fake: Annotated[bool, "True if a stand-in gave an answer."]
    findings: Annotated[tuple[ScanFinding, ...], "Those whose quotes stand in the files."]
    counts: Annotated[Mapping[str, int], "These findings of each severity."]
    accepted: Annotated[tuple[AcceptedFinding, ...], "Its findings that the lock file accepts."]
    dropped: Annotated[tuple[str, ...], "Why other findings of the model do not count."]
    unread: Annotated[tuple[UnreadPart, ...], "What it did not read, or gave no usable answer on."]
    stopped: Annotated[str | None, "Why the reading ended early: a budget, an interrupt, failures."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTool:
    """What another scanner says about the same skills (`--also`)."""

    tool: Annotated[str, "Its package."]
    version: Annotated[str, "Its version."]
    skills: Annotated[int, "Skills that it scanned."]
    findings: Annotated[tuple[ScanFinding, ...], "Sorted by path, line and rule."]
    counts: Annotated[Mapping[str, int], "These findings of each severity."]
    informational: Annotated[int, "Its remarks that are no findings of attacks."]
    accepted: Annotated[tuple[AcceptedFinding, ...], "Its findings that the lock file accepts."]
    unread: Annotated[tuple[UnreadPart, ...], "What it did not scan, or not whole."]


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
    reader: Annotated[
        ScanReader | None, "A model as second reader; no other member counts what it says."
    ] = None
    also: Annotated[ScanTool | None, "Another scanner; no other member counts what it says."] = None
    profile: Annotated[str, "The profile of the policy in force; left out without one."] = ""
