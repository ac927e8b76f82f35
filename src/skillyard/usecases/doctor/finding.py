"""The findings of ``skillyard doctor``, each with a status and a remedy."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from skillyard.shapes import doctor as shapes
from skillyard.shapes.encoder import from_attributes

__all__ = ["ERROR", "INFO", "OK", "STATUSES", "WARNING", "Diagnosis", "Finding"]

OK = "ok"
INFO = "info"
"""Works; something optional is not set up, or good to know."""
WARNING = "warning"
"""Works in part, or will surprise."""
ERROR = "error"
"""Something that is set up does not work."""
STATUSES = (OK, INFO, WARNING, ERROR)

_NONE: Mapping[str, Any] = MappingProxyType({})


class Finding(NamedTuple):
    """The result of one check. Texts may hold names from files: clean them before printing."""

    id: str
    """Stable name of what was looked at (``extra.serve``), the same whatever the status."""
    status: str
    """``ok``, ``info``, ``warning`` or ``error``."""
    message: str
    """What was found, as a sentence."""
    remedy: str = ""
    """What to do, as a sentence; empty only where the status is ``ok``."""
    command: str = ""
    """The shell command that does it, where there is one."""
    path: str = ""
    """The file or folder that the finding is about."""
    line: int | None = None
    """1-based line in that file, where one can be named."""
    details: Mapping[str, Any] = _NONE
    """The facts behind the message, as JSON values."""

    def document(self) -> shapes.Finding:
        """Return the finding as a document shows it."""
        return from_attributes(shapes.Finding, self)


class Diagnosis(NamedTuple):
    """The results of all checks, in the order of the subjects."""

    version: str
    findings: tuple[Finding, ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings of each status."""
        return {
            status: sum(finding.status == status for finding in self.findings)
            for status in STATUSES
        }

    @property
    def healthy(self) -> bool:
        """True when no finding is an error."""
        return all(finding.status != ERROR for finding in self.findings)

    def document(self) -> shapes.Diagnosis:
        """Return ``skillyard.doctor/1``."""
        return shapes.Diagnosis(
            version=self.version,
            findings=tuple(finding.document() for finding in self.findings),
            counts=self.counts,
        )
