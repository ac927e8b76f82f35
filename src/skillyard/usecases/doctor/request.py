"""The input of a diagnosis: the library, the current folder, and the parser of commands."""

from __future__ import annotations

import os
from collections.abc import Callable
from shlex import join
from typing import Any, NamedTuple

from skillyard.catalog.entries import Progress
from skillyard.io.paths import ancestors

__all__ = ["CommandReader", "Request", "root_options"]

CommandReader = Callable[[list[str]], tuple[Any, Any] | None]
"""Reads the arguments of a skillyard command: (command with ``words``, values), or None."""


class Request(NamedTuple):
    """One diagnosis."""

    version: str
    """Of the package."""
    roots: tuple[str, ...]
    """As they were given; empty: the current folder."""
    scopes: tuple[str, ...]
    folder: str
    """The current folder, absolute."""
    read_command: CommandReader | None
    """None: the arguments in other programs' settings are not checked."""
    progress: Progress | None
    profile: str | None = None
    """The profile that was named; None: that of ``SKILLYARD_PROFILE``."""

    @property
    def library_roots(self) -> tuple[str, ...]:
        """The roots that other commands would read."""
        return self.roots or (".",)

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


def root_options(request: Request) -> str:
    """Return the options of the request that name its library, each after a blank."""
    given = [word for root in request.roots for word in ("--root", root)]
    given += [word for scope in request.scopes for word in ("--scope", scope)]
    given += ["--profile", request.profile] if request.profile else []
    return f" {join(given)}" if given else ""
