"""The command that says what works here and what does not."""

from __future__ import annotations

from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

COMMANDS = (
    Command(
        ("doctor",),
        "say what works here, what does not, and what to do about it",
        "doctor:doctor",
        (Option("PLACE", "the library, before --root (default: .)", "maybe", "ROOT", "folder"),),
        "Looks at the installation and its extras, the library and its index, the folders that"
        " skillyard writes, prompt hooks and approved projects, MCP registrations, settings and"
        " environment variables. It only reads: it starts no program and uses no network. The exit"
        " code is 1 when a finding is an error.",
        ("skillyard doctor", "skillyard doctor ~/skills --scope user", "skillyard doctor --json"),
    ),
)
