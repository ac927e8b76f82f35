"""``list``, ``check``, ``scan`` and ``show``: what is in a library."""

from __future__ import annotations

import os
from argparse import Namespace
from functools import partial
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.text import plural
from skillyard.cli.blocks import Block, line
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import command, flag, library, value, view_of
from skillyard.cli.source import load, no_skills, require_tag, unbound_library_of, unloaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillyard.base.shapes.upkeep import NewSkill
    from skillyard.check.operations.library_check import Checked, CheckRequest
    from skillyard.check.operations.skill_scan import Scanned, ScanRequest
    from skillyard.check.validation.fixes import FixPlan
    from skillyard.engine.catalog import Catalog
    from skillyard.engine.catalog.roots import LibrarySpec
    from skillyard.engine.operations.skill_details import ListResult, ShowResult


_TWO_FORMS = "--json and --format are two forms of output: leave one of them out"


def _tagged(args: Namespace, console: Console) -> Catalog:
    catalog = load(args, console)
    require_tag(catalog, args.tag)
    return catalog


@view_of(
    "skillyard.engine.operations.skill_details:list_skills",
    "list",
    library(),
    "--tag",
    provide={"catalog": _tagged},
    notes=lambda result, args: unloaded(result.diagnostics, args),
)
def list_(result: ListResult) -> Iterator[Block]:
    """List every skill.

    Prints name, layout, estimated tokens and tags of every skill, and the files that did not load.

        skillyard list
        skillyard list ~/skills --tag git
        skillyard list --json
    """
    from skillyard.cli.cards import listing

    return listing(result)


@command("check", request="skillyard.check.operations.library_check:CheckRequest")
def check(request: CheckRequest, args: Namespace, console: Console) -> int:
    """Check skill files for errors.

    Exits with 1 when a finding is an error, with --strict also when one is a warning, with --diff
    when something is fixable, with 2 when nothing was looked at.

        skillyard check
        skillyard check --profile spec --strict skills/
        skillyard check --diff skills/
        skillyard check --format sarif
    """
    from skillyard.check.operations.library_check import check_paths
    from skillyard.check.validation.config import CheckConfig
    from skillyard.cli.findings import check_blocks

    if console.json and request.format not in ("text", "json"):
        raise InvalidInput(_TWO_FORMS)
    if request.fix and request.diff:
        raise InvalidInput("--fix writes and --diff only shows: name one of them")
    if request.diff and (console.json or request.format != "text"):
        raise InvalidInput("--diff prints a diff: leave out --json and --format")
    if args.scope and (request.fix or request.diff):
        raise InvalidInput("--fix and --diff change named folders: name them, without --scope")
    if request.config and request.no_config:
        raise InvalidInput("--config names a file and --no-config uses none: name one of them")
    paths, library = _places(request, args)
    result, plans = check_paths(
        paths,
        fix=request.fix,
        profile=request.profile,
        config=CheckConfig.read(request.config) if request.config else None,
        find_config=not request.no_config,
        library=library,
    )
    if request.diff:
        return _diff(plans, console)
    if not console.json and request.format in ("sarif", "github"):
        for each in result.refused:
            console.note(f"{each.path}: {each.message}; {each.hint}")
    _show_findings(result, check_blocks(result), request.format, console)
    return NEGATIVE if result.fails(strict=request.strict) else 0


def _places(request: CheckRequest, args: Namespace) -> tuple[list[str], LibrarySpec | None]:
    """Return the paths to check one by one, and the library to check as one, as ``list`` reads it.

    Beside scopes, folders are its roots.
    """
    folders = [path for path in request.path if args.scope and os.path.isdir(path)]
    paths = [path for path in request.path if path not in folders]
    library = unbound_library_of(args, folders, request.path)
    if library is None or library.scopes or len(library.roots) > 1:
        return paths, library
    return [*paths, *library.roots], None


