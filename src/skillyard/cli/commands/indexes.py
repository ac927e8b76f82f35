"""``index``: the on-disk index of a library."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import add_library
from skillyard.cli.parser import add_command, add_group

if TYPE_CHECKING:
    from skillyard.base.shapes.indexes import IndexBuilt
    from skillyard.cli.parser import Commands


def _roots(args: Namespace) -> list[str]:
    named = [args.place] if args.place is not None else []
    return [*named, *args.root]


def add_index_build_command(commands: Commands) -> None:
    """Declare ``index build``."""
    parser = add_command(
        commands,
        "build",
        "build the index of a library",
        run=index_build,
        about=(
            "The index is stored in the cache folder (SKILLYARD_CACHE, else XDG_CACHE_HOME, "
            "else ~/.cache; on Windows %LOCALAPPDATA%). It is updated automatically; rank, "
            "select and why always use it."
        ),
        examples=("skillyard index build", "skillyard index build skills --adapt"),
    )
    add_library(parser)
    parser.add_argument(
        "--adapt",
        action="store_true",
        help="adapt the embedding to the words of the library, without labels",
    )
    parser.add_argument(
        "--watch", action="store_true", help="keep running and update the index when files change"
    )


def index_build(args: Namespace, console: Console) -> int:
    """Make the index; with ``--watch`` follow the files until interrupted."""
    from skillyard.cli.progress import progress
    from skillyard.cli.source import note_unloaded
    from skillyard.hosts.operations import library_index

    roots, profile = _roots(args), args.library_profile
    with progress("indexing", console) as step:
        built = library_index.index_build(
            roots, args.scope, profile=profile, adapt=args.adapt, progress=step
        )
    _print_index(built, console)
    note_unloaded(built.diagnostics, args, console)
    if built.hook_problem:
        console.note(f"prompt hooks over this library are not prepared: {built.hook_problem}")
    if args.watch:
        console.note("following the files; interrupt to stop")
        try:
            for changed in library_index.index_follow(roots, args.scope, profile=profile):
                _print_index(changed, console)
        except KeyboardInterrupt:
            return 0
    return 0


def _print_index(built: IndexBuilt, console: Console) -> None:
    from skillyard.cli.views import index_line

    console.show(built, index_line)
    sys.stdout.flush()  # who reads a watch through a pipe reads each line as it comes


def add_index_status_command(commands: Commands) -> None:
    """Declare ``index status``."""
    parser = add_command(
        commands,
        "status",
        "show the state of the index of a library",
        run=index_status,
        about="The exit code is 1 unless the index is current.",
        examples=("skillyard index status",),
    )
    add_library(parser)


def index_status(args: Namespace, console: Console) -> int:
    """Print the state of the index; 1 unless it is current."""
    from skillyard.hosts.operations import library_index

    result = library_index.index_status(_roots(args), args.scope, profile=args.library_profile)
    from skillyard.cli.views import index_state

    console.show(result, index_state)
    return 0 if result.state == "current" else NEGATIVE


def add_index_verify_command(commands: Commands) -> None:
    """Declare ``index verify``."""
    parser = add_command(
        commands,
        "verify",
        "check every byte of the index of a library",
        run=index_verify,
        about="The exit code is 1 when something is wrong.",
        examples=("skillyard index verify",),
    )
    add_library(parser)


def index_verify(args: Namespace, console: Console) -> int:
    """Print what is wrong with the index; 1 when something is."""
    from skillyard.hosts.operations import library_index

    result = library_index.index_verify(_roots(args), args.scope, profile=args.library_profile)
    from skillyard.cli.views import index_findings

    console.show(result, index_findings)
    return 0 if result.sound else NEGATIVE


def add_index_group(commands: Commands) -> None:
    """Declare ``index`` and its commands."""
    group = add_group(commands, "index", "the on-disk index of a library")
    add_index_build_command(group)
    add_index_status_command(group)
    add_index_verify_command(group)


COMMANDS = {"index": add_index_group}
