"""``trust``: which projects' skills the prompt hook may use."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.io.processes import shell_command
from skillyard.base.text import plural
from skillyard.cli.blocks import Block, Span, line
from skillyard.cli.console import Console, complain
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import accept, command, flag, reasons_by_rule, value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.hooks import Approval, Approvals
    from skillyard.hosts.operations.project_trust import TrustReview


@command(
    "trust",
    value("dir", "DIR", "the project (default: .)", nargs="?"),
    flag("--revoke", "revoke the approval"),
    accept("approve"),
    flag("--list", "list the approved projects"),
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
    from skillyard.hosts.hook import approval
    from skillyard.hosts.operations.project_trust import review_trust

    if args.list and (args.revoke or args.dir is not None):
        raise InvalidInput("--list takes neither a folder nor --revoke")
    if args.accept and (args.list or args.revoke):
        raise InvalidInput("--accept is for an approval: not with --list or --revoke")
    if args.list:
        return _list_approvals(console)
    place = args.dir or "."
    if args.revoke:
        result = approval.revoke_project(place)
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
    skills = plural(len(review.skills.digests), "skill file")
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


def _list_approvals(console: Console) -> int:
    from skillyard.base.shapes.hooks import Approvals
    from skillyard.hosts.hook.approval import approvals

    result = Approvals(projects=tuple(approvals()))
    console.show(result, _approvals)
    if not result.projects:
        console.remark("no project is approved: skillyard trust DIR approves one")
    return 0


def _approvals(result: Approvals) -> Iterator[Block]:
    for each in result.projects:
        gone = "" if each.there else "  (the folder is gone)"
        count = plural(len(each.skills), "skill file")
        yield line(Span(each.project, "name"), f"  {count}, since {each.since}{gone}")
