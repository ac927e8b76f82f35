"""Renders the installed skills of a project as blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from skillyard.base.text import clean_line, shorten
from skillyard.cli.blocks import Block, Column, Line, Span, line, table
from skillyard.cli.findings import finding_lines
from skillyard.install.copies.lockfile import is_user_lock

if TYPE_CHECKING:
    from skillyard.base.shapes.installation import (
        Outdated,
        Removed,
        Signature,
        SignatureState,
        Signer,
        SkillProblem,
        SkillUpdate,
        Synced,
        Updated,
        Verified,
    )

_STYLES = {
    **dict.fromkeys(("current", "linked", "installed", "updated", "pinned"), "good"),
    **dict.fromkeys(("removed", "unlinked"), "good"),
    **dict.fromkeys(("planned", "available"), "info"),
    **dict.fromkeys(("moved", "outdated", "unpinned", "behind", "interrupted"), "warning"),
    **dict.fromkeys(("not_comparable", "unsupported"), "warning"),
}
"""Every other state is an error."""
_DIFF_STYLES = {"+": "good", "-": "error", "@": "dim"}
_SHORT = 12
_SIGNER_SHOWN = 160
_FOLDERS = 5
"""Folders that the lock does not name, of which ``update`` names so many."""


def sync_blocks(result: Synced) -> Iterator[Block]:
    """Yield the state of each skill, and the folders that are not in the lock file."""
    if not result.skills:
        yield _empty(result.lock)
    for skill in result.skills:
        places = (*skill.folders, *skill.links)
        yield from _skill(skill.name, skill.state, places, skill.problem)
        if skill.state in ("current", "installed") and not skill.pinned:
            yield line(Span("not pinned; `skillyard update` pins it", "dim"), indent=4)
        for entry in skill.accepted:
            why = f"{clean_line(entry.rule)} ({clean_line(entry.reason)})"
            yield line(Span("accepted by the lock: ", "warning"), why, indent=4)
    yield from _extra(result.extra)


def verify_blocks(result: Verified) -> Iterator[Block]:
    """Yield the state of each skill, its stale acceptances, and folders not in the lock file."""
    if not result.skills:
        yield _empty(result.lock)
    for skill in result.skills:
        yield from _skill(skill.name, skill.state, skill.folders, skill.problem)
        if skill.signature is not None:
            yield _signature_state(skill.signature)
        for entry in skill.stale:
            why = f"{clean_line(entry.rule)} ({clean_line(entry.reason)})"
            todo = "; `skillyard add` it again to drop this"
            yield line(Span("accepted, and no longer found: ", "warning"), why, todo, indent=4)
    yield from _extra(result.extra)


def remove_blocks(result: Removed) -> Iterator[Block]:
    """Yield the removed folders and links of each skill, and the paths of backups."""
    for skill in result.skills:
        places = (*(each.folder for each in skill.folders), *skill.links)
        yield from _skill(skill.name, skill.state, places, skill.problem)
        for each in skill.folders:
            if each.backup:
                yield line(Span("moved to ", "warning"), clean_line(each.backup), indent=4)


def versions(result: Outdated) -> Iterator[Block]:
    """Yield the table of versions, and the reasons for unknown ones."""
    if not result.skills:
        yield _empty(result.lock)
        return
    yield table(
        result.skills,
        (Column("name", "name"), lambda skill: skill.name),
        (Column("pinned"), lambda skill: _version(skill.pinned) or "-"),
        (Column("newest"), lambda skill: _version(skill.newest) or "-"),
        (Column("state"), lambda skill: Span(skill.state, _STYLES.get(skill.state, "error"))),
        (
            Column("", "dim"),
            lambda skill: (
                "" if skill.folder_state in (skill.state, "current") else skill.folder_state
            ),
        ),
    )
    for skill in result.skills:
        if skill.problem is not None:
            yield from _problem(skill.problem, clean_line(skill.name))


def changes(update: SkillUpdate) -> Iterator[Block]:
    """Yield the changes of a newer version."""
    change = update.difference
    if change is None:
        return
    before, after = _version(update.pinned) or "not pinned", _version(update.newest)
    yield line(Span(clean_line(update.name), "name"), Span(f"  {before} → {after}", "dim"))
    if update.problem is not None and update.state == "available":
        yield line(clean_line(update.problem.message), indent=2)
    for file in change.files:
        note = f" ({clean_line(file.note)})" if file.note else ""
        yield line(Span(file.change, "head"), f"  {clean_line(file.path)}{note}", indent=2)
    for tool in change.tools_added:
        yield line(Span("allows now", "warning"), f"  {clean_line(tool)}", indent=2)
    for tool in change.tools_removed:
        yield line(Span("no longer allows", "head"), f"  {clean_line(tool)}", indent=2)
    yield from signature_lines(update.signature, always=False)
    yield from finding_lines(change.findings)
    for file in change.files:
        for text in file.diff.split("\n")[:-1]:
            yield line(Span(text, _DIFF_STYLES.get(text[:1], "")))


def signature_lines(signature: Signature | None, *, always: bool = True) -> Iterator[Line]:
    """Yield who signed a version, and who signed the one before if that is somebody else.

    With ``always=False`` a signer who is the same is left out.
    """
    if signature is None:
        return
    change = signature.change
    if signature.signer is not None and (always or change != "none"):
        style = "warning" if change == "changed" else "good"
        yield line(Span("signed by", style), f"  {_signer(signature.signer)}", indent=2)
    if signature.before is not None and change in ("changed", "lost"):
        label = "no longer signed by" if change == "lost" else "signed before by"
        yield line(Span(label, "warning"), f"  {_signer(signature.before)}", indent=2)


def _signature_state(signature: SignatureState) -> Line:
    styles = {"verified": "good", "recorded": "good", "unsigned": "dim"}
    by = "" if signature.signer is None else f"signed by {_signer(signature.signer)}, "
    state = signature.state
    how = "as the lock says, not verified here" if state == "recorded" else state
    return line(by, Span(how, styles.get(state, "error")), indent=4, hang=4)


def _signer(signer: Signer) -> str:
    identity, issuer = (
        shorten(clean_line(text), _SIGNER_SHOWN) for text in (signer.identity, signer.issuer)
    )
    return f"{identity} ({issuer})"


def update_blocks(result: Updated, shown: Collection[str] = ()) -> Iterator[Block]:
    """Yield the result for each skill, after the changes of skills that are not in ``shown``."""
    if not result.skills:
        yield _empty(result.lock)
    for skill in result.skills:
        if skill.name not in shown:
            yield from changes(skill)
    for skill in result.skills:
        yield from _skill(skill.name, skill.state, skill.folders, skill.problem)
        if skill.difference is None:
            yield from signature_lines(skill.signature, always=False)
    if any(skill.state == "available" for skill in result.skills):
        hint = (
            "run it without --dry-run" if result.dry_run else "say --yes, or run it on a terminal"
        )
        yield line(Span(f"nothing of these is written yet; to take them, {hint}", "dim"))
    if result.extra:
        listed = ", ".join(map(clean_line, result.extra[:_FOLDERS]))
        more = len(result.extra) - _FOLDERS
        listed += f" and {more} more" if more > 0 else ""
        where = "--agent HOST --global" if is_user_lock(result.lock) else "--into DIR"
        remark = f"  not in the lock file; `skillyard add SOURCE {where}` pins one"
        yield line(Span("extra", "warning"), f"  {listed}", Span(remark, "dim"))


def _skill(
    name: str, state: str, folders: Collection[str], problem: SkillProblem | None
) -> Iterator[Line]:
    where = ", ".join(map(clean_line, folders))
    yield line(
        Span(state, _STYLES.get(state, "error")),
        "  ",
        Span(clean_line(name), "name"),
        Span(f"  {where}", "dim") if where else "",
    )
    if problem is not None:
        yield from _problem(problem)


def _problem(problem: SkillProblem, name: str = "") -> Iterator[Line]:
    place = clean_line(problem.path or name)
    head = f"{place}: " if place else ""
    yield line(f"{head}{clean_line(problem.message)}", indent=4, hang=4)
    if problem.hint:
        yield line(Span("fix: ", "dim"), clean_line(problem.hint), indent=4, hang=4)


def _extra(folders: Collection[str]) -> Iterator[Line]:
    for folder in folders:
        remark = Span("  the lock does not name it; left as it is", "dim")
        yield line(Span("extra", "warning"), f"  {clean_line(folder)}", remark)


def _empty(lock: str) -> Line:
    return line(f"{clean_line(lock)} names no skill.")


def _version(version: str | None) -> str:
    """Return a commit or digest, shortened."""
    return clean_line((version or "").removeprefix("sha256:"))[:_SHORT]
