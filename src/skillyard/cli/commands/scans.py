"""``scan``: malicious techniques in skills."""

from __future__ import annotations

import os
from argparse import Namespace
from functools import partial

from skillyard.cli.binder import command
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import FORMAT, flag, value, words
from skillyard.cli.source import load, show_findings, unbound_library_of


@command(
    "scan",
    words(
        "path", "PATH|NAME", "skill folders, skill files, roots, or names of skills (default: .)"
    ),
    FORMAT,
    flag("--strict", "also fail on medium findings"),
    value(
        "--lock",
        "FILE",
        "the lock file whose accepted findings are taken out (default: that of this project, for "
        "what lies in it)",
    ),
)
def scan(args: Namespace, console: Console) -> int:
    """Scan skills for malicious techniques.

    Reads every file of each skill and runs nothing. Exits with 1 when a finding is high, with
    --strict also when one is medium, with 2 when nothing was looked at. Findings that the lock file
    accepts are counted and do not fail.

        skillyard scan ~/.claude/skills
        skillyard scan git-bisect --strict
        skillyard scan skills/ --format sarif
    """
    from skillyard.base.io.processes import processors
    from skillyard.check.operations.skill_scan import scan_skills
    from skillyard.cli.findings import scan_blocks
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
    show_findings(result, result.findings, scan_blocks, args, console)
    return NEGATIVE if result.fails(strict=args.strict) else 0
