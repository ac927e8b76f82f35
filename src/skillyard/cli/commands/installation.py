"""``sync``, ``update``, ``outdated``, ``verify``, ``remove``: the installed skills of a project."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack
from typing import TYPE_CHECKING

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE, UNREACHED
from skillyard.cli.options import accept, agent, command, flag, reasons_by_rule, value, words

if TYPE_CHECKING:
    from skillyard.base.shapes.installation import SkillUpdate

_WHERE = (
    value(
        "--into",
        "DIR",
        "the skills in DIR (default: in the folders of agent hosts of this project)",
    ),
    flag(
        "--global",
        "the skills of the user, for all projects, and the user's lock file",
        dest="user",
    ),
)
_DRY_RUN = flag("--dry-run", "show what would be done, write nothing")
_ALLOW_EXTRA = "accept skill folders that the lock file does not name"


@command(
    "sync",
    *_WHERE,
    agent("install skills where this agent host looks"),
    flag("--frozen", "change nothing, use no network, and exit with 1 on any difference"),
    flag("--allow-extra", f"with --frozen: {_ALLOW_EXTRA}"),
    _DRY_RUN,
    accept(),
)
def sync(args: Namespace, console: Console) -> int:
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
    from skillyard.cli.installation_views import sync_blocks
    from skillyard.install.operations.folders import sync_skills
    from skillyard.install.operations.problems import only_unreachable

    with console.progress("fetching") as step:
        result = sync_skills(
            args.into,
            user=args.user,
            agents=args.agent,
            frozen=args.frozen,
            dry_run=args.dry_run,
            allow_extra=args.allow_extra,
            accept=reasons_by_rule(args.accept),
            report=step,
        )
    console.show(result, sync_blocks)
    if only_unreachable(result.skills) and not (args.frozen or args.dry_run):
        return UNREACHED
    return NEGATIVE if result.differs else 0


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
    from skillyard.cli.installation_views import changes, update_blocks
    from skillyard.install.operations.problems import GOOD, only_unreachable, states_of
    from skillyard.install.operations.update import update_skills

    shown: set[str] = set()
    with ExitStack() as line:
        step = line.enter_context(console.progress("fetching"))

        def confirm(update: SkillUpdate) -> bool:
            line.close()  # the progress line
            if not console.json:
                console.print(*changes(update))
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
    console.show(result, lambda result: update_blocks(result, shown))
    if only_unreachable(result.skills):
        return UNREACHED
    good = GOOD | {"available"} if args.dry_run else GOOD
    return NEGATIVE if states_of(result.skills) - good else 0


@command("outdated", *_WHERE)
def outdated(args: Namespace, console: Console) -> int:
    """List installed skills that have a newer version.

    Asks the source of each skill in the lock file and writes nothing. A newer commit that does not
    change the skill does not count. Exits with 1 when a skill is outdated, refused by the policy,
    moved in its source or gone from it, else with 4 when a source could not be reached.

        skillyard outdated
        skillyard outdated --json
    """
    from skillyard.cli.installation_views import versions
    from skillyard.install.operations.problems import states_of
    from skillyard.install.operations.update import outdated_skills

    with console.progress("asking") as step:
        result = outdated_skills(args.into, user=args.user, report=step)
    console.show(result, versions)
    outcomes = states_of(result.skills)
    if outcomes & {"outdated", "moved", "gone", "refused"}:
        return NEGATIVE
    return UNREACHED if "unreachable" in outcomes else 0


@command("verify", *_WHERE, flag("--allow-extra", _ALLOW_EXTRA))
def verify(args: Namespace, console: Console) -> int:
    """Compare installed skills with the lock file.

    Reads the folders, uses no network and writes nothing. Reports skills that are edited, missing,
    not pinned or refused by the policy, skill folders that the lock file does not name, and
    accepted findings of the scan that no longer apply. Where the policy has rules for signatures or
    the lock names a signer, it verifies them and says who signed. Exits with 1 on any difference; a
    skill that is only not pinned is none.

        skillyard verify
        skillyard verify --allow-extra --json
    """
    from skillyard.cli.installation_views import verify_blocks
    from skillyard.install.operations.folders import verify_skills

    result = verify_skills(args.into, user=args.user, allow_extra=args.allow_extra)
    console.show(result, verify_blocks)
    return NEGATIVE if result.differs else 0


@command(
    "remove",
    value("names", "NAME", "skills of the lock file", nargs="+"),
    *_WHERE,
    flag("--backup", "move a folder with local changes to DIR-kept"),
    _DRY_RUN,
)
def remove(args: Namespace, console: Console) -> int:
    """Remove installed skills and their entries in the lock file.

    Removes the folder of each skill, the links to it, and its entry. A folder with local changes is
    refused; --backup moves it to DIR-kept beside its folder of skills instead of deleting it. Where
    --into names a folder with a link to the skill, only the link is removed. Exits with 1 when a
    skill was refused.

        skillyard remove pdf
        skillyard remove pdf docx --dry-run
    """
    from skillyard.cli.installation_views import remove_blocks
    from skillyard.install.operations.folders import remove_skills
    from skillyard.install.operations.problems import states_of

    result = remove_skills(
        args.names, args.into, user=args.user, backup=args.backup, dry_run=args.dry_run
    )
    console.show(result, remove_blocks)
    return NEGATIVE if "refused" in states_of(result.skills) else 0
