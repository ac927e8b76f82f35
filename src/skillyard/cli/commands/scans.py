"""``scan``: malicious techniques in skills."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skillyard.cli.commands.evaluation_options import OPTIONS, add_options
from skillyard.cli.console import Console
from skillyard.cli.exit_codes import INTERRUPTED, NEGATIVE
from skillyard.cli.options import file_path
from skillyard.cli.parser import add_command

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands
    from skillyard.remote.install.accepted import Accepted
    from skillyard.shapes.scans import ScanReader, ScanTool
    from skillyard.usecases.scan_units import ScanUnit
    from skillyard.usecases.skill_scan import OtherScanner, Reader, Scanned


def add_scan_command(commands: Commands) -> None:
    """Declare ``scan``."""
    parser = add_command(
        commands,
        "scan",
        "scan skills for malicious techniques",
        run=scan,
        about=(
            "Reads every file of each skill and runs nothing. Exits with 1 when a finding is "
            "high, with --strict also when one is medium, with 2 when nothing was looked at. "
            "Findings that the lock file accepts are counted and do not fail. With --reader a "
            "model reads the files too: they are sent to its provider, and what it says is "
            "labelled and counted apart. The exit code is then also 1 for its own high finding and "
            "for a skill on which it gave no usable answer, and 3 when a budget, an interrupt or a "
            "failing server stopped it."
        ),
        examples=(
            "skillyard scan ~/.claude/skills",
            "skillyard scan git-bisect --strict",
            "skillyard scan skills/ --format sarif",
            "skillyard scan skills/ --reader claude-haiku-4-5 --dry-run",
            "skillyard scan skills/ --also cisco",
        ),
    )
    parser.add_argument(
        "path",
        metavar="PATH|NAME",
        nargs="*",
        default=[],
        type=file_path,
        help="skill folders, skill files, roots, or names of skills (default: .)",
    )
    parser.add_argument(
        "--format",
        metavar="NAME",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="how to print: text, json, sarif, github",
    )
    parser.add_argument("--strict", action="store_true", help="also fail on medium findings")
    parser.add_argument(
        "--lock",
        metavar="FILE",
        type=file_path,
        help="the lock file whose accepted findings are taken out (default: that of this project)",
    )
    parser.add_argument(
        "--also",
        metavar="NAME",
        choices=("cisco",),
        help="run this scanner too, if it is installed: cisco (cisco-ai-skill-scanner)",
    )
    parser.add_argument(
        "--reader",
        metavar="MODEL",
        help="have this model read the files too; its key comes from the environment",
    )
    for name, about in _READER_HELP.items():
        parser.add_argument(name, **{**OPTIONS[name], "help": about})
    add_options(parser, "--provider", "--base-url", "--concurrency")


def scan(args: Namespace, console: Console) -> int:
    """Print the findings; 1 when one of them is high."""
    from skillyard.cli.source import load, refuse_nothing, unbound_library_of
    from skillyard.io.processes import processors
    from skillyard.usecases.skill_scan import scan_skills

    # Where a skill is named, --root and --scope say where it is looked up.
    named = not all(map(os.path.lexists, args.path))
    result = scan_skills(
        args.path,
        load=lambda: load(args, console),
        library=None if named else unbound_library_of(args),
        lock=args.lock,
        jobs=processors(),
        reader=_reader(args, console),
        also=_also(args),
    )
    if console.json or args.format == "json":
        console.document(result)
    elif args.format == "text":
        from skillyard.cli.scan_views import scan_blocks

        if result.files or result.findings:
            console.print(*scan_blocks(result))
    else:
        if text := result.render(args.format):
            console.write(text)
        _note_gaps(result, console)
    refuse_nothing(result)
    if result.fails(strict=args.strict):
        return NEGATIVE
    others = [each for each in (result.reader, result.also) if each is not None]
    if result.reader is not None and result.reader.stopped:
        return INTERRUPTED
    return NEGATIVE if any(each.unread for each in others) else 0


def _note_gaps(result: Scanned, console: Console) -> None:
    """Say what formats without a place for it do not have."""
    from skillyard.text import plural

    reader = result.reader
    if result.also is not None and result.also.unread:
        unread = plural(len(result.also.unread), "skill")
        console.note(f"{unread} not scanned by {result.also.tool}; --json says why")
    if reader is None:
        return
    if reader.stopped:
        console.note(f"reader stopped: {reader.stopped}")
    if reader.unread:
        unread = plural(len(reader.unread), "part")
        console.note(f"{unread} not read by the reader; --json says why")
    if reader.dropped:
        dropped = plural(len(reader.dropped), "finding")
        verb = "was" if len(reader.dropped) == 1 else "were"
        console.note(f"{dropped} of the reader {verb} dropped; --json says why")


def _also(args: Namespace) -> OtherScanner | None:
    if args.also is None:
        return None

    def scan(units: Mapping[str, ScanUnit], accepted: Sequence[Accepted]) -> ScanTool:
        from skillyard.io.processes import processors
        from skillyard.usecases.second_opinion import scan_with_cisco

        return scan_with_cisco(units, accepted, jobs=processors())

    return scan


def _reader(args: Namespace, console: Console) -> Reader | None:
    """Return what has a model read the skills; None without --reader. Raises InvalidInput."""
    given = {
        name: value
        for name in _READER_OPTIONS
        # 0 is a limit, and equals False.
        if (value := getattr(args, name)) is not None and value is not False
    }
    if args.reader is None:
        if given:
            from skillyard.errors import InvalidInput

            option = f"--{min(given).replace('_', '-')}"
            raise InvalidInput(f"{option} is for a second reader: add --reader MODEL")
        return None

    def read(units: Mapping[str, ScanUnit], accepted: Sequence[Accepted]) -> ScanReader:
        from skillyard.cli.interrupts import stop_on_interrupt
        from skillyard.usecases.second_opinion import ReaderOptions, read_skills

        options = ReaderOptions(args.reader, **given)
        with stop_on_interrupt() as stop:
            return read_skills(units, accepted, options, stop=stop, warn=console.note)

    return read


_READER_HELP = {
    "--dry-run": "with --reader: say what would be sent and its price; send no request",
    "--max-cost": "stop before spending more (US dollars)",
    "--max-calls": "stop before sending more requests",
    "--regenerate": "request every answer of the reader again",
}
"""Options of ``eval`` commands whose help differs here."""
_READER_OPTIONS = (
    *("provider", "base_url", "max_cost", "max_calls", "concurrency", "regenerate", "dry_run"),
)
"""Options of the second reader, by the same name."""


COMMANDS = {"scan": add_scan_command}
