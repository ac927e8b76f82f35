"""The grammar of the command line as data: every command and every option, each with its help.

The parser, the help, the completion scripts and the tests are made from these tables; there is one
file for each group of commands, and only the group that was typed is loaded. Exit codes: 0 done,
1 the command's own negative answer, 2 wrong use or unreadable input, 3 stopped by a budget or
interrupted, 4 no remote could be asked.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skillyard.cli.grammar.common import GLOBAL, LAYOUTS, OPEN, SCORERS, SOURCES
from skillyard.cli.grammar.shapes import Command, Option

if TYPE_CHECKING:
    COMMANDS: tuple[Command, ...]

__all__ = [
    "COMMANDS",
    "GLOBAL",
    "GROUPS",
    "LAYOUTS",
    "OPEN",
    "PROGRAM",
    "SCORERS",
    "SOURCES",
    "Command",
    "Option",
    "find",
]

PROGRAM = "skillyard"

_GROUPS = {
    "list": "reading",
    "check": "reading",
    "show": "reading",
    "rank": "choosing",
    "select": "choosing",
    "evaluate": "choosing",
    "why": "choosing",
    "summary": "prompting",
    "inject": "prompting",
    "search": "remote",
    "add": "remote",
    "serve": "serving",
    "hook": "hooking",
    "trust": "hooking",
    "log": "logs",
    "cache": "remote",
    "bench": "measuring",
    "eval": "evaluating",
    "fake-llm": "evaluating",
    "index": "indexing",
    "doctor": "doctor",
    "store": "storing",
    "completion": "completion",
    "help": "help",
}
"""First word of a command → the module that has its grammar; in the order of the help."""

GROUPS = {
    "hook": "the prompt hooks of Claude Code and Codex",
    "log": "the decision log",
    "cache": "the cache of remote answers",
    "bench": "retrieval evaluation",
    "eval": "evaluation of skills with a model",
    "index": "the on-disk index of a library",
    "store": "a catalog store that several machines share",
}
"""First words that need a second one, each with what its commands are about."""


def find(words: list[str]) -> Command | None:
    """Return the command that the words begin with, or None."""
    group = _GROUPS.get(words[0]) if words else None
    if group is None:
        return None
    for command in _commands(group):
        if tuple(words[: len(command.words)]) == command.words:
            return command
    return None


def _commands(group: str) -> tuple[Command, ...]:
    commands: tuple[Command, ...] = import_module(f"{__name__}.{group}").COMMANDS
    return commands


def __getattr__(name: str) -> Any:
    if name != "COMMANDS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = tuple(
        command
        for first, group in _GROUPS.items()
        for command in _commands(group)
        if command.words[0] == first
    )
    globals()[name] = found
    return found
