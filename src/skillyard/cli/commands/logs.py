"""``log``: the decision log."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from skillyard.cli.console import Console
from skillyard.cli.exit_codes import NEGATIVE
from skillyard.cli.options import add_limit, file_path
from skillyard.cli.parser import add_command, add_group
from skillyard.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillyard.cli.blocks import Block
    from skillyard.cli.parser import Commands
    from skillyard.shapes.logs import LogTail


def _path(args: Namespace) -> str:
    """Return the log that was named, or the one of the environment. Raises InvalidInput."""
    from skillyard.decisions import LOG

    path = args.log or os.environ.get(LOG)
    if not path:
        raise InvalidInput(f"which log? name the file, or set {LOG}")
    return str(path)


def add_log_show_command(commands: Commands) -> None:
    """Declare ``log show``."""
    parser = add_command(
        commands,
        "show",
        "print the last entries of a decision log",
        run=log_show,
        about=(
            "SKILLYARD_LOG=FILE logs every selection as one line of JSON, with a digest of "
            "the request; SKILLYARD_LOG_TEXT=1 also logs its text."
        ),
        examples=("skillyard log show decisions.jsonl", "skillyard log show --hook --limit 5"),
    )
    parser.add_argument(
        "log", metavar="LOG", nargs="?", type=file_path, help="the log (default: SKILLYARD_LOG)"
    )
    parser.add_argument(
        "--hook",
        action="store_true",
        help="read the prompt hook's own log, which says why answers were empty",
    )
    add_limit(parser, "show the last K entries", 20)


def log_show(args: Namespace, console: Console) -> int:
    """Print the last entries of a log."""
    from skillyard.decisions.log_reader import read_log

    if args.hook:
        from skillyard.hook.journal import journal_path

        path = args.log or journal_path()
        if not os.path.exists(path):
            console.note(f"the hook has had nothing to say: there is no {path}")
            from skillyard.shapes.logs import LogTail

            console.show(LogTail(log=path, entries=(), total=0, unreadable=0), _entries)
            return 0
    else:
        path = _path(args)
    result = read_log(path, args.limit)
    console.show(result, _entries)
    if result.unreadable and not console.json:
        from skillyard.text import plural

        console.note(f"passed over {plural(result.unreadable, 'line')} that cannot be read")
    return 0


def _entries(result: LogTail) -> Iterator[Block]:
    return map(_entry_line, result.entries)


def _entry_line(entry: Mapping[str, Any]) -> Block:
    """Draw one entry; its fields may be anything, since others can write to the file."""
    from skillyard.cli.blocks import Span, line
    from skillyard.text import shorten

    when = shorten(str(entry.get("time", "")), 24)
    if str(entry["schema"]).startswith("skillyard.hook-event/"):
        what = f"{entry.get('host', '')}  {entry.get('event', '')}  {entry.get('message', '')}"
        return line(Span(when, "dim"), f"  {shorten(what, 400)}")
    chosen = ", ".join(_named(match) for match in _list(entry.get("selected")))
    others = ", ".join(_named(match) for match in _list(entry.get("runners_up"))[:2])
    query = entry.get("query")
    query = query if isinstance(query, dict) else {}
    request = str(query.get("text") or str(query.get("digest", ""))[:19])
    behind = f"  before {others}" if others else ""
    return line(
        Span(when, "dim"),
        f"  {shorten(str(entry.get('use', '')), 10)}  ",
        Span(shorten(chosen, 200) if chosen else "abstained", "name" if chosen else "low"),
        shorten(behind, 200) and f"  {shorten(behind, 200)}",
        Span(f"  {shorten(request, 80)}", "dim"),
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _named(match: object) -> str:
    if not isinstance(match, dict):
        return "?"
    score = match.get("score")
    shown = f" {score:.2f}" if isinstance(score, int | float) else ""
    return f"{match.get('slug', '?')}{shown}"


def add_log_replay_command(commands: Commands) -> None:
    """Declare ``log replay``."""
    parser = add_command(
        commands,
        "replay",
        "run logged queries again, and list the changes",
        run=log_replay,
        about="Needs a log with text. The exit code is 1 when a result differs.",
        examples=("skillyard log replay decisions.jsonl --root skills",),
    )
    parser.add_argument(
        "log", metavar="LOG", nargs="?", type=file_path, help="the log (default: SKILLYARD_LOG)"
    )


def log_replay(args: Namespace, console: Console) -> int:
    """Print what moved; 1 when anything did."""
    from skillyard.cli.source import load, note_unloaded
    from skillyard.shapes.benchmarks import LogReplay
    from skillyard.shapes.encoder import from_attributes
    from skillyard.text import plural
    from skillyard.usecases.benchmarks import bench_replay

    path = _path(args)
    catalog = load(args, console)
    result = bench_replay(catalog, path)
    from skillyard.cli.views import replay_table

    console.show(from_attributes(LogReplay, result), replay_table)
    note_unloaded(catalog.diagnostics, args, console)
    if result.skipped:
        what = plural(result.skipped, "entry").replace("entrys", "entries")
        console.note(f"passed over {what} without the text of the request")
    return NEGATIVE if result.moved else 0


def add_log_group(commands: Commands) -> None:
    """Declare ``log`` and its commands."""
    group = add_group(commands, "log", "the decision log")
    add_log_show_command(group)
    add_log_replay_command(group)


COMMANDS = {"log": add_log_group}
