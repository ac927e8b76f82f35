"""Commands that read the decision log."""

from __future__ import annotations

from skillyard.cli.grammar.common import limit
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

COMMANDS = (
    Command(
        ("log", "show"),
        "print the last entries of a decision log",
        "logs:log_show",
        (
            Option("LOG", "the log (default: SKILLYARD_LOG)", "maybe", "LOG", "path"),
            Option("--hook", "the prompt hook's own log: why answers were empty", "flag"),
            limit("show the last K entries", 20),
        ),
        "SKILLYARD_LOG=FILE logs every selection as one line of JSON, with digests of what was "
        "asked; SKILLYARD_LOG_TEXT=1 keeps the text.",
        ("skillyard log show decisions.jsonl", "skillyard log show --hook --limit 5"),
    ),
    Command(
        ("log", "replay"),
        "ask logged queries again, and list what moved",
        "logs:log_replay",
        (Option("LOG", "the log (default: SKILLYARD_LOG)", "maybe", "LOG", "path"),),
        "For logs with text. The exit code is 1 when anything is different.",
        ("skillyard log replay decisions.jsonl --root skills",),
    ),
)
