"""Figures that must stay within a limit, and the commands that end with 1 where one does not.

A ratio misses its limit when its best round does: the machine may be busy with something else.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import shared_folder
from benchmarks.measure import SOURCE, Figure, Options, Skipped

__all__ = ["Bound", "RunSettings", "command", "from_options"]


class Bound(NamedTuple):
    """A number with the most that it may be; shown and written like a ``Figure``."""

    what: str
    value: float
    most: float
    unit: str = ""
    note: str = ""

    @property
    def peer(self) -> str:
        """None, as for figures that are only for information."""
        return ""

    @property
    def ratios(self) -> None:
        """A bound is no ratio."""

    @property
    def target(self) -> None:
        """Its limit is ``most``."""

    @property
    def shown(self) -> str:
        """The number as it is read."""
        value = f"{self.value:,.0f}" if self.value == int(self.value) else f"{self.value:,.2f}"
        return f"{value} {self.unit}".rstrip()

    @property
    def limit(self) -> str:
        """The limit as it is read."""
        return f"{self.most:,g} {self.unit}".rstrip()

    @property
    def ours(self) -> str:
        """One line for the table of all benchmarks."""
        note = f" ({self.note})" if self.note else ""
        return f"{self.shown}; at most {self.limit}: {self.verdict}{note}"

    @property
    def verdict(self) -> str:
        """``ok`` or ``missed``."""
        return "ok" if self.value <= self.most else "missed"

    def to_dict(self) -> dict[str, Any]:
        """Return the figure for the JSON file."""
        return {**self._asdict(), "verdict": self.verdict}


class RunSettings(NamedTuple):
    """The options of one benchmark."""

    shared: Path
    rounds: int | None = None
    quick: bool = False
    """Small and short, to see that it still runs; its limits are looked at all the same."""
    keep: bool = False
    options: Any = None
    """The benchmark's own options."""


Row = Figure | Bound
Run = Callable[[RunSettings], Iterator[Row]]


def from_options(options: Options) -> RunSettings:
    """Return the settings for the options of ``python -m benchmarks``."""
    return RunSettings(options.shared, options.rounds, keep=options.keep)


def command(
    name: str,
    summary: str,
    run: Run,
    arguments: Sequence[str] | None = None,
    more: Callable[[argparse.ArgumentParser], None] | None = None,
) -> int:
    """Run one benchmark, print its table, and return 1 where a limit was missed."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=summary)
    parser.add_argument("--rounds", type=_positive, help="alternated rounds (default: by job)")
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON; - prints them")
    parser.add_argument("--shared", metavar="DIR", help="corpus, queries (SKILLYARD_SHARED)")
    parser.add_argument("--quick", action="store_true", help="small and short, for a first look")
    parser.add_argument("--keep", action="store_true", help="keep the skills written out")
    if more is not None:
        more(parser)
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(SOURCE))  # this checkout, whatever is installed
    table = sys.stderr if options.json == "-" else sys.stdout
    settings = RunSettings(
        shared_folder(options.shared), options.rounds, options.quick, options.keep, options
    )
    print(f"{name}: {summary}\n{machine()}", file=table)
    rows: list[Row] = []
    skipped = ""
    try:
        for row in run(settings):
            print("\n".join(_lines(row)), file=table, flush=True)
            rows.append(row)
    except Skipped as reason:
        skipped = str(reason)
        print(f"skipped: {reason}", file=table)
    missed = [row.what for row in rows if verdict_of(row) == "missed"]
    if any(verdict_of(row) for row in rows):
        print(f"limits missed: {', '.join(missed) or 'none'}", file=table)
    if options.json:
        document = _document(name, settings, rows, skipped, missed)
        text = json.dumps(document, indent=1) + "\n"
        if options.json == "-":
            print(text, end="")
        else:
            Path(options.json).write_text(text, encoding="utf-8")
    return 1 if missed else 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def machine() -> str:
    """Return what the figures were taken on, in a line."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"Python {platform.python_version()}, {platform.machine()}, {platform.system()},"
        f" {os.cpu_count()} cores{load}"
    )


def verdict_of(row: Row) -> str:
    """Return ``ok``, ``best ok`` (the median is over the limit, one round is not), ``missed``.

    Empty for a figure without a limit.
    """
    if isinstance(row, Bound):
        return row.verdict
    if row.ratios is None or row.target is None:
        return ""
    if row.ratios.median <= row.target:
        return "ok"
    return "best ok" if min(row.ratios.values) <= row.target else "missed"


def _lines(row: Row) -> Iterator[str]:
    if isinstance(row, Bound):
        yield f"  {row.what:58} {row.shown:>22}   at most {row.limit:12} {row.verdict}"
        if row.note:
            yield f"      {row.note}"
        return
    ratios = "" if row.ratios is None else str(row.ratios)
    limit = "" if row.target is None else f"at most {f'{row.target:g}x':12} {verdict_of(row)}"
    yield f"  {row.what:58} {ratios:>22}   {limit}".rstrip()
    yield f"      ours  {row.ours}" if row.peer else f"      {row.ours}"
    if row.peer:
        yield f"      peer  {row.peer}"


def _document(
    name: str, settings: RunSettings, rows: Sequence[Row], skipped: str, missed: Sequence[str]
) -> dict[str, Any]:
    return {
        "job": name,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "quick": settings.quick,
        "skipped": skipped,
        "missed": list(missed),
        "figures": [{**row.to_dict(), "verdict": verdict_of(row)} for row in rows],
    }
