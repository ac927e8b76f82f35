"""``index``: the on-disk index of a library."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from skillyard.base.text import plural
from skillyard.cli.blocks import STYLES, Block, Span, line
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import command, library
from skillyard.cli.source import note_unloaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillyard.base.shapes.indexes import IndexBuilt, IndexStatus, IndexVerified


@command("index build", library())
def index_build(args: Namespace, console: Console) -> None:
    """Build the index of a library.

    The index is stored in the cache folder (SKILLYARD_CACHE, else XDG_CACHE_HOME, else ~/.cache; on
    Windows %LOCALAPPDATA%). It is updated automatically; rank, select and why always use it.

        skillyard index build
        skillyard index build skills
    """
    from skillyard.hosts.operations import library_index

    profile = args.library_profile
    with console.progress("indexing") as step:
        built = library_index.index_build(args.root, args.scope, profile=profile, progress=step)
    console.show(built, _built)
    note_unloaded(built.diagnostics, args, console)
    if built.hook_problem:
        console.note(f"prompt hooks over this library are not prepared: {built.hook_problem}")


def _built(result: IndexBuilt) -> Iterator[Block]:
    counts = {"added": result.added, "changed": result.changed, "removed": result.removed}
    did = ", ".join(f"{plural(number, 'file')} {what}" for what, number in counts.items() if number)
    what = f"{plural(result.skills, 'skill')}, {did or 'nothing changed'}"
    ready = "; ready for prompt hooks" if result.hook_folders else ""
    yield line(Span(result.folder, "name"), f"  {what}; generation {result.generation}{ready}")


@command("index status", library())
def index_status(args: Namespace, console: Console) -> int:
    """Show the state of the index of a library.

    The exit code is 1 unless the index is current.

        skillyard index status
    """
    from skillyard.hosts.operations import library_index

    result = library_index.index_status(args.root, args.scope, profile=args.library_profile)
    console.show(result, _state)
    return 0 if result.state == "current" else NEGATIVE


_NEXT = {
    "current": "it says what the files say",
    "stale": "files have changed; the next question brings it up to date",
    "missing": "the next question makes it; or: skillyard index build",
    "damaged": "the next question makes it anew; or: skillyard index build",
    "foreign": "another version made it; the next question makes it anew",
}


def _state(result: IndexStatus) -> Iterator[Block]:
    """Yield the state of an index, and the next step."""
    style = "high" if result.state == "current" else "medium"
    yield line(Span(result.state, style), f"  {_NEXT[result.state]}")
    yield line("folder  ", Span(result.folder, "name"), indent=1)
    if result.problem:
        yield line("problem  ", result.problem, indent=1)
    if result.generation:
        size = f"{plural(result.segments, 'segment')}, {result.bytes / 1e6:,.1f} MB"
        what = f"{plural(result.skills, 'skill')}, {size}, generation {result.generation}"
        yield line("holds   ", what, indent=1)


@command("index verify", library())
def index_verify(args: Namespace, console: Console) -> int:
    """Check every byte of the index of a library.

    The exit code is 1 when something is wrong.

        skillyard index verify
    """
    from skillyard.hosts.operations import library_index

    result = library_index.index_verify(args.root, args.scope, profile=args.library_profile)
    console.show(result, _faults)
    return 0 if result.sound else NEGATIVE


def _faults(result: IndexVerified) -> Iterator[Block]:
    if not result.findings:
        yield line(Span("sound", "high"), f"  every byte of {result.folder} is as it was written")
    for each in result.findings:
        about = f"  {each.path}: {each.message}"
        yield line(Span(each.severity, STYLES.get(each.severity, "dim")), about)
        if each.hint:
            yield line(f"try: {each.hint}", indent=1)
