"""``setup``: what the agents of this machine list, and the hook and server for each."""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from skillyard.base.errors import InvalidInput
from skillyard.base.text import shorten
from skillyard.cli.blocks import Block, Span, line
from skillyard.cli.commands.hooks import hook_library
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE, WRONG_USE
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
_CHOICE = re.compile("^skill: (.+)$|the skill `(.+?)`", re.MULTILINE)
"""The skill that an answer of the hook names."""


@command(
    "setup",
    flag("--yes", "change everything without asking"),
    flag("--dry-run", "show what would be changed"),
    flag("--undo", "restore every file that setup changed"),
)
def setup(args: Namespace, console: Console) -> int:
    """Set up the agents of this machine.

    Shows what the own listing of each agent loses, offers the prompt hook and the MCP server for
    each, and a log of choices with the text of requests. Then makes the hook's index, and shows
    what the hook answers to one request. Changes nothing without a yes: on a terminal it asks,
    elsewhere --yes says so. --undo restores every file byte for byte; a file that was changed since
    loses only what was added. The exit code is 2 where a file cannot be changed.

        skillyard setup
        skillyard setup --yes
        skillyard setup --undo
    """
    if args.undo and (args.yes or args.dry_run):
        raise InvalidInput("--undo goes alone")
    from skillyard.base.shapes.upkeep import SetupDone
    from skillyard.hosts.operations.setup import AGENTS, ask_hook, planned_steps, undo

    if args.undo:
        steps = tuple(undo())
        result = SetupDone(skills=0, listings=(), steps=steps, request="", chosen="")
        console.show(result, _changes)
        if not steps:
            console.remark("there is nothing to undo: setup has changed no file")
        return 0 if steps else NEGATIVE
    catalog = load(args, console, "hybrid")
    listings = tuple(_listings(catalog))
    if not console.json:
        console.print(*map(line, listings))
    changes = args.yes and not args.dry_run
    asks = console.can_confirm and not (args.yes or args.dry_run)
    steps = tuple(planned_steps())
    if changes or asks:
        steps = tuple(_decided(step, console, changes=changes) for step in steps)
    library = hook_library(args, console) if len(catalog) else None
    request = _request(library, console, asks=asks)
    answer, milliseconds = ask_hook(request) if request else ("", 0)
    choice = _CHOICE.search(answer)
    result = SetupDone(
        skills=len(catalog),
        listings=listings,
        steps=steps,
        request=request,
        chosen=(choice[1] or choice[2]) if choice else "",
        answer=answer,
        milliseconds=milliseconds,
    )
    console.show(result, _changes)
    if not any(step.host for step in steps):
        known = ", ".join(f"{agent.title} ({agent.folder})" for agent in AGENTS)
        console.remark(f"no agent is there; setup knows {known}")
    if not changes and not asks:
        console.remark("nothing was changed: --yes changes what is planned")
    return WRONG_USE if any(step.state == "refused" for step in steps) else 0


def _listings(catalog: Catalog) -> Iterator[str]:
    from skillyard.cli.cards import host_head
    from skillyard.engine.context.budget import estimate_tokens
    from skillyard.hosts.operations.prompts import host_summary_of
    from skillyard.hosts.operations.setup import agents_here

    for name in filter(None, (agent.listing for agent in agents_here())):
        summary = host_summary_of(catalog, name)
        yield f"{host_head(summary)}; {estimate_tokens(summary.text):,} tokens in each session"


def _decided(step: SetupStep, console: Console, *, changes: bool) -> SetupStep:
    """Return a planned step after it was carried out, or declined by the user."""
    from skillyard.hosts.operations.setup import apply

    if step.state != "planned":
        return step
    question = _QUESTIONS[step.what].format(title=step.title)
    if changes or console.confirm(f"{question}? ({step.note or step.file})"):
        return apply(step)
    return replace(step, state="declined", note="")


def _request(library: Catalog | None, console: Console, *, asks: bool) -> str:
    """Return the user's request to try, else one about the first skill; empty without a skill."""
    skills = library.candidates if library else ()
    skill = next((each for each in skills if not each.hidden), None)
    if skill is None:
        return ""
    question = "A request to try, as you would type it (Enter: one of ours):"
    ours = f"can you help me with {skill.name.replace('-', ' ')}?"
    return (console.ask(question) if asks else "") or ours


def _changes(result: SetupDone) -> Iterator[Block]:
    for step in result.steps:
        style = _STYLES.get(step.state, "low")
        what = f"  {step.title}: {step.what}  " if step.host else f"  {step.title}  "
        yield line(Span(step.state, style), what, Span(step.file, "name"))
        if step.note:
            yield line(step.note, indent=1)
    if result.request:
        nothing = ":" if result.answer else " nothing: none fits, or its time limit was too short"
        yield line(f"A test request: “{result.request}”")
        yield line(f"After {result.milliseconds:,} ms the hook answers{nothing}")
        for each in result.answer.splitlines():
            yield line(shorten(each, 200), indent=2)
