"""``trust``: which projects' skills the prompt hook may use."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import folder
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.blocks import Block
    from skillyard.cli.parser import Commands
    from skillyard.shapes.hooks import Approval, Approvals


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
        return _list_approvals(console)
    place = args.dir or "."
    if args.revoke:
        result = approval.revoke_project(place)
        what = "revoked" if result.state == "revoked" else "was not approved"
        console.show_text(result, f"{result.project}  {what}")
        return 0 if result.state == "revoked" else NEGATIVE
    from skillyard.cli.progress import progress

    with progress("reading", console) as step:
        result = approval.approve_project(place, progress=step)
    console.show(result, _approval)
    if not result.skills and not console.json:
        console.note("no skill to approve: skillyard list shows what was found")
    return 0


def _approval(result: Approval) -> Iterator[Block]:
    from skillyard.cli.blocks import Span, line
    from skillyard.text import plural

    yield line(Span(result.project, "name"), f"  {plural(len(result.skills), 'skill file')}")
    for word in ("added", "changed", "removed"):
        for path in getattr(result, word):
            yield line(Span(word, "medium"), f"  {path}", indent=1)
    for each in result.refused:
        yield line(Span("not approved", "low"), f"  {each.path}: {each.why}", indent=1)


def _list_approvals(console: Console) -> int:
    from skillyard.hook.approval import approvals
    from skillyard.shapes.hooks import Approvals

    result = Approvals(projects=tuple(approvals()))
    console.show(result, _approvals)
    if not result.projects and not console.json:
        console.note("no project is approved: skillyard trust DIR approves one")
    return 0


def _approvals(result: Approvals) -> Iterator[Block]:
    from skillyard.cli.blocks import Span, line
    from skillyard.text import plural

    for each in result.projects:
        gone = "" if each.there else "  (the folder is gone)"
        count = plural(len(each.skills), "skill file")
        yield line(Span(each.project, "name"), f"  {count}, since {each.since}{gone}")


COMMANDS = {"trust": add_trust_command}
