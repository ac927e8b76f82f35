"""``setup``: what the agents of this machine list, and the hook and server for each."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.cli.blocks import Block, Span, line
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import command, flag
from skillyard.cli.source import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.upkeep import SetupDone, SetupStep
    from skillyard.engine.catalog import Catalog

_QUESTIONS = {
    "hook": "Let skillyard choose a skill for each prompt in {title}",
    "mcp": "Register skillyard's MCP server in {title}",
    "log": "Log each choice on this machine, for `skillyard usage`",
}
_STYLES = {"done": "high", "present": "high", "undone": "high", "planned": "medium"}
_LISTED = ("claude-code", "codex", "copilot-cli")
"""The agents whose own listing is known, by the names of ``summary --host``."""
_REQUEST_WORDS = 12


@command(
    "setup",
    flag("--yes", "change everything without asking"),
    flag("--dry-run", "show what would be changed"),
    flag("--undo", "restore every file that setup changed"),
)
def setup(args: Namespace, console: Console) -> int:
    """Set up the agents of this machine.

    Shows what the own listing of each agent loses, offers the prompt hook and the MCP server for
    each, and a log of choices, and tries one request. Changes nothing without a yes: on a terminal
    it asks, elsewhere --yes says so. --undo restores every file byte for byte; a file that was
    changed since loses only what was added.

        skillyard setup
        skillyard setup --yes
        skillyard setup --undo
    """
    if args.undo and (args.yes or args.dry_run):
        raise InvalidInput("--undo goes alone")
    from skillyard.hosts.operations.setup import apply, planned_steps, undo

    if args.undo:
        steps = undo()
        console.show(_result(steps), _changes)
        if not steps:
            console.remark("there is nothing to undo: setup has changed no file")
        return 0 if steps else NEGATIVE
    catalog = load(args, console, "hybrid")
    listings = tuple(_listings(catalog))
    if not console.json:
        console.print(*(line(text) for text in listings))
    changes = args.yes and not args.dry_run
    asks = console.can_confirm and not (args.yes or args.dry_run)
    steps = [
        apply(step) if changes or (asks and _agreed(step, console)) else step
        for step in planned_steps()
    ]
    request, chosen = _try(catalog)
    result = _result(steps, len(catalog), listings, request, chosen)
    console.show(result, _changes)
    if not changes and not asks:
        console.remark("nothing was changed: --yes changes what is planned")
    return 0


def _result(
    steps: list[SetupStep],
    skills: int = 0,
    listings: tuple[str, ...] = (),
    request: str = "",
    chosen: str = "",
) -> SetupDone:
    from skillyard.base.shapes.upkeep import SetupDone

    return SetupDone(
        skills=skills, listings=listings, steps=tuple(steps), request=request, chosen=chosen
    )


def _listings(catalog: Catalog) -> Iterator[str]:
    """Yield for each agent what its own listing shows of the skills."""
    from skillyard.cli.cards import host_head
    from skillyard.hosts.operations.prompts import host_summary_of
    from skillyard.hosts.operations.setup import agents_here

    names = {"github-copilot": "copilot-cli"}
    for agent in agents_here():
        name = names.get(agent.name, agent.name)
        if name in _LISTED:
            yield host_head(host_summary_of(catalog, name))


def _agreed(step: SetupStep, console: Console) -> bool:
    if step.state != "planned":
        return False
    return console.confirm(f"{_QUESTIONS[step.what].format(title=step.title)}? ({step.file})")


def _try(catalog: Catalog) -> tuple[str, str]:
    """Ask for one skill in words of its description; return the request and what was chosen."""
    from skillyard.engine.selection import select

    first = next(iter(catalog), None)
    if first is None:
        return "", ""
    request = " ".join(first.description.split()[:_REQUEST_WORDS])
    best = select(catalog, request).best
    return request, "" if best is None else best.skill.name


def _changes(result: SetupDone) -> Iterator[Block]:
    for step in result.steps:
        style = _STYLES.get(step.state, "low")
        what = f"  {step.title}: {step.what}  " if step.host else f"  {step.title}  "
        yield line(Span(step.state, style), what, Span(step.file, "name"))
        if step.note:
            yield line(step.note, indent=1)
    if result.request:
        chosen = f"chooses {result.chosen}" if result.chosen else "chooses none"
        yield line(f"A test: “{result.request} …” ", Span(chosen, "name"))