def _diff(plans: Sequence[FixPlan], console: Console) -> int:
    for plan in plans:
        console.write(plan.diff())
    fixable = sum(len(plan.fixes) for plan in plans)
    console.note(
        f"{fixable:,} fixable in {plural(len(plans), 'file')}: run with --fix instead"
        if plans
        else "nothing is fixable"
    )
    return NEGATIVE if plans else 0


@command("scan", request="skillyard.check.operations.skill_scan:ScanRequest")
def scan(request: ScanRequest, args: Namespace, console: Console) -> int:
    """Scan skills for malicious techniques.

    Reads every file of each skill and runs nothing. Exits with 1 when a finding is high, with
    --strict also when one is medium, with 2 when nothing was looked at. Findings that the lock file
    accepts are counted and do not fail.

        skillyard scan ~/.claude/skills
        skillyard scan git-bisect --strict
        skillyard scan skills/ --format sarif
    """
    from skillyard.base.io.processes import processors
    from skillyard.check.operations.skill_scan import scan_skills
    from skillyard.cli.findings import scan_blocks
    from skillyard.install.copies.lockfile import is_of_project
    from skillyard.install.copies.verdict import lock_for_scan

    if console.json and request.format not in ("text", "json"):
        raise InvalidInput(_TWO_FORMS)
    # Where a skill is named, --root and --scope say where it is looked up.
    named = not all(map(os.path.lexists, request.path))
    lock = lock_for_scan(request.lock)
    result = scan_skills(
        request.path,
        load=lambda: load(args, console),
        library=None if named else unbound_library_of(args, paths=request.path),
        jobs=processors(),
        accepted=lock.accepted,
        lock=lock.path,
        is_own=bool if request.lock else partial(is_of_project, lock.path),
        publishers=lock.publishers,
    )
    _show_findings(result, scan_blocks(result), request.format, console)
    return NEGATIVE if result.fails(strict=request.strict) else 0


def _show_findings(
    result: Checked | Scanned, blocks: Iterable[Block], format: str, console: Console
) -> None:
    """Print the result of ``check`` or ``scan`` in the form of ``--format``.

    Raises InvalidInput afterwards where not a single file was looked at.
    """
    if console.json or format == "json":
        console.document(result)
    elif format == "text":
        console.print(*blocks)
    elif text := result.render(format):
        console.write(text)
    if not result.files:
        raise InvalidInput(f"nothing was looked at: {no_skills(list(result.paths), result.scopes)}")


@view_of(
    "skillyard.check.operations.new_skill:write_new_skill",
    "new",
    value("name", "NAME", "the skill's name: a-z, 0-9 and -"),
    value("--from", "DIR", "copy this skill's folder, with the new name", dest="template"),
    value("--into", "DIR", "the folder that gets the skill's folder", default="."),
    notes=lambda result, _: [f"write over each …; skillyard check {result.path} says what is left"],
)
def new(result: NewSkill) -> Iterator[Block]:
    """Write the folder of a new skill.

    It loads, and check warns of what is still to be filled in.

        skillyard new csv-cleaning
        skillyard new csv-cleaning --into ~/.claude/skills
        skillyard new csv-cleaning --from skills/xlsx
    """
    folder = os.path.dirname(result.path)
    return (line(os.path.join(folder, each)) for each in result.files)


def _show_notes(result: ShowResult, args: Namespace) -> Iterator[str]:
    if args.section == "files" and not result.files:
        yield f"{result.card.skill.name} has no files beside its instructions"
    if args.section == "outline" and not result.outline:
        yield f"the instructions of {result.card.skill.name} have no headings"


@view_of(
    "skillyard.engine.operations.skill_details:show_skill",
    "show",
    value("name", "NAME", "name, id or slug of the skill"),
    value("--section", "S", "only this part: card, outline, body, files, or a heading"),
    flag("--references", "also print the documents beside the skill"),
    notes=_show_notes,
)
def show(result: ShowResult) -> Iterable[Block]:
    """Show one skill: card, outline, instructions, files.

    skillyard show git-bisect
    skillyard show git-bisect --section Steps
    """
    from skillyard.cli.cards import skill_blocks

    return skill_blocks(result)
