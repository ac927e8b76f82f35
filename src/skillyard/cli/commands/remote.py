"""``search`` and ``add``: skills from elsewhere."""

from __future__ import annotations

from argparse import Namespace
from functools import cache, partial
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput, SkillyardError
from skillyard.base.text import clean_line, name_few, plural, shorten
from skillyard.cli.blocks import Block, Column, Span, Table, line, table
from skillyard.cli.console import Console, complain
from skillyard.cli.exit_codes import NEGATIVE, UNREACHED
from skillyard.cli.options import accept, agent, command, flag, reasons_by_rule, value, words
from skillyard.cli.source import load, refuse_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillyard.base.shapes.installation import Added
    from skillyard.install.search import FoundSkill, SearchResult
    from skillyard.serve.requests import SearchRequest

_MAX_CHARS = 90
_MAX_FILES = 10


@command("search", request="skillyard.serve.requests:SearchRequest")
def search(request: SearchRequest, args: Namespace, console: Console) -> int:
    """Search marketplaces, repositories and sites for skills.

    Queries all sources at once, fetches the skills they return, and ranks them. Reports every
    source that fails. Exits with 1 when no skill was found, with 4 when every source failed.

        skillyard search "fill in pdf forms"
        skillyard search terraform --source registry --source local
    """
    from skillyard.install.search.service import search_skills

    if "local" not in request.source:
        refuse_library(args, "without --source local")
    catalog = load(args, console, "hybrid") if "local" in request.source else None
    result = search_skills(
        request.query or "",
        sources=request.source or None,
        limit=request.limit,
        references=request.include_references,
        ranker=request.scorer,
        catalog=catalog,
    )
    if console.json:
        console.document(result.to_dict(explain=request.explain))
    else:
        console.print(*_search_blocks(result, explain=request.explain))
    for status in result.sources:
        if status.state == "ok" or console.json:
            continue
        say = complain if result.failed else console.note  # the reason of an exit code is said
        say(f"skillyard: {status.name}: {status.message}")
    if result.failed:
        return UNREACHED
    return 0 if result.count else NEGATIVE


def _search_blocks(result: SearchResult, *, explain: bool) -> Iterator[Block]:
    from skillyard.cli.views import tree
    from skillyard.install.sources.settings import LOCAL

    if result.failed:
        yield line("No source answered, so nothing was searched")
    elif not result.skills:
        yield line("No skill was found")
    else:
        if result.abstained:
            score = f"{result.skills[0].score:.2f}"
            best = f"the best scores {score}, below the floor of {result.floor:.3g}"
            yield line(Span("No skill surely fits:", "head"), f" {best}.")
        yield _skill_table(result)
    sources = ", ".join(
        f"{status.name} {status.found if status.state == 'ok' else 'failed'}"
        for status in result.sources
    )
    considered = plural(result.considered, "skill")
    note = "; no remote asked" if all(each.name == LOCAL for each in result.sources) else ""
    yield line(Span(f"{considered} from {sources}{note}; ranked by {result.ranker}", "dim"))
    for each in result.skills if explain else ():
        if each.match is not None:
            yield line()
            yield line(Span(f"{each.hit.source}/{each.hit.id}", "name"))
            yield tree(each.match.explanation)


def _skill_table(result: SearchResult) -> Table:
    decimals = 2 if max(each.score for each in result.skills) <= 1.0 else 1  # a probability, points
    installs = Column(
        "installs", lambda row: f"{n:,}" if (n := row[1].hit.install_count) else "", right=True
    )
    return table(
        enumerate(result.skills, 1),
        Column("#", lambda row: str(row[0]), "dim", right=True),
        Column("skill", lambda row: f"{row[1].hit.source}/{row[1].hit.id}", "name"),
        Column("score", lambda row: f"{row[1].score:.{decimals}f}", "score", right=True),
        *([installs] if any(each.hit.install_count for each in result.skills) else []),
        Column("from", lambda row: ", ".join(row[1].found_by)),
        Column("what it does", lambda row: _description(row[1]), wide=True, cut="end"),
    )


