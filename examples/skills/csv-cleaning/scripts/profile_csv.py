#!/usr/bin/env python3
"""Profile a delimited text file: encoding, delimiter, ragged rows and what each column holds.

Reads one file and prints one JSON document. Changes nothing, opens nothing else.
Exit status: 0 profiled, 2 wrong use or unreadable file.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import re
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

MAX_BYTES = 64 * 1024 * 1024
MAX_DISTINCT = 1_000
DELIMITERS = (",", ";", "\t", "|")
MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
KINDS = (
    ("blank", re.compile(r"\s*")),
    ("integer", re.compile(r"[+-]?(0|[1-9][0-9]*)")),
    ("leading_zero", re.compile(r"0[0-9]+")),
    ("decimal_point", re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})*\.[0-9]+|[+-]?[0-9]+\.[0-9]+")),
    ("decimal_comma", re.compile(r"[+-]?[0-9]{1,3}(\.[0-9]{3})*,[0-9]+|[+-]?[0-9]+,[0-9]+")),
    ("iso_date", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].{0,20})?")),
    ("slash_date", re.compile(r"[0-9]{1,2}[/.][0-9]{1,2}[/.]([0-9]{2}|[0-9]{4})")),
    ("placeholder", re.compile(r"n/?a|null|none|nan|-+|\?+|unknown|tbd", re.IGNORECASE)),
)


def kind_of(value: str) -> str:
    """Name the first pattern that fits the whole value.

    >>> [kind_of(v) for v in ("", "12", "007", "1.234,50", "2024-05-06", "N/A", "blue")]
    ['blank', 'integer', 'leading_zero', 'decimal_comma', 'iso_date', 'placeholder', 'text']
    """
    stripped = value.strip()
    return next((name for name, pattern in KINDS if pattern.fullmatch(stripped)), "text")


def guess_delimiter(lines: list[str]) -> str:
    """Pick the delimiter whose count per line is above zero and varies least.

    >>> guess_delimiter(["a;b;c", "1,5;2;3", "1;2;3"])
    ';'
    """

    def agreement(delimiter: str) -> tuple[int, int]:
        counts = Counter(line.count(delimiter) for line in lines)
        width, votes = max(counts.items(), key=lambda item: (item[0] > 0, item[1], item[0]))
        return (votes if width else 0, width)

    return max(DELIMITERS, key=agreement)


def decode(data: bytes) -> tuple[str, str]:
    """Return the text and the name of the encoding that reads it without error."""
    marked = next((name for mark, name in MARKS if data.startswith(mark)), "utf-8")
    for encoding in (marked, "cp1252"):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def profile_column(name: str, values: list[str]) -> dict[str, object]:
    """Count kinds, distinct values and stray spaces of one column."""
    kinds = Counter(map(kind_of, values))
    filled = [value for value in values if value.strip()]
    distinct = set(islice(dict.fromkeys(filled), MAX_DISTINCT + 1))
    return {
        "name": name,
        "kinds": dict(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))),
        "distinct": min(len(distinct), MAX_DISTINCT),
        "distinct_capped": len(distinct) > MAX_DISTINCT,
        "padded": sum(value != value.strip() for value in filled),
        "longest": max(map(len, values), default=0),
        "most_frequent": [[value[:60], n] for value, n in Counter(filled).most_common(3)],
    }


def profile(text: str, delimiter: str | None, max_rows: int) -> dict[str, object]:
    """Profile decoded text.

    >>> result = profile("id,city\\n1,Bonn\\n2\\n2, Ulm\\n", None, 100)
    >>> result["rows"], result["ragged_lines"], result["duplicate_rows"]
    (3, [3], 0)
    """
    delimiter = delimiter or guess_delimiter([ln for ln in text.splitlines()[:50] if ln])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header = next(reader, [])
    rows: list[list[str]] = []
    ragged: list[int] = []
    for row in islice(reader, max_rows):
        rows.append(row)
        if len(row) != len(header):
            ragged.append(reader.line_num)
    truncated = next(reader, None) is not None
    columns = [[row[i] if i < len(row) else "" for row in rows] for i in range(len(header))]
    return {
        "delimiter": delimiter,
        "columns": [profile_column(n, c) for n, c in zip(header, columns, strict=True)],
        "duplicate_headers": sorted(n for n, k in Counter(header).items() if k > 1),
        "rows": len(rows),
        "rows_capped": truncated,
        "ragged_lines": ragged[:20],
        "ragged_count": len(ragged),
        "duplicate_rows": len(rows) - len(set(map(tuple, rows))),
    }


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line, print the profile as JSON, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", type=Path, help="the CSV or TSV file (64 MiB at most)")
    parser.add_argument("--delimiter", help="do not guess: one character, or 'tab'")
    parser.add_argument("--max-rows", type=int, default=100_000, help="rows read (default 100000)")
    options = parser.parse_args(arguments)
    delimiter = "\t" if options.delimiter == "tab" else options.delimiter
    if delimiter is not None and len(delimiter) != 1:
        parser.error("--delimiter takes one character or 'tab'")
    if options.max_rows < 1:
        parser.error("--max-rows must be at least 1")
    try:
        with options.file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        print(f"{options.file}: {error.strerror}", file=sys.stderr)
        return 2
    if len(data) > MAX_BYTES:
        print(f"{options.file}: larger than 64 MiB, profile a part of it", file=sys.stderr)
        return 2
    text, encoding = decode(data)
    try:
        result = profile(text, delimiter, options.max_rows)
    except csv.Error as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"encoding": encoding, **result}, ensure_ascii=False, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
