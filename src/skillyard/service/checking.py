"""Checking: what is wrong with skills and libraries, and how to put it right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from skillyard.errors import Diagnostic

__all__ = ["SEVERITIES", "Checked", "check_paths"]

SEVERITIES = ("error", "warning", "info")


class Checked(NamedTuple):
    """The findings on some paths, sorted by path, line and code, each once."""

    paths: tuple[str, ...]
    profile: str
    diagnostics: tuple[Diagnostic, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        found = [diagnostic.severity for diagnostic in self.diagnostics]
        return {severity: found.count(severity) for severity in SEVERITIES}

    def to_dict(self) -> dict[str, Any]:
        """Return ``skillyard.check/1``."""
        return {
            "schema": "skillyard.check/1",
            "paths": list(self.paths),
            "profile": self.profile,
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
            "counts": self.counts,
        }

    def render(self, format: str) -> str:
        """Return the findings in one of the report formats. Raises UnknownName."""
        from skillyard.validation import report

        return report.render(self.diagnostics, format)


def check_paths(paths: Sequence[str], *, profile: str = "lenient") -> Checked:
    """Check skills, skill files and roots under a profile.

    What two of the paths share is said once. Raises InvalidSkillsRoot for a path that does not
    exist, UnknownName for a profile.
    """
    from skillyard.validation import validate

    found: dict[Diagnostic, None] = {}
    for path in paths:
        found.update(dict.fromkeys(validate(path, profile)))
    ordered = sorted(found, key=lambda d: (d.path, d.line or 0, d.code, d.column or 0, d.message))
    return Checked(tuple(paths), profile, tuple(ordered))