def _description(each: FoundSkill) -> str:
    marks = ["curated"] if each.hit.curated else []
    marks += [f"no content: {each.failure.code}"] if each.failure is not None else []
    description = shorten(clean_line(each.skill.description), _MAX_CHARS)
    return f"[{'; '.join(marks)}] {description}" if marks else description


@command(
    "add",
    value("name", "NAME", "a name, owner/repo, owner/repo/id, an address, or ./folder"),
    words("skills", "SKILL", "skills of NAME, where it holds several"),
    flag("--all", "install every skill of NAME"),
    value("--into", "DIR", "install it in DIR, in a folder of its name"),
    agent("install it where this agent host looks"),
    flag("--global", "with --agent: in the folders of the user, for all projects", dest="user"),
    flag("--copy", "with several --agent: a copy for each, instead of one folder and links to it"),
    flag("--link", "install a folder of this machine as a link to it, not as a copy"),
    flag("--dry-run", "fetch, check and scan it, and write nothing"),
    flag("--yes", "install even if its name looks like another one, or its signer is another"),
    accept(),
)
def add(args: Namespace, console: Console) -> int:
    """Install skills, by name, address or path.

    Checks every file, installs the folder atomically, and pins its commit and digest in
    skills-lock.json, or with --global in the lock file of the user. Where NAME holds several skills
    and none is named, lists them, and asks on a terminal. Without --into and --agent, a skill goes
    where the lock file says, else where the agent of this machine looks, else to .agents/skills; a
    terminal asks where several agents are there. Local changes are never overwritten. A skill with
    a high finding of the scan is not installed. NAME may be a name, owner/repo[@ref][#skill], the
    address of a git repository (URL[#ref][@skill]), of a page of GitHub, GitLab, Gitea or
    Bitbucket, of a zip or tar archive or of a site, or ./folder. Repositories are read with git and
    its own credentials. Exits with 4 when no source could be reached.

        skillyard add pdf
        skillyard add anthropics/skills pdf docx
        skillyard add anthropics/skills/pdf --into .agents/skills
        skillyard add anthropics/skills@main#pdf --agent claude-code --agent codex
        skillyard add ./skills/deploy --agent claude-code --link
    """
    from skillyard.install.operations.add import AddOptions, add_skill
    from skillyard.install.origins.choice import SeveralSkills

    if args.all and args.skills:
        some = " ".join(map(clean_line, args.skills))
        raise InvalidInput(f"--all takes every skill and {some} names some: leave one of them out")
    options = AddOptions(
        args.into,
        args.agents,
        cache(partial(_agents_here, args, console)),
        user=args.user,
        copy=args.copy,
        link=args.link,
        dry_run=args.dry_run,
        accept_look_alike=args.yes,
        accept=reasons_by_rule(args.accept),
    )
    failed = False
    names = [""] if args.all else args.skills or [""]
    for name in names:  # which grows by those of the source
        try:
            with console.progress("fetching"):
                added = add_skill(args.name, options._replace(skill=name))
            console.show(added, _added)
        except SeveralSkills as several:
            if not (args.all or console.json):
                console.print(*_several(several.skills))
            chosen = list(several.skills) if args.all else _picked(several.skills, console, "none")
            if not chosen:
                raise
            names += chosen
        except SkillyardError as error:
            if len(names) == 1:
                raise
            console.note(f"skillyard: {clean_line(name)}: {error}")
            failed = True
    return NEGATIVE if failed else 0


