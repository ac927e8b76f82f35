"""``completion``: scripts that complete commands and options in a shell."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_completion_command(commands: Commands) -> None:
    """Declare ``completion``."""
    parser = add_command(
        commands,
        "completion",
        "print a completion script for a shell",
        run=completion,
        examples=('eval "$(skillyard completion bash)"',),
    )
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="the shell")


def completion(args: Namespace, console: Console) -> int:
    """Print the script for one shell."""
    from skillyard.base.shapes.command_line import CompletionScript
    from skillyard.cli.completion import script

    text = script(args.shell)
    console.show_text(CompletionScript(shell=args.shell, script=text), text)
    return 0


COMMANDS = {"completion": add_completion_command}
