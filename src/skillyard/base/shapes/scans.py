"""What ``scan`` writes: findings, and those that the user accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


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
