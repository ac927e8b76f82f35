"""``usage``: what the decision log says about the skills."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.options import add_limit, file_path, whole_number
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_usage_command(commands: Commands) -> None:
    """Declare ``usage``."""
    parser = add_command(
        commands,
        "usage",
        "sum up the decision log: which skills fire, and which requests find none",
        run=usage,
        about=(
            "Reads the log that skillyard.toml names and that of the prompt hook, and compares "
            "them with the skills of the library. text = true in [log] logs the text of "
            "requests, which groups those that found no skill."
        ),
        examples=(
            "skillyard usage",
            "skillyard usage --log decisions.jsonl --days 30 --root skills",
        ),
    )
    parser.add_argument(
        "--log", metavar="FILE", type=file_path, help="the log (default: that of skillyard.toml)"
    )
    parser.add_argument(
        "--days",
        metavar="N",
        type=whole_number,
        help="count only the last N days (default: the whole log)",
    )
    add_limit(parser, "at most K rows of each table", 10)


def usage(args: Namespace, console: Console) -> int:
    """Print what the log says."""
    from skillyard.cli.source import load, note_unloaded
    from skillyard.cli.usage_views import usage_blocks
    from skillyard.hosts.operations.skill_usage import HOW_TO_LOG, log_paths, skill_usage

    logs = log_paths(args.log)
    catalog = load(args, console)
    result = skill_usage(catalog, logs, days=args.days)
    console.show(result, lambda shown: usage_blocks(shown, args.limit))
    note_unloaded(catalog.diagnostics, args, console)
    if not result.decisions and not console.json:
        console.note(f"no decision was logged in this period: {HOW_TO_LOG}")
    return 0


COMMANDS = {"usage": add_usage_command}
