"""Commands that show what is in a library."""

from __future__ import annotations

from skillyard.cli.grammar.common import LAYOUTS, TAG
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

COMMANDS = (
    Command(
        ("list",),
        "every skill found",
        "reading:list_",
        (
            Option(
                "PLACE", "the folder to look below, instead of --root", "maybe", "ROOT", "folder"
            ),
            TAG,
            Option("--layout", "only skills of this layout", metavar="LAYOUT", choices=LAYOUTS),
        ),
        "Lists name, layout, estimated tokens and tags of every skill, and the files that did not"
        " load.",
        ("skillyard list", "skillyard list ~/skills --tag git", "skillyard list --json"),
    ),
    Command(
        ("check",),
        "look for faults in skill files",
        "reading:check",
        (
            Option(
                "PATH", "skill files, skill folders or roots (default: .)", "repeat", type="path"
            ),
            Option(
                "--profile",
                "lenient (what loads), spec (agentskills.io) or reference (its validator)",
                metavar="NAME",
                choices=("lenient", "spec", "reference"),
                default="lenient",
            ),
            Option(
                "--format",
                "how to print: text, json, sarif, github",
                metavar="NAME",
                choices=("text", "json", "sarif", "github"),
                default="text",
            ),
        ),
        "Exits with 1 when a finding is an error.",
        (
            "skillyard check",
            "skillyard check --profile spec skills/",
            "skillyard check --format sarif",
        ),
    ),
    Command(
        ("show",),
        "one skill: card, outline, instructions, files",
        "reading:show",
        (
            Option("NAME", "name, id or slug of the skill"),
            Option(
                "--section",
                "only this part: card, outline, body, files, or a heading of the instructions",
                metavar="S",
            ),
            Option("--references", "also print the documents beside the skill", "flag"),
        ),
        examples=("skillyard show git-bisect", "skillyard show git-bisect --section Steps"),
    ),
)
