"""``hook``: the prompt hooks of hosts."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import redirect_stderr
from functools import partial
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import (
    add_options,
    file_path,
    whole_number,
)
from skillyard.cli.parser import CommandParser, add_command, add_group

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.hooks import HookInstalled, HookUninstalled
    from skillyard.cli.blocks import Block
    from skillyard.cli.parser import Commands


def _add_hook_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--max-chars",
        metavar="N",
        type=whole_number,
        default=0,
        help="include at most N characters of the instructions (default: 0)",
    )
    add_options(parser, "--min-score", "--wrong-cost", "--tool")
    parser.add_argument(
        "--no-perhaps",
        action="store_true",
        help="print nothing when a skill is only a possible fit",
    )
    parser.add_argument(
        "--budget-ms",
        metavar="N",
        type=whole_number,
        default=500,
        help="print nothing after this time (default: 500)",
    )
    parser.add_argument(
        "--no-refresh",
        action="store_true",
        help="do not update the index in the background",
    )


def _add_settings(parser: CommandParser) -> None:
    """Add the host and the file whose settings are changed."""
    parser.add_argument(
        "host",
        metavar="HOST",
        nargs="?",
        choices=("claude-code", "codex"),
        help="claude-code or codex",
    )
    parser.add_argument(
        "--file",
        metavar="SETTINGS",
        type=file_path,
        help="use this settings file instead of the user's",
    )


def add_hook_answer_command(commands: Commands, host: str, title: str) -> None:
    """Declare ``hook claude-code`` or ``hook codex``."""
    parser = add_command(
        commands,
        host,
        f"answer a prompt hook of {title} from standard input",
        run=partial(answer, host),
        about=(
            "Reads the host's JSON and prints the skill that fits and why, or nothing. Reads "
            "the user's agent folders, --root, and a project that `skillyard trust` has "
            "approved. The exit code is always 0."
        ),
        examples=(f"skillyard hook {host} < payload.json",),
    )
    _add_hook_options(parser)


def answer(host: str, args: Namespace, console: Console) -> int:
    """Answer one prompt of a host; always 0."""
    from skillyard.hosts.hook.choice import HookOptions
    from skillyard.hosts.hook.runner import run

    options = HookOptions(
        tuple(args.root),
        args.max_chars,
        args.min_score,
        refresh=not args.no_refresh,
        wrong_cost=args.wrong_cost,
        perhaps=not args.no_perhaps,
        tools=tuple(args.tool),
        profile=args.library_profile,
    )
    with redirect_stderr(None if console.quiet else sys.stderr):
        return run(host, options, budget_ms=args.budget_ms)


def add_hook_install_command(commands: Commands) -> None:
    """Declare ``hook install``."""
    parser = add_command(
        commands,
        "install",
        "install the prompt hook in a host's settings",
        run=hook_install,
        about=(
            "Without HOST, installs it for every host that has a settings folder. The hook "
            "runs with the options given here, and --root. Installing again changes nothing; "
            "other settings stay unchanged."
        ),
        examples=("skillyard hook install", "skillyard hook install codex --max-chars 2000"),
    )
    _add_settings(parser)
    _add_hook_options(parser)


def hook_install(args: Namespace, console: Console) -> int:
    """Put the hook into the settings, and make the index that it answers from."""
    from skillyard.base.errors import SkillyardError
    from skillyard.base.shapes.hooks import HookInstalled
    from skillyard.cli.progress import progress
    from skillyard.engine.index.indexed_catalog import open_library_index
    from skillyard.hosts.hook.installation import install
    from skillyard.hosts.hook.library import library_place
    from skillyard.hosts.hook.trust import project_above

    options = _options(args)
    project = project_above(os.getcwd())
    roots = tuple(map(os.path.abspath, args.root))
    where = project.path if project else None
    place = library_place(roots, where, os.getcwd(), args.library_profile)  # the profile is known
    settings = [install(host, file=args.file, options=options) for host in _hosts(args, there=True)]
    try:
        with progress("indexing", console) as step:
            open_library_index(place, progress=step)
    except SkillyardError as error:  # the hook makes it in the background as well
        console.note(f"the index was not made: {error}")
    console.show(HookInstalled(settings=tuple(settings)), _settings)
    return 0


def add_hook_uninstall_command(commands: Commands) -> None:
    """Declare ``hook uninstall``."""
    parser = add_command(
        commands,
        "uninstall",
        "remove the prompt hook from a host's settings",
        run=hook_uninstall,
        about=(
            "Removes what `skillyard hook install` added, and nothing else. The exit code is "
            "1 when there was nothing to remove."
        ),
        examples=("skillyard hook uninstall claude-code",),
    )
    _add_settings(parser)


def hook_uninstall(args: Namespace, console: Console) -> int:
    """Take the hook out of the settings; 1 when it was in none of them."""
    from skillyard.base.shapes.hooks import HookUninstalled
    from skillyard.hosts.hook.installation import uninstall

    settings = [uninstall(host, file=args.file) for host in _hosts(args, there=False)]
    console.show(HookUninstalled(settings=tuple(settings)), _settings)
    return 0 if any(each.state == "removed" for each in settings) else NEGATIVE


def _hosts(args: Namespace, *, there: bool) -> list[str]:
    """Return the hosts that are meant. Raises InvalidInput when that cannot be told."""
    from skillyard.base.errors import InvalidInput
    from skillyard.hosts.hook.hosts import HOSTS

    if args.host is not None:
        return [args.host]
    if args.file is not None:
        raise InvalidInput("whose settings are these? name the host: claude-code or codex")
    result = [host.name for host in HOSTS if not there or os.path.isdir(host.home())]
    if not result:
        homes = " or ".join(host.home() for host in HOSTS)
        raise InvalidInput(f"no host's settings folder is there ({homes}); name the host")
    return result


def _options(args: Namespace) -> tuple[str, ...]:
    """Return the options that the installed command gets: those that are not the default.

    Raises InvalidInput for a floor that cannot be: the hook itself would only fall silent.
    """
    from skillyard.engine.selection import SelectionPolicy

    SelectionPolicy(min_score=args.min_score, wrong_cost=args.wrong_cost)
    values = [
        *(("--root", os.path.abspath(root)) for root in args.root),
        ("--profile", args.library_profile),
        *(("--tool", tool) for tool in args.tool),
        ("--max-chars", args.max_chars or None),
        ("--min-score", args.min_score),
        ("--wrong-cost", args.wrong_cost),
        ("--budget-ms", args.budget_ms if args.budget_ms != 500 else None),
    ]
    given = [
        word
        for name, value in values
        if value is not None
        for word in (name, f"{value:g}" if isinstance(value, float) else str(value))
    ]
    flags = {"--no-perhaps": args.no_perhaps, "--no-refresh": args.no_refresh}
    return (*given, *(flag for flag, on in flags.items() if on))


def _settings(result: HookInstalled | HookUninstalled) -> Iterator[Block]:
    from skillyard.cli.blocks import Span, line

    for each in result.settings:
        style = "medium" if each.state == "absent" else "high"
        yield line(Span(each.state, style), f"  {each.host}  ", Span(each.file, "name"))
        if each.note:
            yield line(each.note, indent=1)


def add_hook_group(commands: Commands) -> None:
    """Declare ``hook`` and its commands."""
    group = add_group(commands, "hook", "the prompt hooks of Claude Code and Codex")
    add_hook_answer_command(group, "claude-code", "Claude Code")
    add_hook_answer_command(group, "codex", "Codex")
    add_hook_install_command(group)
    add_hook_uninstall_command(group)


COMMANDS = {"hook": add_hook_group}
