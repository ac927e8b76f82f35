"""The description of a library: its folders, and what decides which of their skills load."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from skillyard.base.errors import InvalidInput
from skillyard.base.limits import DEFAULT_LIMITS, Limits
from skillyard.engine.skill import SCOPES

if TYPE_CHECKING:
    from skillyard.base.errors import Diagnostic
    from skillyard.engine.discovery.layout import Root, Scan
    from skillyard.engine.skill import Skill

RUNTIME_FOLDER = ".skills"
"""The same value as in ``discovery.layout``, which a query does not import."""


class LibrarySpec(NamedTuple):
    """The roots of a library as the caller gave them, and how they are read."""

    roots: tuple[str, ...]
    scopes: tuple[str, ...]
    limits: Limits = DEFAULT_LIMITS
    files: FileFilter | None = None
    """Filters the files of the library; None accepts all."""
    folder: str = "."
    """Where the work is: it decides which folders belong to the scopes, and which policy holds."""
    policy: Admission | None = None
    """Decides which skills load; None accepts all."""
    find_policy: Callable[[str], Admission | None] | None = None
    """Returns the policy that holds for ``folder`` now; None: it never changes."""

    def renewed(self) -> LibrarySpec:
        """Return the library with the policy as it is now; equal where nothing changed.

        Raises SkillIoError for a policy that cannot be read.
        """
        if self.find_policy is None:
            return self
        return self._replace(policy=self.find_policy(self.folder))

    def scan(self) -> Scan:
        """Walk the roots, then the folders of the scopes. Raises InvalidSkillsRoot."""
        from skillyard.engine.discovery.layout import Root
        from skillyard.engine.discovery.walk import scan

        roots = [Root(path) for path in self.roots]
        if not self.scopes:
            files = scan(roots, self.limits)
        else:
            from skillyard.engine.discovery.scopes import places_of

            places = places_of(self.scopes, folder=self.folder)
            files = scan([*roots, *places.roots], self.limits)
            files = files._replace(diagnostics=(*places.problems, *files.diagnostics))
            if files.observations is not None:
                seen = files.observations._replace(places=places.looked_at or {})
                files = files._replace(observations=seen if places.looked_at else None)
        if self.files is None:
            return files
        # What it decides depends on more than these folders.
        return self.files.filter_scan(files._replace(observations=None))

    def scan_resolved(self) -> Scan:
        """Walk the resolved roots. Raises InvalidSkillsRoot, naming the root as it was given."""
        from skillyard.base.errors import InvalidSkillsRoot

        try:
            return self.resolve().scan()
        except InvalidSkillsRoot:
            self.scan()
            raise

    def below(self, folder: str) -> LibrarySpec:
        """Return the library with paths that do not depend on the current folder."""
        roots = tuple(os.path.join(folder, root) for root in self.roots)
        return self._replace(roots=roots, folder=os.path.join(folder, self.folder))

    def resolve(self) -> LibrarySpec:
        """Return the library with resolved roots.

        All spellings of a folder (``lib``, ``./lib``, a link) share one index, which stores paths
        below the roots.
        """
        roots = tuple(map(real_root, self.roots))
        files = None if self.files is None else self.files.resolve()
        return self._replace(roots=roots, files=files)


def real_root(root: str) -> str:
    """Return the resolved path of a root."""
    real = os.path.realpath(root)
    named = os.path.abspath(root)
    # The name .skills decides the layout, so a link of that name is not resolved to another name.
    runtime = os.path.basename(named).lower() == RUNTIME_FOLDER
    return named if runtime and os.path.basename(real).lower() != RUNTIME_FOLDER else real


def all_roots(paths: tuple[str, ...], scopes: tuple[str, ...], folder: str = ".") -> list[Root]:
    """Return the named roots, then the folders of hosts for the work in ``folder``."""
    from skillyard.engine.discovery.layout import Root

    roots = [Root(path) for path in paths]
    if scopes:
        from skillyard.engine.discovery.scopes import places_of

        roots.extend(places_of(scopes, folder=folder).roots)
    return roots


def parse_roots(
    roots: Iterable[str | os.PathLike[str] | Iterable[str | os.PathLike[str]]],
    scopes: Iterable[str],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the checked (paths, scopes) of ``read_catalog``. Raises InvalidInput."""
    paths: list[str] = []
    for root in roots:
        paths.extend([_root(root)] if isinstance(root, str | os.PathLike) else _each_root(root))
    scope_names = (scopes,) if isinstance(scopes, str) else tuple(scopes)
    for scope in scope_names:
        if scope not in SCOPES:
            raise InvalidInput(f"scopes: unknown scope {scope!r}; known: {', '.join(SCOPES)}")
    return tuple(paths) if roots else (".",), scope_names


def _root(root: object) -> str:
    path = os.fspath(root) if isinstance(root, str | os.PathLike) else None
    if not isinstance(path, str) or "\0" in path:
        raise InvalidInput(f"a root must be a path, not {type(root).__name__}")
    return path or "."


def _each_root(roots: object) -> list[str]:
    if isinstance(roots, bytes) or not isinstance(roots, Iterable):
        raise InvalidInput(f"a root must be a path, not {type(roots).__name__}")
    return [_root(root) for root in roots]


class Admission(Protocol):
    """Decides which skills of a library load, as a team's policy does.

    Its ``repr`` is complete and stable, and equal values decide alike: indexes are named by it.
    """

    def diagnostic(self, skill: Skill) -> Diagnostic | None:
        """Return why a skill does not load, or None where it is admitted."""

    def of_store(self) -> Admission | None:
        """Return what holds for skills of a catalog store; None: all are admitted."""


class FileFilter(Protocol):
    """Decides which files of a library are read.

    It runs before name collisions and term statistics, so rejected files do not affect others.
    """

    @property
    def key(self) -> str:
        """Distinguishes this index from the index of all files."""

    def filter_scan(self, files: Scan) -> Scan:
        """Return the scan without the rejected files; diagnostics give the reasons."""

    def resolve(self) -> FileFilter:
        """Return the same filter for resolved root paths."""
