"""The diagnostics of a whole library, converted between objects and JSON only when needed.

A large library has a thousand diagnostics, and each JSON response repeats all of them. An index
stores them as JSON text, which is printed without building the objects first.
"""

from __future__ import annotations

from collections.abc import Iterable
from json import dumps, loads

from skillyard.errors import Diagnostic

__all__ = ["LazyDiagnostics"]


class LazyDiagnostics:
    """The diagnostics of a library as objects and as JSON; either is made from the other."""

    __slots__ = ("_entries", "_json")

    def __init__(self, entries: Iterable[Diagnostic] | None = None, *, json: str = "[]") -> None:
        """Take diagnostics, or the text that :attr:`json` once returned."""
        self._entries = None if entries is None else tuple(entries)
        self._json = json if entries is None else None

    @property
    def entries(self) -> tuple[Diagnostic, ...]:
        """The diagnostics. Raises ValueError when the stored text is damaged."""
        if self._entries is None:
            try:
                self._entries = tuple(Diagnostic(**fields) for fields in loads(self._json or ""))
            except TypeError as error:
                raise ValueError(f"no diagnostics: {error}") from None
        return self._entries

    @property
    def json(self) -> str:
        """The list that every command prints, on one line of ASCII."""
        if self._json is None:
            self._json = dumps([diagnostic.to_dict() for diagnostic in self.entries])
        return self._json
