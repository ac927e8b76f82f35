"""What the layers share when they read their cases: errors and filters."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TypeVar

from skillyard.base.errors import Diagnostic, InvalidInput
from skillyard.evals.cases.dataset import Dataset
from skillyard.evals.cases.layer_cases import CasePlaces

Case = TypeVar("Case")

_SHOWN = 3
"""Reasons that are named why no case can be used."""


class BadCases(InvalidInput):
    """Case files hold errors; nothing was run. ``diagnostics`` name file, line and fix."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        errors = [each for each in diagnostics if each.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{diagnostic_line(errors[0])}{more}")
        self.diagnostics = tuple(diagnostics)


def diagnostic_line(diagnostic: Diagnostic) -> str:
    """Return a fault of a case file as one line, with what to write instead."""
    return f"{_fault(diagnostic)}; {diagnostic.hint}"


def _fault(diagnostic: Diagnostic) -> str:
    line = f":{diagnostic.line}" if diagnostic.line else ""
    return f"{diagnostic.path}{line}: {diagnostic.message}"


def require_cases(data: Dataset[Case], places: CasePlaces) -> Dataset[Case]:
    """Return a dataset without errors and with cases. Raises BadCases, InvalidInput."""
    if data.errors:
        raise BadCases(data.diagnostics)
    if data.cases:
        return data
    paths = ", ".join(os.path.normpath(path) for path in places.paths)
    where = "the skills' folders" if places.in_skills else paths
    if data.diagnostics:
        reasons = list(dict.fromkeys(_fault(each) for each in data.diagnostics))
        more = f" (and {len(reasons) - _SHOWN} more)" if len(reasons) > _SHOWN else ""
        raise InvalidInput(f"no case in {where} can be used: {'; '.join(reasons[:_SHOWN])}{more}")
    raise InvalidInput(
        f"there are no cases in {where}; `skillyard eval init NAME` writes the first ones"
    )


def check_known(flag: str, name: str, known: Iterable[str]) -> None:
    """Raise InvalidInput for a filter that names nothing that the cases are about."""
    names = sorted(known)
    if name in names:
        return
    near = get_close_matches(name, names, 1, 0.6)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names) or 'none'}"
    raise InvalidInput(f"{flag} {name}: no case is about it; {hint}")
