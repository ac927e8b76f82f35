"""The folders of a library: those that were named, then those of its scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillyard.discovery import Root, Scan
    from skillyard.limits import Limits

__all__ = ["all_roots", "scan_library"]


def all_roots(paths: tuple[str, ...], scopes: tuple[str, ...], folder: str = ".") -> list[Root]:
    """Return the named roots, then the folders of hosts for the work in ``folder``."""
    from skillyard.discovery import Root

    roots = [Root(path) for path in paths]
    if scopes:
        from skillyard.discovery.scopes import places_of

        roots.extend(places_of(scopes, folder=folder).roots)
    return roots


def scan_library(
    paths: tuple[str, ...], scopes: tuple[str, ...], limits: Limits, folder: str = "."
) -> Scan:
    """Walk the named roots and the folders of the scopes for the work in ``folder``.

    Raises InvalidSkillsRoot.
    """
    from skillyard.discovery import Root, scan

    roots = [Root(path) for path in paths]
    if not scopes:
        return scan(roots, limits)
    from skillyard.discovery.scopes import places_of

    places = places_of(scopes, folder=folder)
    scanned = scan([*roots, *places.roots], limits)
    return scanned._replace(diagnostics=(*places.problems, *scanned.diagnostics))
