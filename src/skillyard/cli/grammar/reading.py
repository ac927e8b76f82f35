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
            Option("--strict", "also fail on warnings", "flag"),
            Option("--fix", "fix what needs no decision, then check", "flag"),
            Option("--diff", "show what --fix would change, and change nothing", "flag"),
            Option(
                "--config",
                "use this .skillyard.toml or pyproject.toml (default: the nearest above PATH)",
                metavar="FILE",
                type="path",
            ),
            Option("--no-config", "use no configuration file", "flag"),
        ),
        "Exits with 1 when a finding is an error, with --strict also when one is a warning, with"
        " --diff when something is fixable.",
        (
            "skillyard check",
            "skillyard check --profile spec --strict skills/",
            "skillyard check --diff skills/",
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
