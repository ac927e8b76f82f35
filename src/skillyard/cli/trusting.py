"""``trust``: which projects' skills the prompt hook may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.quick import Values

if TYPE_CHECKING:
    from skillyard.hook.approval import Approval

__all__ = ["trust"]

NEGATIVE = 1


def trust(values: Values, console: Console) -> int:
    """Approve a project, take an approval back, or list them; 1 when there was none to take."""
    from skillyard.errors import InvalidInput
    from skillyard.hook import approval

    if values.list and (values.revoke or values.dir is not None):
        raise InvalidInput("--list takes neither a folder nor --revoke")
    if values.list:
        return _listed(approval.approvals(), console)
    place = values.dir or "."
    if values.revoke:
        found = approval.revoke_project(place)
        if console.json:
            console.document(found.to_dict())
        else:
            what = "revoked" if found.state == "revoked" else "was not approved"
            console.write(f"{found.project}  {what}")
        return 0 if found.state == "revoked" else NEGATIVE
    from skillyard.cli.progress import progress

    with progress("reading", console) as step:
        done = approval.approve_project(place, progress=step)
    if console.json:
        console.document(done.to_dict())
    else:
        _show(done, console)
    return 0


def _show(done: Approval, console: Console) -> None:
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


def _listed(found: list[Approval], console: Console) -> int:
    if console.json:
        console.document(
            {"schema": "skillyard.trust-list/1", "projects": [one.to_dict() for one in found]}
        )
        return 0
    from skillyard.cli.blocks import Span, line
    from skillyard.text import plural

    for one in found:
        gone = "" if one.there else "  (the folder is gone)"
        count = plural(len(one.skills), "skill file")
        console.print(line(Span(one.project, "name"), f"  {count}, since {one.since}{gone}"))
    if not found:
        console.note("no project is approved: skillyard trust DIR approves one")
    return 0
