"""``sync``, ``update``, ``outdated``, ``verify``, ``remove``: the installed skills of a project."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from skillyard.base.text import clean_line, shorten
from skillyard.cli.blocks import Block, Column, Line, Span, line, table
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE, UNREACHED
from skillyard.cli.findings import finding_lines
from skillyard.cli.options import (
    accept,
    agent,
    command,
    flag,
    reasons_by_rule,
    value,
    view_of,
    words,
)
from skillyard.install.copies.lockfile import is_user_lock
from skillyard.install.operations.problems import GOOD, only_unreachable, states_of

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

_WHERE = (
    value("--into", "DIR", "the skills in DIR (default: in this project's agent folders)"),
    flag("--global", "the skills of the user, for all projects, with their lock", dest="user"),
)
_DRY_RUN = flag("--dry-run", "show what would be done, write nothing")
_ALLOW_EXTRA = "accept skill folders that the lock file does not name"

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


def _sync_code(result: Synced, args: Namespace) -> int | bool:
    if only_unreachable(result.skills) and not (args.frozen or args.dry_run):
        return UNREACHED
    return result.differs


@view_of(
    "skillyard.install.operations.folders:sync_skills",
    "sync",
    *_WHERE,
    agent("install skills where this agent host looks"),
    flag("--frozen", "change nothing, use no network, and exit with 1 on any difference"),
    flag("--allow-extra", f"with --frozen: {_ALLOW_EXTRA}"),
    _DRY_RUN,
    accept(),
    what="fetching",
    code=_sync_code,
)
def _synced(result: Synced) -> Iterator[Block]:
    """Install the skills of the lock file as it pins them.

    Fetches skills whose folder is missing or older, and refuses what is not pinned or does not
    match. Folders with local changes, and skill folders that the lock file does not name, are
    reported and left. --agent puts skills where a host looks, by a link where they lie elsewhere.
    Exits with 1 when a difference is left, with 4 when only sources could not be reached.

        skillyard sync
        skillyard sync --frozen
        skillyard sync --agent claude-code
        skillyard sync --into .claude/skills --dry-run
    """
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
    yield from _unseen(result)


def _unseen(result: Synced) -> Iterator[Block]:
    """Say where the skills are if no agent of this machine looks there, and what helps."""
    from skillyard.hosts.operations.setup import agents_to_link

    folders = [folder for each in result.skills for folder in each.folders]
    if agents := () if is_user_lock(result.lock) else agents_to_link(folders):
        command = " ".join(["skillyard sync", *(f"--agent {name}" for name in agents)])
        yield line(f"no agent of this machine looks there; `{command}` makes links where they look")


@command(
    "update",
    words("names", "NAME", "skills (default: all of the lock)"),
    *_WHERE,
    flag("--yes", "take newer versions without asking"),
    _DRY_RUN,
    accept(),
)
def update(args: Namespace, console: Console) -> int:
    """Take the newest versions of installed skills.

    Shows what each newer version changes: text, files, allowed tools, findings of the scan, and who
    signed it. Asks on a terminal whether to take it. Elsewhere it only shows, unless --yes is
    given. Skills with local changes or a high finding are refused. Exits with 1 when a newer
    version was not taken, with 4 when only sources could not be reached.

        skillyard update
        skillyard update pdf --yes
        skillyard update --global --dry-run
    """
    from skillyard.install.operations.update import update_skills

    shown: set[str] = set()
    with ExitStack() as line:
        step = line.enter_context(console.progress("fetching"))

        def confirm(update: SkillUpdate) -> bool:
            line.close()  # the progress line
            if not console.json:
                console.print(*_changes(update))
                shown.add(update.name)
            return args.yes or console.confirm(f"take this version of {update.name}?")

        result = update_skills(
            args.names,
            args.into,
            user=args.user,
            confirm=confirm,
            accept=reasons_by_rule(args.accept),
            dry_run=args.dry_run,
            report=step,
        )
    console.show(result, lambda result: _updated(result, shown))
    if only_unreachable(result.skills):
        return UNREACHED
    good = GOOD | {"available"} if args.dry_run else GOOD
    return NEGATIVE if states_of(result.skills) - good else 0


def _outdated_code(result: Outdated, args: Namespace) -> int | bool:
    outcomes = states_of(result.skills)
    if outcomes & {"outdated", "moved", "gone", "refused"}:
        return True
    return UNREACHED if "unreachable" in outcomes else 0


@view_of(
    "skillyard.install.operations.update:outdated_skills",
    "outdated",
    *_WHERE,
    what="asking",
    code=_outdated_code,
)
def _versions(result: Outdated) -> Iterator[Block]:
    """List installed skills that have a newer version.

    Asks the source of each skill in the lock file and writes nothing. A newer commit that does not
    change the skill does not count. Exits with 1 when a skill is outdated, refused by the policy,
    moved in its source or gone from it, else with 4 when a source could not be reached.

        skillyard outdated
        skillyard outdated --json
    """
    if not result.skills:
        yield _empty(result.lock)
        return
    yield table(
        result.skills,
        Column("name", lambda skill: skill.name, "name"),
        Column("pinned", lambda skill: _version(skill.pinned) or "-"),
        Column("newest", lambda skill: _version(skill.newest) or "-"),
        Column("state", lambda skill: Span(skill.state, _STYLES.get(skill.state, "error"))),
        Column("folder", lambda skill: skill.folder_state, "dim"),
    )
    for skill in result.skills:
        if skill.problem is not None:
            yield from _problem(skill.problem, clean_line(skill.name))


@view_of(
    "skillyard.install.operations.folders:verify_skills",
    "verify",
    *_WHERE,
    flag("--allow-extra", _ALLOW_EXTRA),
    code=lambda result, args: result.differs,
)
def _verified(result: Verified) -> Iterator[Block]:
    """Compare installed skills with the lock file.

    Reads the folders, uses no network and writes nothing. Reports skills that are edited, missing,
    not pinned or refused by the policy, and skill folders that the lock file does not name. Where
    the policy has rules for signatures or the lock names a signer, it verifies them and says who
    signed. Exits with 1 on any difference; a skill that is only not pinned is none.

        skillyard verify
        skillyard verify --allow-extra --json
    """
    if not result.skills:
        yield _empty(result.lock)
    for skill in result.skills:
        yield from _skill(skill.name, skill.state, skill.folders, skill.problem)
        if skill.signature is not None:
            yield _signature_state(skill.signature)
    yield from _extra(result.extra)


@view_of(
    "skillyard.install.operations.folders:remove_skills",
    "remove",
    value("names", "NAME", "skills of the lock file", nargs="+"),
    *_WHERE,
    flag("--backup", "move a folder with local changes to DIR-kept"),
    _DRY_RUN,
    code=lambda result, args: "refused" in states_of(result.skills),
)
def _removed(result: Removed) -> Iterator[Block]:
    """Remove installed skills and their entries in the lock file.

    Removes the folder of each skill, the links to it, and its entry. A folder with local changes is
    refused; --backup moves it to DIR-kept beside its folder of skills instead of deleting it. Where
    --into names a folder with a link to the skill, only the link is removed. Exits with 1 when a
    skill was refused.

        skillyard remove pdf
        skillyard remove pdf docx --dry-run
    """
    for skill in result.skills:
        places = (*(each.folder for each in skill.folders), *skill.links)
        yield from _skill(skill.name, skill.state, places, skill.problem)
        for each in skill.folders:
            if each.backup:
                yield line(Span("moved to ", "warning"), clean_line(each.backup), indent=4)


def _changes(update: SkillUpdate) -> Iterator[Block]:
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


def _updated(result: Updated, shown: Collection[str] = ()) -> Iterator[Block]:
    """Yield the result for each skill, after the changes of skills that are not in ``shown``."""
    if not result.skills:
        yield _empty(result.lock)
    for skill in result.skills:
        if skill.name not in shown:
            yield from _changes(skill)
    for skill in result.skills:
        yield from _skill(skill.name, skill.state, skill.folders, skill.problem)
        if skill.difference is None:
            yield from signature_lines(skill.signature, always=False)
    if any(skill.state == "available" for skill in result.skills):
        hint = (
            "run it without --dry-run" if result.dry_run else "say --yes, or run it on a terminal"
        )
        yield line(Span(f"nothing of these is written yet; to take them, {hint}", "dim"))
    yield from _extra(result.extra)


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
        remark = Span("  not in the lock file, left as it is; `skillyard add` pins one", "dim")
        yield line(Span("extra", "warning"), f"  {clean_line(folder)}", remark)


def _empty(lock: str) -> Line:
    return line(f"{clean_line(lock)} names no skill.")


def _version(version: str | None) -> str:
    return clean_line((version or "").removeprefix("sha256:"))[:_SHORT]
