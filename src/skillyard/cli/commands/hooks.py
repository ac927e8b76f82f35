"""``hook`` and ``trust``: the prompt hooks of hosts, and the projects that they may use."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import redirect_stderr
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from skillyard.base.configuration import own_file_only
from skillyard.base.errors import InvalidInput, SkillyardError
from skillyard.base.io.processes import shell_command
from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Span, line
from skillyard.cli.console import Console, complain
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import (
    OneOf,
    accept,
    command,
    flag,
    reasons_by_rule,
    value,
    words_of_request,
)
from skillyard.cli.source import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.hooks import Approval, Approvals, HookInstalled, HookUninstalled
    from skillyard.engine.catalog import Catalog
    from skillyard.hosts.hook.choice import HookOptions
    from skillyard.hosts.operations.project_trust import TrustReview


_OPTIONS = "skillyard.hosts.hook.choice:HookOptions"
_SETTINGS = (
    value("host", "HOST", "claude-code or codex", nargs="?", choices=("claude-code", "codex")),
    value("--file", "SETTINGS", "use this settings file instead of the user's"),
)


def answer(host: str, request: HookOptions, args: Namespace, console: Console) -> int:
    """Answer one prompt of a host; always 0."""
    from skillyard.hosts.hook.runner import run

    options = replace(request, roots=tuple(args.root))
    with redirect_stderr(None if console.quiet else sys.stderr):
        return run(host, options)


for _host, _title in (("claude-code", "Claude Code"), ("codex", "Codex")):
    command(
        f"hook {_host}",
        request=_OPTIONS,
        doc=f"Answer a prompt hook of {_title} from standard input.\n\n"
        "Reads the host's JSON and prints the skill that fits and why, or nothing. Reads the "
        "user's agent folders, --root, and a project that `skillyard trust` has approved. The exit "
        f"code is always 0.\n\nskillyard hook {_host} < payload.json",
    )(partial(answer, _host))


@command("hook install", *_SETTINGS, request=_OPTIONS)
def hook_install(request: HookOptions, args: Namespace, console: Console) -> None:
    """Install the prompt hook in a host's settings.

    Without HOST, installs it for every host that has a settings folder. The hook runs with the
    options given here, and --root. Installing again changes nothing; other settings stay unchanged.

        skillyard hook install
        skillyard hook install codex --max-chars 2000
    """
    from skillyard.base.shapes.hooks import HookInstalled
    from skillyard.hosts.hook.installation import install
    from skillyard.install.policy.library import find_policy

    options = _options(request, args)
    find_policy()  # it can be read
    settings = [install(host, file=args.file, options=options) for host in _hosts(args, there=True)]
    hook_library(args, console)
    console.show(HookInstalled(settings=tuple(settings)), _settings)


def hook_library(args: Namespace, console: Console) -> Catalog | None:
    """Return what the hook answers from here, with its index and vectors; None without them."""
    from skillyard.engine.ranking.registry import default_scorer
    from skillyard.hosts.hook.library import library_place
    from skillyard.hosts.hook.trust import project_above

    project = project_above(os.getcwd())
    try:
        with own_file_only():
            place = library_place(tuple(args.root), project and project.path, os.getcwd())
            return load(args, console, default_scorer(), place)
    except SkillyardError as error:  # the hook makes it in the background as well
        console.note(f"the index was not made: {error}")
        return None


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


def _options(request: HookOptions, args: Namespace) -> tuple[str, ...]:
    """Return the options that the installed command gets: those that are not the default.

    Raises InvalidInput for a floor that cannot be: the hook itself would only fall silent.
    """
    from skillyard.engine.selection import SelectionPolicy

    SelectionPolicy(min_score=request.min_score, wrong_cost=request.wrong_cost)
    words = [word for root in args.root for word in ("--root", os.path.abspath(root))]
    return (*words, *words_of_request(request))


def _settings(result: HookInstalled | HookUninstalled) -> Iterator[Block]:
    for each in result.settings:
        style = "medium" if each.state == "absent" else "high"
        yield line(Span(each.state, style), f"  {each.host}  ", Span(each.file, "name"))
        if each.note:
            yield line(each.note, indent=1)


@command(
    "trust",
    value("dir", "DIR", "the project (default: .)", nargs="?"),
    OneOf((flag("--revoke", "revoke the approval"), flag("--list", "list the approved projects"))),
    accept("approve"),
)
def trust(args: Namespace, console: Console) -> int:
    """Approve the skills of a project for the prompt hook.

    Scans every skill of the project, shows the findings, and approves the skills in their current
    state, with the files beside them. Findings that are high or medium are a question on a
    terminal. Without one, high findings need --accept, or nothing is approved and the exit code is
    1; it is 2 where there is no skill. Skills that are edited, added or moved later are not used
    until they are approved again. The exit code of --revoke is 1 when there was no approval.

        skillyard trust
        skillyard trust --accept download_and_run="the installer of our own company"
        skillyard trust --list
        skillyard trust ~/projects/app --revoke
    """
    from skillyard.base.shapes.hooks import Approvals
    from skillyard.hosts.operations.project_trust import approvals, review_trust, revoke_project

    if args.list and args.dir is not None:
        raise InvalidInput("--list takes no folder")
    if args.accept and (args.list or args.revoke):
        raise InvalidInput("--accept is for an approval: not with --list or --revoke")
    if args.list:
        listed = Approvals(projects=tuple(approvals()))
        console.show(listed, _approvals)
        if not listed.projects:
            console.remark("no project is approved: skillyard trust DIR approves one")
        return 0
    place = args.dir or "."
    if args.revoke:
        result = revoke_project(place)
        what = "revoked" if result.state == "revoked" else "was not approved"
        console.show_text(result, f"{result.project}  {what}")
        return 0 if result.state == "revoked" else NEGATIVE
    with console.progress("reading") as step:
        review = review_trust(place, reasons_by_rule(args.accept), progress=step)
    if not _is_approved(review, console):
        result = review.refuse()
        console.show(result, _approval)
        rules = dict.fromkeys(
            each.rule for each in review.scanned.findings if each.severity != "low"
        )
        accept = "".join(f" --accept {rule}=REASON" for rule in rules)
        command = shell_command(["skillyard", "trust", result.project])
        complain(
            f"skillyard trust: read these files; if they are meant to do this: {command}{accept}"
        )
        return NEGATIVE
    result = review.approve()
    console.show(result, _approval)
    return 0 if result.skills or result.removed else NEGATIVE


def _is_approved(review: TrustReview, console: Console) -> bool:
    """Show the findings; return False where they, or the user who was asked, forbid approval."""
    from skillyard.cli.findings import scan_blocks

    scanned = review.scanned
    if not console.json and (scanned.findings or scanned.accepted):
        console.print(*scan_blocks(scanned))
    if not scanned.fails(strict=console.can_confirm):
        return True
    skills = plural(len(review.digests), "skill file")
    return console.confirm(f"approve {skills} in spite of these findings?")


def _approval(result: Approval) -> Iterator[Block]:
    refused = result.state == "refused"
    what = "nothing was approved" if refused else plural(len(result.skills), "skill file")
    yield line(Span(result.project, "name"), f"  {what}")
    for word in () if refused else ("added", "changed", "removed"):
        for path in getattr(result, word):
            yield line(Span(word, "medium"), f"  {path}", indent=1)
    for each in result.refused:
        yield line(Span("not approved", "low"), f"  {each.path}: {each.why}", indent=1)


def _approvals(result: Approvals) -> Iterator[Block]:
    for each in result.projects:
        gone = "" if each.there else "  (the folder is gone)"
        count = plural(len(each.skills), "skill file")
        yield line(Span(each.project, "name"), f"  {count}, since {each.since}{gone}")
