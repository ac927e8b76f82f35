"""Locate the programs in the settings of other programs, and parse their arguments."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence

__all__ = [
    "export_command",
    "is_ours",
    "own_command",
    "own_program",
    "resolved_program",
    "skillyard_arguments",
    "unset_command",
]

_NAME = re.compile(r"skillyard(\.exe)?(\[[^\]]*\])?([=@].*)?")
"""The program, or the package as ``uvx`` takes it."""
_SPECIAL, _BACKSLASH = re.compile(r'[\\"`]|\$(?!HOME\b|PATH\b)'), r"\\\g<0>"
"""What a POSIX shell does not take literally between double quotes, but for two variables."""


def export_command(name: str, value: str) -> str:
    """Return the shell command that sets a variable; ``value`` may name ``$HOME`` and ``$PATH``."""
    if os.name == "nt":  # PowerShell
        text = value.replace("$PATH", "$env:PATH").replace("`", "``").replace('"', '`"')
        return f'$env:{name} = "{text}"'
    return f'export {name}="{re.sub(_SPECIAL, _BACKSLASH, value)}"'


def unset_command(name: str) -> str:
    """Return the shell command that removes a variable."""
    return f"Remove-Item Env:{name}" if os.name == "nt" else f"unset {name}"


def own_program() -> str | None:
    """Return the path of the ``skillyard`` beside the running interpreter, or None."""
    return shutil.which("skillyard", path=os.path.dirname(sys.executable))


def own_command() -> list[str]:
    """Return the words that start this installation: by its name where PATH finds it."""
    named, own = shutil.which("skillyard"), own_program()
    if named is not None and is_ours(named):
        return ["skillyard"]
    return [own] if own is not None else [sys.executable, "-m", "skillyard"]


def resolved_program(
    word: str, environment: Mapping[str, str] | None = None, folder: str = ""
) -> str | None:
    """Return the path of the program that a command names, or None where there is none.

    A word with a separator is a path, below ``folder`` where it is relative; any other word is
    looked up on PATH, that of ``environment`` where it has one.
    """
    if os.path.dirname(word):
        return shutil.which(os.path.join(folder, word))
    return shutil.which(word, path=(environment or {}).get("PATH"))


def is_ours(program: str) -> bool:
    """Return True when the program belongs to the running installation."""
    own = own_program()
    same = own is not None and os.path.realpath(own) == os.path.realpath(program)
    return same or os.path.abspath(program) == os.path.abspath(sys.executable)


def skillyard_arguments(words: Sequence[str]) -> list[str] | None:
    """Return what skillyard is given in a command line, None where it is not named.

    Understands the program by name or path, ``python -m skillyard`` and ``uvx skillyard``.
    """
    for place, word in enumerate(words):
        if _NAME.fullmatch(os.path.basename(word)):
            rest = words[place + 1 :]
            # uvx --from skillyard[serve] skillyard serve …
            if rest and _NAME.fullmatch(os.path.basename(rest[0])):
                rest = rest[1:]
            return list(rest)
    return None
