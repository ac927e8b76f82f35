"""``search`` and ``add``: skills from elsewhere."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.cli.console import Console, complain
from skillyard.cli.exit_codes import NEGATIVE, UNREACHED
from skillyard.cli.options import (
    add_accept,
    add_agent,
    add_global,
    add_into,
    add_limit,
    add_options,
    add_scorer,
    reasons_by_rule,
    source_name,
)
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands


def add_search_command(commands: Commands) -> None:
    """Declare ``search``."""
    parser = add_command(
        commands,
        "search",
        "search marketplaces, repositories and sites for skills",
        run=search,
        about=(
            "Queries all sources at once, fetches the skills they return, and ranks them. "
            "Reports every source that fails. Exits with 1 when no skill was found, with 4 "
            "when every source failed."
        ),
        examples=(
            'skillyard search "fill in pdf forms"',
            "skillyard search terraform --source registry --source local",
        ),
    )
    add_options(parser, "query")
    parser.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="NAME",
        type=source_name,
        help="query this source; may repeat (default: those that the settings enable)",
    )
    add_limit(parser, "show at most K skills", 10)
    parser.add_argument(
        "--references", action="store_true", help="also fetch the reference documents of each skill"
    )
    add_scorer(parser, configured=False)
    add_options(parser, "--explain")


def search(args: Namespace, console: Console) -> int:
    """Print what the sources found; 1 when that is nothing, 4 when every one of them failed."""
    from skillyard.cli.source import load, refuse_library, words_of
    from skillyard.install.operations.remote import search_skills

    if "local" not in args.source:
        refuse_library(args, "without --source local")
    catalog = load(args, console, indexed=True) if "local" in args.source else None
    result = search_skills(
        words_of(args.query) or "",
        sources=args.source or None,
        limit=args.limit,
        references=args.references,
        ranker=args.scorer,
        catalog=catalog,
    )
    if console.json:
        profile = {"profile": catalog.profile} if catalog is not None and catalog.profile else {}
        console.document({**result.to_dict(explain=args.explain), **profile})
    else:
        from skillyard.cli.remote_views import found_skills

        empty = catalog is not None and not len(catalog) and len(result.sources) == 1
        console.print(*found_skills(result, explain=args.explain, empty=empty))
    for status in result.sources:
        if status.state == "ok" or console.json:
            continue
        say = complain if result.failed else console.note  # the reason of an exit code is said
        say(f"skillyard: {status.name}: {status.message}")
    if result.failed:
        return UNREACHED
    return 0 if result.count else NEGATIVE


def add_add_command(commands: Commands) -> None:
    """Declare ``add``."""
    parser = add_command(
        commands,
        "add",
        "print or install one skill, by name, address or path",
        run=add,
        about=(
            "Without --into and --agent, prints the SKILL.md. With one of them, checks every file, "
            "installs the folder atomically, and pins its commit and digest in skills-lock.json, or"
            " with --global in the lock file of the user. Local changes are never overwritten. A "
            "skill with a high finding of the scan is not installed. NAME may be a name, "
            "owner/repo[@ref][#skill], the address of a git repository (URL[#ref][@skill]), of a "
            "page of GitHub, GitLab, Gitea or Bitbucket, of a zip or tar archive or of a site, "
            "./folder, or plugin@marketplace. Repositories are read with git and its own "
            "credentials. Exits with 4 when no source could be reached."
        ),
        examples=(
            "skillyard add pdf",
            "skillyard add anthropics/skills/pdf --into .agents/skills",
            "skillyard add anthropics/skills@main#pdf --agent claude-code --agent codex",
            "skillyard add git@git.example.com:team/skills.git#v2@deploy --agent claude-code",
            "skillyard add https://example.com#release-notes --into .agents/skills",
            "skillyard add ./skills/deploy --agent claude-code --link",
        ),
    )
    parser.add_argument(
        "name", metavar="NAME", help="a name, owner/repo, owner/repo/id, an address, or ./folder"
    )
    add_into(parser, "install it in DIR, in a folder of its name")
    add_agent(parser, "install it where this agent host looks")
    add_global(parser, "with --agent: in the folders of the user, for all projects")
    parser.add_argument(
        "--copy",
        action="store_true",
        help="with several --agent: a copy for each, instead of one folder and links to it",
    )
    parser.add_argument(
        "--link",
        action="store_true",
        help="install a folder of this machine as a link to it, not as a copy",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="fetch, check and scan it, and write nothing"
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="install even if its name looks like that of an installed skill, or if another "
        "author signed it than what is installed",
    )
    add_accept(parser)


def add(args: Namespace, console: Console) -> int:
    """Print one skill, or write it to a folder and say what was written."""
    from skillyard.cli.progress import progress
    from skillyard.install.operations.add import add_skill

    accept = reasons_by_rule(args.accept)
    with progress("fetching", console) as step:
        added = add_skill(
            args.name,
            into=args.into,
            agents=args.agent,
            user=args.user,
            copy=args.copy,
            link=args.link,
            dry_run=args.dry_run,
            accept_look_alike=args.yes,
            accept=accept,
            report=None if step is None else lambda count: step(count, None, "bytes"),
        )
    if added.placed is None:
        console.show_text(added, added.fetched.raw)
        for each in added.findings:
            place = f"{each.path}:{each.line}"
            console.note(f"skillyard: {place}: {each.severity} {each.rule}: {each.message}")
    else:
        from skillyard.cli.remote_views import added_skill

        console.show(added, added_skill)
    return 0


COMMANDS = {"search": add_search_command, "add": add_add_command}
