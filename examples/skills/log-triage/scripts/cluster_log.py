#!/usr/bin/env python3
"""Group log lines by template: the same message with other numbers, ids or times counts as one.

Reads a file or standard input and prints one JSON document, most frequent template first.
Exit status: 0 done, 2 wrong use or unreadable file.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

MAX_LINE = 2_000
MAX_TEMPLATES = 20_000
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?")
# Order matters: what looks like a number inside an id must be taken by the id first.
MASKS = (
    (re.compile(TIME.pattern + r"([.,][0-9]{1,9})?(Z|[+-][0-9:]{4,5})?"), "<time>"),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "<uuid>"),
    (re.compile(r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?\b"), "<ip>"),
    (re.compile(r"\b0x[0-9a-fA-F]{1,16}\b"), "<hex>"),
    (re.compile(r"\b(?=[0-9a-f]{0,63}[0-9])[0-9a-f]{12,64}\b"), "<hash>"),
    (re.compile(r'"[^"]{0,200}"'), "<text>"),
    (re.compile(r"(?<![A-Za-z])[0-9]+(?:\.[0-9]+)?"), "<n>"),
)
LEVEL = re.compile(r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b")


def template_of(line: str) -> str:
    """Replace the variable parts of a line.

    >>> template_of('2024-05-06 10:11:12 ERROR pay 10.0.0.7:443 took 31.5s for "ann"')
    '<time> ERROR pay <ip> took <n>s for <text>'
    """
    for pattern, mask in MASKS:
        line = pattern.sub(mask, line)
    return line


@dataclass(slots=True)
class Group:
    """All lines of one template."""

    template: str
    first_line: int
    example: str
    level: str | None = None
    count: int = 0
    last_line: int = 0
    times: list[str] = field(default_factory=list)
    """The first and the last time stamp seen, at most two entries."""

    def add(self, number: int, line: str) -> None:
        """Count one more line."""
        self.count += 1
        self.last_line = number
        stamp = TIME.search(line)
        if stamp:
            self.times[1:] = [stamp.group()] if self.times else []
            self.times = self.times or [stamp.group()]


def cluster(lines: Iterable[str]) -> tuple[list[Group], int]:
    """Group lines; the second value counts lines dropped when there were too many templates.

    >>> groups, dropped = cluster(["ERROR job 1 failed", "INFO ok", "ERROR job 22 failed"])
    >>> [(g.template, g.count, g.level, g.last_line) for g in groups]
    [('ERROR job <n> failed', 2, 'ERROR', 3), ('INFO ok', 1, 'INFO', 2)]
    """
    groups: dict[str, Group] = {}
    dropped = 0
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r\n")[:MAX_LINE]
        if not line.strip():
            continue
        template = template_of(line)
        group = groups.get(template)
        if group is None:
            if len(groups) >= MAX_TEMPLATES:
                dropped += 1
                continue
            level = LEVEL.search(line)
            group = Group(template, number, line[:300], level.group() if level else None)
            groups[template] = group
        group.add(number, line)
    return sorted(groups.values(), key=lambda g: (-g.count, g.first_line)), dropped


def describe(group: Group) -> dict[str, object]:
    """The group as JSON-ready values."""
    return {
        "count": group.count,
        "level": group.level,
        "template": group.template[:300],
        "first_line": group.first_line,
        "last_line": group.last_line,
        "first_time": group.times[0] if group.times else None,
        "last_time": group.times[-1] if group.times else None,
        "example": group.example,
    }


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the groups as JSON, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", nargs="?", default="-", help="log file, or - for standard input")
    parser.add_argument("--top", type=int, default=20, help="groups printed (default 20)")
    parser.add_argument("--rare", action="store_true", help="print the rarest groups instead")
    parser.add_argument("--level", action="append", help="only this level (may repeat)")
    parser.add_argument("--max-lines", type=int, default=1_000_000, help="lines read")
    options = parser.parse_args(arguments)
    if options.max_lines < 1:
        parser.error("--max-lines must be at least 1")
    try:
        if options.file == "-":
            groups, dropped = cluster(islice(sys.stdin, options.max_lines))
        else:
            with Path(options.file).open(encoding="utf-8", errors="replace") as stream:
                groups, dropped = cluster(islice(stream, options.max_lines))
    except OSError as error:
        print(f"{options.file}: {error.strerror}", file=sys.stderr)
        return 2
    chosen = [g for g in groups if not options.level or g.level in options.level]
    if options.rare:
        chosen.sort(key=lambda g: (g.count, g.first_line))
    answer = {
        "lines": sum(g.count for g in groups) + dropped,
        "templates": len(groups),
        "lines_without_group": dropped,
        "groups": [describe(g) for g in chosen[: max(0, options.top)]],
    }
    print(json.dumps(answer, ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
