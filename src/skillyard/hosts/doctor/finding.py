"""The input of ``skillyard doctor``, and its findings, each with a status and a remedy."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from shlex import join
from types import MappingProxyType
from typing import Any, NamedTuple

from skillyard.base.io.paths import ancestors
from skillyard.base.shapes import doctor as shapes
from skillyard.base.shapes.encoder import from_attributes
from skillyard.engine.catalog.entries import Progress

CommandReader = Callable[[list[str]], tuple[Any, Any] | None]
"""Reads the arguments of a skillyard command: (command with ``words``, values), or None."""

OK = "ok"
INFO = "info"
"""Works; something optional is not set up, or good to know."""
WARNING = "warning"
"""Works in part, or will surprise."""
ERROR = "error"
"""Something that is set up does not work."""
STATUSES = (OK, INFO, WARNING, ERROR)

_NONE: Mapping[str, Any] = MappingProxyType({})


class Request(NamedTuple):
    """One diagnosis."""

    roots: tuple[str, ...]
    """As they were given; empty: the current folder."""
    scopes: tuple[str, ...]
    folder: str
    """The current folder, absolute."""
    read_command: CommandReader
    progress: Progress | None
    profile: str | None

    @property
    def library_roots(self) -> tuple[str, ...]:
        """The roots that other commands would read."""
        return self.roots or (".",)

    @property
    def options(self) -> str:
        """The options that name the library, each after a blank."""
        words = [word for root in self.roots for word in ("--root", root)]
        words += [word for scope in self.scopes for word in ("--scope", scope)]
        words += ["--profile", self.profile] if self.profile else []
        return f" {join(words)}" if words else ""

    def project_folders(self) -> list[str]:
        """Return the current folder and those above it up to the repository's root.

        Without a repository below the home folder there is the current folder alone.
        """
        home = os.path.realpath(os.path.expanduser("~"))
        folders: list[str] = []
        for above in ancestors(self.folder):
            if folders and os.path.realpath(above) == home:
                break
            folders.append(above)
            if os.path.lexists(os.path.join(above, ".git")):
                return folders
        return folders[:1]


class Finding(NamedTuple):
    """The result of one check. Texts may hold names from files: clean them before printing."""

    id: str
    """Stable name of what was looked at (``hook.codex``), the same whatever the status."""
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
