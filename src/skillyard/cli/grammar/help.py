"""The command that explains the others."""

from __future__ import annotations

from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

COMMANDS = (
    Command(
        ("help",),
        "explain a command",
        "parsing:print_help",
        (Option("COMMAND", "a command or a group of commands (default: all)", "words"),),
        "Prints the same page as --help after the command.",
        ("skillyard help select", "skillyard help index build"),
    ),
)
