"""``help``: the help pages of the other commands."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_help_command(commands: Commands) -> None:
    """Declare ``help``."""
    parser = add_command(
        commands,
        "help",
        "show the help of a command",
        run=print_help,
        about="Prints the same page as --help after the command.",
        examples=("skillyard help select", "skillyard help index build"),
    )
    parser.add_argument(
        "command",
        metavar="COMMAND",
        nargs="*",
        default=[],
        help="a command or a group of commands (default: all)",
    )


def print_help(args: Namespace, console: Console) -> int:
    """Print a help page."""
    from skillyard.cli.grammar import help_page
    from skillyard.shapes.command_line import HelpPage

    text = help_page(args.command)
    console.show_text(HelpPage(command=tuple(args.command), text=text), text)
    return 0


COMMANDS = {"help": add_help_command}
