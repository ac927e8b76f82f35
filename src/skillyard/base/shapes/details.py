"""Parts that most documents leave out: a diagnostic, an explanation."""

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