def _agents_here(args: Namespace, console: Console) -> list[str]:
    """Return the agents of this machine that a skill is for: of several the chosen ones."""
    from skillyard.hosts.operations.setup import agents_here
    from skillyard.install.operations.destinations import SHARED, host_folders

    agents = {agent.name: agent.title for agent in agents_here()}
    if args.into is not None or args.agents or len(agents) < 2:
        return list(agents)
    if not console.can_confirm:
        choice = " ".join(f"--agent {name}" for name in agents)
        here = f"{name_few([*agents.values()])} are here, and nobody was asked for which it is"
        console.note(f"{here}: it goes to {SHARED}; to choose, add {choice}")
        return []
    for name, title in agents.items():
        agents[name] = f"{title}, which looks in {host_folders([name], user=args.user)[0]}"
    console.print(line("For which of the agents on this machine? Several share one copy by links."))
    console.print(*_several(agents))
    return _picked(agents, console, "all")


def _several(rows: Mapping[str, str]) -> Iterator[Block]:
    """Yield names with their numbers and what each is."""
    yield table(
        ((str(number), *row) for number, row in enumerate(rows.items(), 1)),
        Column("#", lambda row: row[0], "dim", right=True),
        Column("name", lambda row: row[1], "name"),
        Column("what it is", lambda row: shorten(row[2], _MAX_CHARS), wide=True, cut="end"),
    )


def _picked(rows: Mapping[str, str], console: Console, on_enter: str) -> list[str]:
    """Ask on a terminal which ones are meant, until the answer is one; none without a terminal.

    ``on_enter``: what an empty answer means, ``all`` or ``none``.
    """
    known = {str(number): name for number, name in enumerate(rows, 1)}
    known |= {name.lower(): name for name in rows}
    while console.can_confirm:
        answer = console.ask(f"which ones? numbers such as 1 2, or all; Enter for {on_enter}:")
        words = (answer or on_enter).lower().replace(",", " ").split()
        if words in (["all"], ["none"]):
            return list(rows) if words == ["all"] else []
        if words and known.keys() >= set(words):
            return [name for name in rows if name in {known[word] for word in words}]
        complain(f"{answer!r} is no choice: write numbers from 1 to {len(rows)}, or names")
    return []


_WORDS = {"added": "added", "replaced": "updated", "linked": "linked"}


def _added(added: Added) -> Iterator[Block]:
    from skillyard.cli.commands.installation import signature_lines

    would = "would be " if added.dry_run else ""

    def state(each: str) -> str:
        return f"{would}{_WORDS[each]}" if each in _WORDS else "is there already"

    head = f"  {state(added.state)}: {clean_line(added.folder or '')}"
    yield line(Span(clean_line(added.skill["name"]), "name"), head)
    for copy in added.copies:
        yield line(f"and in: {clean_line(copy)}", indent=1)
    for link in added.links:
        yield line(f"{state('linked')}: {clean_line(link)}", indent=1)
    commit = added.skill["commit"]
    pinned = f"commit {commit[:12]}" if commit else "no commit"
    files = f"{plural(len(added.files), 'file')}, {pinned}, {(added.digest or '')[:19]}…"
    yield line(Span(files, "dim"), indent=1)
    for path in added.files[:_MAX_FILES]:
        yield line(clean_line(path), indent=1)
    if more := added.files[_MAX_FILES:]:
        yield line(f"and {plural(len(more), 'more file')}", indent=1)
    for skipped in added.skipped:
        yield line(Span("left out", "low"), f"  {clean_line(skipped)}", indent=1)
    for other in added.look_alikes:
        yield line(Span("looks like", "medium"), f"  {clean_line(other)}", indent=1)
    yield from signature_lines(added.signature)
    for each in added.findings:
        about = clean_line(f"{each.path}:{each.line}: {each.rule} {each.message}")
        yield line(Span(each.severity, "warning"), f"  {about}", indent=1)
    for note in added.notes:
        yield line(Span("note", "medium"), f"  {clean_line(note)}", indent=1)
    if added.dry_run:
        yield line(Span("nothing was written", "dim"), indent=1)
    elif added.lock:
        yield line(Span(f"noted in {clean_line(added.lock)}", "dim"), indent=1)
