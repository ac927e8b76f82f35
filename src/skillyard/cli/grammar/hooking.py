"""Commands for the prompt hooks of hosts, and what they may read."""

from __future__ import annotations

from skillyard.cli.grammar.common import MIN_SCORE, WRONG_COST
from skillyard.cli.grammar.shapes import Command, Option

__all__ = ["COMMANDS"]

_HOST = Option("HOST", "claude-code or codex", "maybe", "HOST", choices=("claude-code", "codex"))

_HOOK_OPTIONS = (
    Option(
        "--max-chars",
        "put at most N characters of the instructions into the answer (default: 0)",
        metavar="N",
        type="count",
        default=0,
    ),
    MIN_SCORE,
    WRONG_COST,
    Option("--no-perhaps", "say nothing where a skill only perhaps fits", "flag"),
    Option(
        "--budget-ms",
        "answer nothing rather than later than this (default: 500)",
        metavar="N",
        type="count",
        default=500,
    ),
    Option("--no-refresh", "never bring the index up to date in the background", "flag"),
)

COMMANDS = (
    Command(
        ("hook", "claude-code"),
        "answer a prompt hook of Claude Code from standard input",
        "hooking:hook_claude_code",
        _HOOK_OPTIONS,
        "Reads the host's JSON, prints the skill that fits and why, or nothing. Looks at the user's"
        " agent folders, at --root, and at a project that `skillyard trust` has approved. Exits"
        " with 0 whatever comes.",
        ("skillyard hook claude-code < payload.json",),
    ),
    Command(
        ("hook", "codex"),
        "answer a prompt hook of Codex from standard input",
        "hooking:hook_codex",
        _HOOK_OPTIONS,
        "As `skillyard hook claude-code`, which says more.",
        ("skillyard hook codex < payload.json",),
    ),
    Command(
        ("hook", "install"),
        "put the prompt hook into a host's settings",
        "hooking:hook_install",
        (
            _HOST,
            Option(
                "--file",
                "this settings file instead of the user's own",
                metavar="SETTINGS",
                type="path",
            ),
            *_HOOK_OPTIONS,
        ),
        "Without HOST: every host whose settings folder is there. The hook gets the options named"
        " here, and --root. Doing it again changes nothing; all else in the file stays as it is.",
        ("skillyard hook install", "skillyard hook install codex --max-chars 2000"),
    ),
    Command(
        ("hook", "uninstall"),
        "take the prompt hook out of a host's settings",
        "hooking:hook_uninstall",
        (
            _HOST,
            Option(
                "--file",
                "this settings file instead of the user's own",
                metavar="SETTINGS",
                type="path",
            ),
        ),
        "Takes out what `skillyard hook install` put there, and nothing else. The exit code is 1"
        " when there was nothing to take out.",
        ("skillyard hook uninstall claude-code",),
    ),
    Command(
        ("trust",),
        "approve the skills of a project for the prompt hook",
        "trusting:trust",
        (
            Option("DIR", "the project (default: .)", "maybe", "DIR", "folder"),
            Option("--revoke", "take the approval back", "flag"),
            Option("--list", "list the projects that are approved", "flag"),
        ),
        "Approves every skill of the project as it is now, with the files beside it. What is "
        "edited, added or moved later is not used until this is done again. The exit code of "
        "--revoke is 1 when there was no approval.",
        ("skillyard trust", "skillyard trust --list", "skillyard trust ~/projects/app --revoke"),
    ),
)
