"""``list``, ``check`` and ``show``: what is in a library."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import LAYOUTS, add_options, file_path, folder
from skillyard.cli.parser import add_command
from skillyard.cli.source import load, note_unloaded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillyard.check.validation.config import CheckConfig
    from skillyard.check.validation.fix_plan import FixPlan
    from skillyard.cli.parser import Commands
    from skillyard.engine.catalog.roots import LibrarySpec


def add_list_command(commands: Commands) -> None:
    """Declare ``list``."""
    parser = add_command(
        commands,
        "list",
        "list every skill",
        run=list_,
        about=(
            "Prints name, layout, estimated tokens and tags of every skill, and the files "
            "that did not load."
        ),
        examples=("skillyard list", "skillyard list ~/skills --tag git", "skillyard list --json"),
    )
    parser.add_argument(
        "place",
        metavar="ROOT",
        nargs="?",
        type=folder,
        help="the folder to look below, instead of --root",
    )
    add_options(parser, "--tag")
    parser.add_argument(
        "--layout",
        metavar="LAYOUT",
        choices=LAYOUTS,
        help="only skills of this layout",
    )


def list_(args: Namespace, console: Console) -> int:
    """Print every skill found."""
    from skillyard.engine.operations.skill_listing import list_skills

    catalog = load(args, console, args.place)
    result = list_skills(catalog, tags=tuple(args.tag), layout=args.layout)
    from skillyard.cli.cards import listing

    console.show(result, listing)
    if not result.cards and len(catalog) and not console.json:
        console.note("no skill has this tag and layout: skillyard list without them shows all")
    note_unloaded(result.diagnostics, args, console)
    return 0


def add_check_command(commands: Commands) -> None:
    """Declare ``check``."""
    parser = add_command(
        commands,
        "check",
        "check skill files for errors",
        run=check,
        about=(
            "Exits with 1 when a finding is an error, with --strict also when one is a "
            "warning, with --diff when something is fixable, with 2 when nothing was looked at."
        ),
        examples=(
            "skillyard check",
            "skillyard check --profile spec --strict skills/",
            "skillyard check --diff skills/",
            "skillyard check --format sarif",
        ),
    )
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="*",
        default=[],
        type=file_path,
        help="skill files, skill folders or roots (default: .)",
    )
    parser.add_argument(
        "--profile",
        metavar="NAME",
        choices=("lenient", "spec", "reference"),
        default="lenient",
        help="lenient (what loads), spec (agentskills.io) or reference (its validator)",
    )
    parser.add_argument(
        "--format",
        metavar="NAME",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="how to print: text, json, sarif, github",
    )
    parser.add_argument("--strict", action="store_true", help="also fail on warnings")
    parser.add_argument("--fix", action="store_true", help="fix what needs no decision, then check")
    parser.add_argument(
        "--diff", action="store_true", help="show what --fix would change, and change nothing"
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=file_path,
        help="use this skillyard.toml (default: the nearest above PATH, and the user's)",
    )
    parser.add_argument("--no-config", action="store_true", help="use no configuration file")


def check(args: Namespace, console: Console) -> int:
    """Print the findings; 1 when one of them fails the check. ``--fix`` mends files before that."""
    from skillyard.check.operations.library_check import check_paths, plan_paths
    from skillyard.cli.source import refuse_nothing

    _no_contradiction(args, console)
    paths, library = _places(args)
    options: dict[str, Any] = {
        "profile": args.profile,
        "config": _config(args),
        "find_config": not args.no_config,
        "library": library,
    }
    if args.diff:
        return _diff(plan_paths(paths, **options)[1], console)
    result = check_paths(paths, fix=args.fix, **options)
    if console.json or args.format == "json":
        console.document(result)
    elif args.format == "text":
        from skillyard.cli.findings import findings

        if result.files or result.diagnostics:
            console.print(*findings(result))
    else:
        for each in result.refused:
            console.note(f"{each.path}: {each.message}; {each.hint}")
        text = result.render(args.format)
        if text:
            console.write(text)
    refuse_nothing(result)
    return NEGATIVE if result.fails(strict=args.strict) else 0


def _no_contradiction(args: Namespace, console: Console) -> None:
    if args.fix and args.diff:
        raise InvalidInput("--fix writes and --diff only shows: name one of them")
    if args.diff and (console.json or args.format != "text"):
        raise InvalidInput("--diff prints a diff: leave out --json and --format")
    if args.scope and (args.fix or args.diff):
        raise InvalidInput("--fix and --diff change named folders: name them, without --scope")
    if args.config and args.no_config:
        raise InvalidInput("--config names a file and --no-config uses none: name one of them")


def _places(args: Namespace) -> tuple[list[str], LibrarySpec | None]:
    """Return the paths to check one by one, and the library to check as one, as ``list`` reads it.

    Beside scopes, folders are its roots.
    """
    from skillyard.cli.source import unbound_library_of

    folders = [path for path in args.path if args.scope and os.path.isdir(path)]
    paths = [path for path in args.path if path not in folders]
    library = unbound_library_of(args, folders)
    if library is None or library.scopes or len(library.roots) > 1:
        return paths, library
    return [*paths, *library.roots], None


def _config(args: Namespace) -> CheckConfig | None:
    if not args.config:
        return None
    from skillyard.check.validation.config import read_check_config

    return read_check_config(args.config)


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


def add_show_command(commands: Commands) -> None:
    """Declare ``show``."""
    parser = add_command(
        commands,
        "show",
        "show one skill: card, outline, instructions, files",
        run=show,
        examples=("skillyard show git-bisect", "skillyard show git-bisect --section Steps"),
    )
    parser.add_argument("name", metavar="NAME", help="name, id or slug of the skill")
    parser.add_argument(
        "--section",
        metavar="S",
        help="only this part: card, outline, body, files, or a heading of the instructions",
    )
    parser.add_argument(
        "--references", action="store_true", help="also print the documents beside the skill"
    )


def show(args: Namespace, console: Console) -> int:
    """Print one skill, or the part of it that was asked for."""
    from skillyard.engine.operations.skill_details import show_skill

    catalog = load(args, console)
    result = show_skill(catalog, args.name, section=args.section, references=args.references)
    from skillyard.cli.cards import skill_blocks

    console.show(result, skill_blocks)
    return 0


COMMANDS = {"list": add_list_command, "check": add_check_command, "show": add_show_command}
