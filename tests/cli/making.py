"""Libraries for the tests of the command line, written to disk."""

from __future__ import annotations

from pathlib import Path

from tests.parity.trees import write_tree as write

__all__ = ["BENCH_QUERIES", "BENCH_SKILLS", "hostile_library", "library", "write"]

CSV = """\
---
name: csv-cleaning
description: Repairs messy CSV files. Use when an import fails.
tags: [data, etl]
keywords: [csv, delimiter]
triggers:
  files: ["*.csv"]
  phrases: [clean this csv]
license: Apache-2.0
allowed-tools: [Read, Bash]
---
# CSV cleaning

## Steps

1. Profile the file.
2. Fix the delimiter.

### Encoding

Write UTF-8.

```text
# not a heading
```

## Check

Rows in are rows out.
"""
BISECT = """\
---
name: git-bisect
description: Finds the commit that broke the build.
tags: [git, debugging]
keywords: [regression]
---
Mark one good commit and one bad commit, then halve.
"""
REVERT = """\
---
name: git-revert
description: Takes back the commit that broke the build.
tags: [git]
---
Revert, never rewrite what is published.
"""
HIDDEN = """\
---
name: wipe-disk
description: Erases a disk.
trigger: true
---
Ask twice.
"""
GENERALIST = """\
---
name: generalist
description: Anything else.
tags: [fallback]
---
Be polite.
"""
CHINESE = """\
---
name: 数据清洗
description: 清洗数据文件。
tags: [data]
---
清洗。
"""
BROKEN = """\
---
name: broken
description: [a, list]
---
Text.
"""


def library(root: Path) -> Path:
    """Write seven skills, one of them hidden, and one file that does not load."""
    return write(
        root,
        {
            "csv-cleaning/SKILL.md": CSV,
            "csv-cleaning/references/dates.md": "# Dates\n\nISO 8601.\n",
            "csv-cleaning/scripts/profile.py": "print('rows')\n",
            "git-bisect/SKILL.md": BISECT,
            "git-revert/SKILL.md": REVERT,
            ".skills/wipe-disk.md": HIDDEN,
            ".skills/generalist.md": GENERALIST,
            "数据清洗/SKILL.md": CHINESE,
            "AGENTS.md": "# House rules\n\nBe kind.\n",
            "broken/SKILL.md": BROKEN,
        },
    )


ATTACK = (
    "\x1b[2J\x1b]52;c;aGk=\x07\x1b]8;;http://x\x1b\\ \x9b31m\x90 \u202eevil\u2066\x7f\b\b\rovergone"
)
"""Clear screen, clipboard, link, C1, right-to-left, deletes, backspaces, carriage return."""


def hostile_library(root: Path) -> Path:
    """Write skills with terminal attacks wherever a file can hold them."""
    plain = "---\nname: {0}\ndescription: A {1} odd thing.\n{2}---\n{3}"
    return write(
        root,
        {
            "odd/SKILL.md": plain.format(
                "odd", "[red]very[/red] | `x` =1+1", "", f"odd {ATTACK}\n"
            ),
            "odd/references/note.md": f"# Note {ATTACK}\n",
            "heading/SKILL.md": plain.format("heading", "markup", "", f"# Odd {ATTACK}\n\nthing\n"),
            "escapes/SKILL.md": plain.format("escapes", "yaml", 'tags: ["\\e[2J", "a\\rb"]\n', "x"),
            "name/SKILL.md": plain.format('"\\e]0;odd\\a"', "named", "", "x"),
            "osc/SKILL.md": plain.format("osc", "unclosed", "", "odd \x1b]0;title\n"),
            "[bold]markup/SKILL.md": plain.format("bold", "[link=http://x]odd[/link]", "", "thing"),
            "broken\x1b[2Jfolder/SKILL.md": plain.format("folder", "odd", "", "thing"),
            ".skills/fields.md": plain.format("fields", "odd", f"hint: {ATTACK}\n", "thing"),
            "AGENTS.md": f"# Odd {ATTACK}\n\nthing\n",
        },
    )


BENCH_SKILLS = (
    {"id": "o/deploy", "name": "deploy", "description": "Deploy the app.", "text": "Ship it."},
    {"id": "o/query", "name": "query", "description": "Query a database.", "text": "Read."},
    {"id": "o/odd", "name": "odd\x1b[2J", "description": "Odd.", "tags": "a, b", "text": ATTACK},
)
BENCH_QUERIES = (
    {"id": "q1", "query": "deploy the app", "relevant": {"o/deploy": 3}, "kind": "plain"},
    {"id": "q2", "query": "database query", "relevant": {"o/query": 2, "o/odd": 1}, "kind": "kw"},
    {"id": "q3", "query": "xylophone", "relevant": {}},
)
