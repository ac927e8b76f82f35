"""Paths of an index as its reader has named the roots: an index itself knows the real ones."""

from __future__ import annotations

import os
from json import dumps
from typing import TYPE_CHECKING

from skillyard.index.library_spec import LibrarySpec
from skillyard.reported import Reported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["PathMapping"]


class PathMapping:
    """How the paths of one index read for somebody who named its roots in some way."""

    __slots__ = ("_differs", "_prefixes", "_real", "_spec")

    def __init__(self, spec: LibrarySpec) -> None:
        """Take the library with its roots as they were named."""
        self._spec = spec
        self._real = tuple(map(_prefix, spec.resolved().roots))
        self._prefixes = tuple(map(_prefix, spec.roots))
        self._differs = self._prefixes != self._real

    def path(self, path: str, parts: Sequence[str], root: int) -> str:
        """Return the path of a candidate of the index, of which it has these fields."""
        if not self._differs or root >= len(self._prefixes):
            return path
        return self._prefixes[root] + "/".join(parts)

    def keys(self, path: str) -> Iterator[str]:
        """Yield the keys that the document of a path may have: one for each root above it."""
        for number, prefix in enumerate(self._all_prefixes()):
            if path.startswith(prefix):
                yield f"{number}/{path[len(prefix) :]}"

    def _all_prefixes(self) -> Sequence[str]:
        if not self._spec.scopes:
            return self._prefixes
        from skillyard.catalog.snapshot import all_roots

        return tuple(_prefix(root.path) for root in all_roots(self._spec.roots, ("user",)))

    def reported(self, reported: Reported) -> Reported:
        """Return the diagnostics of the index with the paths as the roots were named."""
        if not self._differs:
            return reported
        text = reported.json
        for real, named in zip(self._real, self._prefixes, strict=True):
            if real != named:
                text = _rename_root(text, _escaped(real), _escaped(named))
        renamed = Reported(json=text)
        if len(self._prefixes) == 1:
            return renamed
        order = sorted(renamed.listed, key=lambda d: (d.path, d.line or 0, d.column or 0, d.code))
        return Reported(order)


def _prefix(root: str) -> str:
    """Return what stands before the parts of a path below a root; see ``discovery.walk``."""
    path = root.replace(os.sep, "/")
    if path == ".":
        return ""
    return f"{path.rstrip('/')}/"


def _escaped(text: str) -> str:
    return dumps(text)[1:-1]


_PATH_STARTS = ('"', " ", "'", "(", "`", "[")
"""What stands before a path in the text of a diagnostic."""


def _rename_root(text: str, real: str, named: str) -> str:
    """Return JSON with one root named differently, where a path begins with it or is it."""
    whole = f'"{real.rstrip("/")}"'
    text = text.replace(whole, f'"{named.rstrip("/") or "."}"')
    for before in _PATH_STARTS:  # a pattern would do it in one pass, and `re` costs more to load
        text = text.replace(before + real, before + named)
    return text
