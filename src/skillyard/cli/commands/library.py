"""``list``, ``check``, ``scan`` and ``show``: what is in a library."""

from __future__ import annotations

import os
from argparse import Namespace
from functools import partial
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import FORMAT, LAYOUTS, command, flag, library, value, words
from skillyard.cli.source import load, no_skills, note_unloaded, unbound_library_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillyard.check.operations.library_check import Checked
    from skillyard.check.operations.skill_scan import Scanned
    from skillyard.check.validation.fixes import FixPlan
    from skillyard.cli.blocks import Block
    from skillyard.engine.catalog.roots import LibrarySpec


@command(
    "list",
    library("the folder to look below, instead of --root"),
    "--tag",
    value("--layout", "LAYOUT", "only skills of this layout", choices=LAYOUTS),
)
def list_(args: Namespace, console: Console) -> None:
    """List every skill.

    Prints name, layout, estimated tokens and tags of every skill, and the files that did not load.

        skillyard list
        skillyard list ~/skills --tag git
        skillyard list --json
    """
    from skillyard.cli.cards import listing
    from skillyard.engine.operations.skill_listing import list_skills

    catalog = load(args, console)
    result = list_skills(catalog, tags=tuple(args.tag), layout=args.layout)
    console.show(result, listing)
    if not result.cards and len(catalog):
        console.remark("no skill has this tag and layout: skillyard list without them shows all")
    note_unloaded(result.diagnostics, args, console)


@command(
    "check",
    words("path", "PATH", "skill files, skill folders or roots (default: .)"),
    value(
        "--profile",
        "NAME",
        "lenient (what loads), spec (agentskills.io) or reference (its validator)",
        choices=("lenient", "spec", "reference"),
        default="lenient",
    ),
    FORMAT,
    flag("--strict", "also fail on warnings"),
    flag("--fix", "fix what needs no decision, then check"),
    flag("--diff", "show what --fix would change, and change nothing"),
    value(
        "--config",
        "FILE",
        "use this skillyard.toml (default: the nearest above PATH, and the user's)",
    ),
    flag("--no-config", "use no configuration file"),
)
def check(args: Namespace, console: Console) -> int:
    """Check skill files for errors.

    Exits with 1 when a finding is an error, with --strict also when one is a warning, with --diff
    when something is fixable, with 2 when nothing was looked at.

        skillyard check
        skillyard check --profile spec --strict skills/
        skillyard check --diff skills/
        skillyard check --format sarif
    """
    from skillyard.check.operations.library_check import check_paths, plan_paths
    from skillyard.check.validation.config import read_check_config
    from skillyard.cli.findings import check_blocks

    if args.fix and args.diff:
        raise InvalidInput("--fix writes and --diff only shows: name one of them")
    if args.diff and (console.json or args.format != "text"):
        raise InvalidInput("--diff prints a diff: leave out --json and --format")
    if args.scope and (args.fix or args.diff):
        raise InvalidInput("--fix and --diff change named folders: name them, without --scope")
    if args.config and args.no_config:
        raise InvalidInput("--config names a file and --no-config uses none: name one of them")
    paths, library = _places(args)
    options: dict[str, Any] = {
        "profile": args.profile,
        "config": read_check_config(args.config) if args.config else None,
        "find_config": not args.no_config,
        "library": library,
    }
    if args.diff:
        return _diff(plan_paths(paths, **options)[1], console)
    result = check_paths(paths, fix=args.fix, **options)
    if not console.json and args.format in ("sarif", "github"):
        for each in result.refused:
            console.note(f"{each.path}: {each.message}; {each.hint}")
    _show_findings(result, check_blocks(result), args, console)
    return NEGATIVE if result.fails(strict=args.strict) else 0


def _places(args: Namespace) -> tuple[list[str], LibrarySpec | None]:
    """Return the paths to check one by one, and the library to check as one, as ``list`` reads it.

    Beside scopes, folders are its roots.
    """
    folders = [path for path in args.path if args.scope and os.path.isdir(path)]
    paths = [path for path in args.path if path not in folders]
    library = unbound_library_of(args, folders)
    if library is None or library.scopes or len(library.roots) > 1:
        return paths, library
    return [*paths, *library.roots], None


def _diff(plans: Sequence[FixPlan], console: Console) -> int:
    for plan in plans:
        console.write(plan.diff())
    fixable = sum(len(plan.fixes) for plan in plans)
    console.note(
        f"{fixable:,} fixable in {plural(len(plans), 'file')}: run with --fix instead"
        if plans
        else "nothing is fixable"
    )
    return NEGATIVE if plans else 0


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
    _show_findings(result, scan_blocks(result), args, console)
    return NEGATIVE if result.fails(strict=args.strict) else 0


def _show_findings(
    result: Checked | Scanned, blocks: Iterable[Block], args: Namespace, console: Console
) -> None:
    """Print the result of ``check`` or ``scan`` in the form of ``--format``.

    Raises InvalidInput afterwards where not a single file was looked at.
    """
    if console.json or args.format == "json":
        console.document(result)
    elif args.format == "text":
        console.print(*blocks)
    elif text := result.render(args.format):
        console.write(text)
    if not result.files:
        raise InvalidInput(f"nothing was looked at: {no_skills(list(result.paths), result.scopes)}")


@command(
    "show",
    value("name", "NAME", "name, id or slug of the skill"),
    value(
        "--section",
        "S",
        "only this part: card, outline, body, files, or a heading of the instructions",
    ),
    flag("--references", "also print the documents beside the skill"),
)
def show(args: Namespace, console: Console) -> None:
    """Show one skill: card, outline, instructions, files.

    skillyard show git-bisect
    skillyard show git-bisect --section Steps
    """
    from skillyard.cli.cards import skill_blocks
    from skillyard.engine.operations.skill_details import show_skill

    catalog = load(args, console)
    result = show_skill(catalog, args.name, section=args.section, references=args.references)
    console.show(result, skill_blocks)
