"""The command that completes the others."""

from __future__ import annotations

from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

COMMANDS = (
    Command(
        ("completion",),
        "print a completion script for a shell",
        "completion:completion",
        (Option("SHELL", "the shell", choices=("bash", "zsh", "fish")),),
        examples=('eval "$(skillyard completion bash)"',),
    ),
)
