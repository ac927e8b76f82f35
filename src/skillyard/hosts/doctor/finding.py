"""The input of ``skillyard doctor``, and its findings, each with a status and a remedy."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from shlex import join
from types import MappingProxyType
from typing import Any, NamedTuple

from skillyard.base.io.paths import ancestors
from skillyard.base.shapes.doctor import Finding
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


def make_finding(
    id: str,
    status: str,
    message: str,
    remedy: str = "",
    command: str = "",
    *,
    path: str = "",
    line: int | None = None,
    details: Mapping[str, Any] = _NONE,
) -> Finding:
    """Return the result of one check. Texts may hold names from files: clean them before printing.

    ``id`` is the stable name of what was looked at (``hook.codex``), the same whatever the status.
    """
    return Finding(
        id=id,
        status=status,
        message=message,
        remedy=remedy,
        command=command,
        path=path,
        line=line,
        details=details,
    )
