"""``doctor``: why a skill is not used, and what to do about it."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import add_library
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_doctor_command(commands: Commands) -> None:
    """Declare ``doctor``."""
    parser = add_command(
        commands,
        "doctor",
        "say why a skill is not used: what is seen, the hook, the settings",
        run=doctor,
        about=(
            "Checks the library and its index, your agents' folders, the policy in force, prompt "
            "hooks, the approval of the project, settings and environment variables. It only "
            "reads: it starts no program and uses no network. The exit code is 1 when a finding "
            "is an error."
        ),
        examples=(
            "skillyard doctor",
            "skillyard doctor ~/skills --scope user",
            "skillyard doctor --json",
        ),
    )
    add_library(parser)


def doctor(args: Namespace, console: Console) -> int:
    """Print the findings; 1 when one of them is an error."""
    from skillyard.base.version import __version__
    from skillyard.cli.grammar import read_command
    from skillyard.cli.progress import progress
    from skillyard.hosts.doctor import diagnose

    named = [args.place] if args.place is not None else []
    with progress("reading", console) as step:
        diagnosis = diagnose(
            [*named, *args.root],
            args.scope,
            version=__version__,
            read_command=read_command,
            profile=args.library_profile,
            progress=step,
        )
    from skillyard.cli.doctor_views import diagnosis_blocks

    console.show(diagnosis, diagnosis_blocks)
    return 0 if diagnosis.healthy else NEGATIVE


COMMANDS = {"doctor": add_doctor_command}
