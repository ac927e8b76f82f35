"""``hook``: the prompt hooks of hosts."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import redirect_stderr
from functools import partial
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput, SkillyardError
from skillyard.cli.blocks import Block, Span, line
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import command, flag, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.hooks import HookInstalled, HookUninstalled

_ANSWER_OPTIONS = (
    value("--max-chars", "N", "include at most N characters of the instructions", default=0),
    *("--min-score", "--wrong-cost", "--tool"),
    flag("--no-perhaps", "print nothing when a skill is only a possible fit"),
    value("--budget-ms", "N", "print nothing after this time", default=500),
    flag("--no-refresh", "do not update the index in the background"),
)
_SETTINGS = (
    value("host", "HOST", "claude-code or codex", nargs="?", choices=("claude-code", "codex")),
    value("--file", "SETTINGS", "use this settings file instead of the user's"),
)


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


for _host, _title in (("claude-code", "Claude Code"), ("codex", "Codex")):
    command(
        f"hook {_host}",
        *_ANSWER_OPTIONS,
        doc=f"Answer a prompt hook of {_title} from standard input.\n\n"
        "Reads the host's JSON and prints the skill that fits and why, or nothing. Reads the "
        "user's agent folders, --root, and a project that `skillyard trust` has approved. The exit "
        f"code is always 0.\n\nskillyard hook {_host} < payload.json",
    )(partial(answer, _host))


@command("hook install", *_SETTINGS, *_ANSWER_OPTIONS)
def hook_install(args: Namespace, console: Console) -> None:
    """Install the prompt hook in a host's settings.

    Without HOST, installs it for every host that has a settings folder. The hook runs with the
    options given here, and --root. Installing again changes nothing; other settings stay unchanged.

        skillyard hook install
        skillyard hook install codex --max-chars 2000
    """
    from skillyard.base.shapes.hooks import HookInstalled
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
        with console.progress("indexing") as step:
            open_library_index(place, progress=step)
    except SkillyardError as error:  # the hook makes it in the background as well
        console.note(f"the index was not made: {error}")
    console.show(HookInstalled(settings=tuple(settings)), _settings)


@command("hook uninstall", *_SETTINGS)
def hook_uninstall(args: Namespace, console: Console) -> int:
    """Remove the prompt hook from a host's settings.

    Removes what `skillyard hook install` added, and nothing else. The exit code is 1 when there was
    nothing to remove.

        skillyard hook uninstall claude-code
    """
    from skillyard.base.shapes.hooks import HookUninstalled
    from skillyard.hosts.hook.installation import uninstall

    settings = [uninstall(host, file=args.file) for host in _hosts(args, there=False)]
    console.show(HookUninstalled(settings=tuple(settings)), _settings)
    return 0 if any(each.state == "removed" for each in settings) else NEGATIVE


def _hosts(args: Namespace, *, there: bool) -> list[str]:
    """Return the hosts that are meant. Raises InvalidInput when that cannot be told."""
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
    for each in result.settings:
        style = "medium" if each.state == "absent" else "high"
        yield line(Span(each.state, style), f"  {each.host}  ", Span(each.file, "name"))
        if each.note:
            yield line(each.note, indent=1)
