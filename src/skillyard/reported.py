"""Diagnostics of a whole library: read when somebody looks at them, not before.

A large library has a thousand remarks, and an answer in JSON repeats them all. Where an index
kept them as the text that is printed, making objects of them and text of the objects again would
cost as much as the answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from json import dumps, loads

from skillyard.errors import Diagnostic

__all__ = ["Reported"]


class Reported:
    """The diagnostics of a library as objects and as JSON, each made from the other when asked."""

    __slots__ = ("_json", "_listed")

    def __init__(self, listed: Iterable[Diagnostic] | None = None, *, json: str = "[]") -> None:
        """Take diagnostics, or the text of :attr:`json` that was kept of them."""
        self._listed = None if listed is None else tuple(listed)
        self._json = json if listed is None else None

    @property
    def listed(self) -> tuple[Diagnostic, ...]:
        """The diagnostics. Raises ValueError when the text that was kept is none of ours."""
        if self._listed is None:
            try:
                self._listed = tuple(Diagnostic(**fields) for fields in loads(self._json or ""))
            except TypeError as error:
                raise ValueError(f"no diagnostics: {error}") from None
        return self._listed

    @property
    def json(self) -> str:
        """The list that every command prints, on one line of ASCII."""
        if self._json is None:
            self._json = dumps([diagnostic.to_dict() for diagnostic in self.listed])
        return self._json
