"""Translates the resolved paths of an index to the caller's spelling of the roots."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from skillyard.engine.catalog.roots import LibrarySpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillyard.base.errors import Diagnostic


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
        from skillyard.engine.catalog.roots import all_roots

        spec = self._spec
        roots = all_roots(spec.roots, spec.scopes, spec.folder)
        return tuple(_prefix(root.path) for root in roots)

    def diagnostics(self, stored: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of the index with translated paths, sorted by path."""
        if not self._differs:
            return stored
        mapped = map(self._diagnostic, stored)
        return tuple(sorted(mapped, key=lambda d: (d.path, d.line or 0, d.column or 0, d.code)))

    def _diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        path, message, hint = diagnostic.path, diagnostic.message, diagnostic.hint
        for real, prefix in zip(self._real, self._prefixes, strict=True):
            if path == real.rstrip("/"):
                path = prefix.rstrip("/") or "."
            elif path.startswith(real):
                path = prefix + path.removeprefix(real)
            start = re.compile(rf"(?<![^\s\"'(`\[]){re.escape(real)}")
            escaped = prefix.replace("\\", r"\\")
            message, hint = start.sub(escaped, message), start.sub(escaped, hint)
        return diagnostic._replace(path=path, message=message, hint=hint)


def _prefix(root: str) -> str:
    """Return the path prefix of a root; see ``discovery.walk``."""
    path = root.replace(os.sep, "/")
    if path == ".":
        return ""
    return f"{path.rstrip('/')}/"
