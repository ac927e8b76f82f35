"""The shapes of the grammar: an option, and a command."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Command", "Option"]


class Option(NamedTuple):
    """One option, or one argument when ``flag`` has no dashes."""

    flag: str
    help: str
    kind: str = "value"
    """``value``, ``flag`` (takes none), ``repeat``; for arguments also ``maybe`` and ``words``."""
    metavar: str = ""
    type: str = "text"
    """``text``, ``count`` (a whole number from 0), ``number``, ``path`` or ``folder``."""
    choices: tuple[str, ...] = ()
    default: str | int | float | None = None
    required: bool = False

    @property
    def dest(self) -> str:
        """The attribute that holds the value."""
        return self.flag.lstrip("-").replace("-", "_").lower()

    @property
    def positional(self) -> bool:
        """True for an argument."""
        return not self.flag.startswith("-")


class Command(NamedTuple):
    """One command. ``words`` is what is typed; ``run`` is the function, ``module:name``."""

    words: tuple[str, ...]
    help: str
    run: str
    options: tuple[Option, ...]
    about: str = ""
    """More for its help page."""
    examples: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The words with blanks between."""
        return " ".join(self.words)
