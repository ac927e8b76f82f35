"""Translates the resolved paths of an index to the caller's spelling of the roots."""

from __future__ import annotations

import os
from json import dumps
from typing import TYPE_CHECKING

from skillyard.diagnostics import LazyDiagnostics
from skillyard.index.library_spec import LibrarySpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["PathMapping"]


class PathMapping:
    """Maps paths of one index to the roots as the caller gave them."""

    __slots__ = ("_differs", "_prefixes", "_real", "_spec")

    def __init__(self, spec: LibrarySpec) -> None:
        """Take the library with its roots as the caller gave them."""
        self._spec = spec
        self._real = tuple(map(_prefix, spec.resolve().roots))
        self._prefixes = tuple(map(_prefix, spec.roots))
        self._differs = self._prefixes != self._real

    def path(self, path: str, parts: Sequence[str], root: int) -> str:
        """Return the path of an indexed candidate in the caller's spelling."""
        if not self._differs or root >= len(self._prefixes):
            return path
        return self._prefixes[root] + "/".join(parts)

    def keys(self, path: str) -> Iterator[str]:
        """Yield the possible document keys of a path: one for each root above it."""
        for number, prefix in enumerate(self._all_prefixes()):
            if path.startswith(prefix):
                yield f"{number}/{path[len(prefix) :]}"

    def _all_prefixes(self) -> Sequence[str]:
        if not self._spec.scopes:
            return self._prefixes
        from skillyard.catalog.roots import all_roots

        spec = self._spec
        roots = all_roots(spec.roots, spec.scopes, spec.folder)
        return tuple(_prefix(root.path) for root in roots)

    def map_diagnostics(self, diagnostics: LazyDiagnostics) -> LazyDiagnostics:
        """Return the diagnostics of the index with translated paths."""
        if not self._differs:
            return diagnostics
        text = diagnostics.json
        for real, prefix in zip(self._real, self._prefixes, strict=True):
            if real != prefix:
                text = _rename_root(text, _json_escape(real), _json_escape(prefix))
        renamed = LazyDiagnostics(json=text)
        if len(self._prefixes) == 1:
            return renamed
        order = sorted(renamed.entries, key=lambda d: (d.path, d.line or 0, d.column or 0, d.code))
        return LazyDiagnostics(order)


def _prefix(root: str) -> str:
    """Return the path prefix of a root; see ``discovery.walk``."""
    path = root.replace(os.sep, "/")
    if path == ".":
        return ""
    return f"{path.rstrip('/')}/"


def _json_escape(text: str) -> str:
    return dumps(text)[1:-1]


_PATH_STARTS = ('"', " ", "'", "(", "`", "[")
"""Characters that precede a path in the text of a diagnostic."""


def _rename_root(text: str, real: str, prefix: str) -> str:
    """Return JSON in which one root is replaced, alone and as the start of paths."""
    whole = f'"{real.rstrip("/")}"'
    text = text.replace(whole, f'"{prefix.rstrip("/") or "."}"')
    for before in _PATH_STARTS:  # plain replacement: importing `re` costs more
        text = text.replace(before + real, before + prefix)
    return text
