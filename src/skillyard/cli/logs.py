"""``log show`` and ``log replay``."""

from __future__ import annotations

import os
from typing import Any

from skillyard.cli.console import Console
from skillyard.cli.quick import Values
from skillyard.errors import InvalidInput

__all__ = ["log_replay", "log_show"]

NEGATIVE = 1


def _path(values: Values) -> str:
    """Return the log that was named, or the one of the environment. Raises InvalidInput."""
    from skillyard.decisions import LOG

    path = values.log or os.environ.get(LOG)
    if not path:
        raise InvalidInput(f"which log? name the file, or set {LOG}")
    return str(path)


def log_show(values: Values, console: Console) -> int:
    """Print the last entries of a log."""
    from skillyard.decisions.log_reader import read_log

    if values.hook:
        from skillyard.hook.journal import journal_path

        path = values.log or journal_path()
        if not os.path.exists(path):
            console.note(f"the hook has had nothing to say: there is no {path}")
            if console.json:
                console.document(_nothing(path))
            return 0
    else:
        path = _path(values)
    found = read_log(path, values.limit)
    if console.json:
        console.document(found.to_dict())
        return 0
    for entry in found.entries:
        console.print(_entry_line(entry))
    if found.unreadable:
        from skillyard.text import plural

        console.note(f"passed over {plural(found.unreadable, 'line')} that cannot be read")
    return 0


def _nothing(path: str) -> dict[str, Any]:
    from skillyard.decisions.log_reader import LogTail

    return LogTail(path, (), 0, 0).to_dict()


def _entry_line(entry: dict[str, Any]) -> Any:
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
    asked = str(query.get("text") or str(query.get("digest", ""))[:19])
    behind = f"  before {others}" if others else ""
    return line(
        Span(when, "dim"),
        f"  {shorten(str(entry.get('use', '')), 10)}  ",
        Span(shorten(chosen, 200) if chosen else "abstained", "name" if chosen else "low"),
        shorten(behind, 200) and f"  {shorten(behind, 200)}",
        Span(f"  {shorten(asked, 80)}", "dim"),
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _named(match: object) -> str:
    if not isinstance(match, dict):
        return "?"
    score = match.get("score")
    shown = f" {score:.2f}" if isinstance(score, int | float) else ""
    return f"{match.get('slug', '?')}{shown}"


def log_replay(values: Values, console: Console) -> int:
    """Print what moved; 1 when anything did."""
    from skillyard.cli.source import load, note_unloaded
    from skillyard.text import plural
    from skillyard.usecases.measuring import bench_replay

    path = _path(values)
    catalog = load(values, console)
    found = bench_replay(catalog, path)
    if console.json:
        console.document({**found.to_dict(), "schema": "skillyard.log-replay/1"})
    else:
        from skillyard.cli.views import replay_table

        console.print(*replay_table(found))
        note_unloaded(catalog.diagnostics, values, console)
    if found.skipped:
        what = plural(found.skipped, "entry").replace("entrys", "entries")
        console.note(f"passed over {what} without the text of the request")
    return NEGATIVE if found.moved else 0
