"""``trust``: which projects' skills the prompt hook may use."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import folder
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.hook.approval import Approval


def add_trust_command(commands: Commands) -> None:
    """Declare ``trust``."""
    parser = add_command(
        commands,
        "trust",
        "approve the skills of a project for the prompt hook",
        run=trust,
        about=(
            "Approves every skill of the project in its current state, with the files beside "
            "it. Skills that are edited, added or moved later are not used until they are "
            "approved again. The exit code of --revoke is 1 when there was no approval."
        ),
        examples=(
            "skillyard trust",
            "skillyard trust --list",
            "skillyard trust ~/projects/app --revoke",
        ),
    )
    parser.add_argument(
        "dir", metavar="DIR", nargs="?", type=folder, help="the project (default: .)"
    )
    parser.add_argument("--revoke", action="store_true", help="revoke the approval")
    parser.add_argument("--list", action="store_true", help="list the approved projects")


def trust(args: Namespace, console: Console) -> int:
    """Approve a project, take an approval back, or list them; 1 when there was none to take."""
    from skillyard.errors import InvalidInput
    from skillyard.hook import approval

    if args.list and (args.revoke or args.dir is not None):
        raise InvalidInput("--list takes neither a folder nor --revoke")
    if args.list:
        return _print_approvals(approval.approvals(), console)
    place = args.dir or "."
    if args.revoke:
        result = approval.revoke_project(place)
        if console.json:
            console.document(result.to_dict())
        else:
            what = "revoked" if result.state == "revoked" else "was not approved"
            console.write(f"{result.project}  {what}")
        return 0 if result.state == "revoked" else NEGATIVE
    from skillyard.cli.progress import progress

    with progress("reading", console) as step:
        done = approval.approve_project(place, progress=step)
    if console.json:
        console.document(done.to_dict())
    else:
        _print_approval(done, console)
    return 0


def _print_approval(done: Approval, console: Console) -> None:
    from skillyard.cli.blocks import Span, line
    from skillyard.text import plural

    console.print(line(Span(done.project, "name"), f"  {plural(len(done.skills), 'skill file')}"))
    for word in ("added", "changed", "removed"):
        for path in getattr(done, word):
            console.print(line(Span(word, "medium"), f"  {path}", indent=1))
    for path, why in done.refused:
        console.print(line(Span("not approved", "low"), f"  {path}: {why}", indent=1))
    if not done.skills:
        console.note("no skill to approve: skillyard list shows what was found")


def _print_approvals(result: list[Approval], console: Console) -> int:
    if console.json:
        console.document(
            {"schema": "skillyard.trust-list/1", "projects": [one.to_dict() for one in result]}
        )
        return 0
    from skillyard.cli.blocks import Span, line
    from skillyard.text import plural

    for one in result:
        gone = "" if one.there else "  (the folder is gone)"
        count = plural(len(one.skills), "skill file")
        console.print(line(Span(one.project, "name"), f"  {count}, since {one.since}{gone}"))
    if not result:
        console.note("no project is approved: skillyard trust DIR approves one")
    return 0


COMMANDS = {"trust": add_trust_command}
