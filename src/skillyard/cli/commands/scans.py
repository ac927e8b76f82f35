"""``scan``: malicious techniques in skills."""

from __future__ import annotations

import os
from argparse import Namespace
from functools import partial
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import file_path
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_scan_command(commands: Commands) -> None:
    """Declare ``scan``."""
    parser = add_command(
        commands,
        "scan",
        "scan skills for malicious techniques",
        run=scan,
        about=(
            "Reads every file of each skill and runs nothing. Exits with 1 when a finding is "
            "high, with --strict also when one is medium, with 2 when nothing was looked at. "
            "Findings that the lock file accepts are counted and do not fail."
        ),
        examples=(
            "skillyard scan ~/.claude/skills",
            "skillyard scan git-bisect --strict",
            "skillyard scan skills/ --format sarif",
        ),
    )
    parser.add_argument(
        "path",
        metavar="PATH|NAME",
        nargs="*",
        default=[],
        type=file_path,
        help="skill folders, skill files, roots, or names of skills (default: .)",
    )
    parser.add_argument(
        "--format",
        metavar="NAME",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="how to print: text, json, sarif, github",
    )
    parser.add_argument("--strict", action="store_true", help="also fail on medium findings")
    parser.add_argument(
        "--lock",
        metavar="FILE",
        type=file_path,
        help=(
            "the lock file whose accepted findings are taken out (default: that of this project, "
            "for what lies in it)"
        ),
    )


def scan(args: Namespace, console: Console) -> int:
    """Print the findings; 1 when one of them is high."""
    from skillyard.base.io.processes import processors
    from skillyard.check.operations.skill_scan import scan_skills
    from skillyard.cli.source import load, refuse_nothing, unbound_library_of
    from skillyard.install.copies.lockfile import is_of_project
    from skillyard.install.copies.verdict import lock_for_scan

    # Where a skill is named, --root and --scope say where it is looked up.
    named = not all(map(os.path.lexists, args.path))
    lock = lock_for_scan(args.lock)
    result = scan_skills(
        args.path,
        load=lambda: load(args, console),
        library=None if named else unbound_library_of(args),
        jobs=processors(),
        accepted=lock.accepted,
        lock=lock.path,
        is_own=bool if args.lock else partial(is_of_project, lock.path),
        publishers=lock.publishers,
    )
    if console.json or args.format == "json":
        console.document(result)
    elif args.format == "text":
        from skillyard.cli.scan_views import scan_blocks

        if result.files or result.findings:
            console.print(*scan_blocks(result))
    elif text := result.render(args.format):
        console.write(text)
    refuse_nothing(result)
    return NEGATIVE if result.fails(strict=args.strict) else 0


COMMANDS = {"scan": add_scan_command}
