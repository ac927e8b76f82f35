"""The pages of the documentation and the fenced blocks in them.

Conventions that an author of a page needs to know:

* ``python`` blocks of a page run in order, in one namespace, in a folder that holds a copy of
  ``examples/``. What a block prints is compared with the ``text`` block that follows it directly.
* ``console`` blocks hold lines ``$ command`` with the output below them, both streams together.
* a block with ``title="some/path"`` is written to that path before the page goes on.
* a line ``...`` in expected output stands for any number of lines.
* every other block (``sh``, ``yaml``, ``json``) is shown and not run.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.shared_data import REPOSITORY

__all__ = ["GENERATED", "Block", "blocks", "headings", "links", "pages", "prose", "written_pages"]

_REFERENCE = REPOSITORY / "docs" / "reference"
_WRITTEN = ("cli", "diagnostics", "hosts", "python", "scan-rules")
GENERATED = frozenset(_REFERENCE / f"{name}.md" for name in _WRITTEN)
"""The pages that ``tools/reference.py`` writes whole."""

_FENCE = re.compile(r"( *)(`{3,}|~{3,})\s*([A-Za-z]*)(.*)")
_TITLE = re.compile(r'title="([^"]+)"')
_LINK = re.compile(r"\[[^\]\n]*\]\(([^()\s]+)\)")


class Block(NamedTuple):
    """One fenced block."""

    language: str
    title: str
    """The path it is to be written to, or nothing."""
    text: str
    line: int
    """1-based line of the opening fence."""
    end: int
    """1-based line of the closing fence."""
    indent: str


def pages() -> list[Path]:
    """Return every page: the README files and all of ``docs/``."""
    examples = REPOSITORY / "examples"
    folders = (REPOSITORY, examples, examples / "plugin", REPOSITORY / "testkit")
    found = [folder / "README.md" for folder in folders]
    return [*found, *sorted((REPOSITORY / "docs").rglob("*.md"))]


def written_pages() -> list[Path]:
    """Return the pages that people write."""
    return [page for page in pages() if page not in GENERATED]


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        fence = _FENCE.fullmatch(lines[number])
        number += 1
        if fence is None:
            continue
        indent, ticks, language, rest = fence.groups()
        start = number
        while number < len(lines) and lines[number].strip() != ticks:
            number += 1
        inside = [line.removeprefix(indent) for line in lines[start:number]]
        title = _TITLE.search(rest)
        found.append(
            Block(
                language,
                title.group(1) if title else "",
                "\n".join(inside),
                start,
                number + 1,
                indent,
            )
        )
        number += 1
    return found


def prose(text: str) -> str:
    """Return a page without its fenced blocks; line numbers stay."""
    lines = text.split("\n")
    for block in blocks(text):
        lines[block.line - 1 : block.end] = [""] * (block.end - block.line + 1)
    return "\n".join(lines)


def headings(text: str) -> set[str]:
    """Return the anchors of a page's headings, as the usual hosts make them."""
    titles = re.findall(r"^#{1,6}\s+(.+)$", prose(text), re.MULTILINE)
    return {_anchor(title) for title in titles}


def _anchor(title: str) -> str:
    plain = re.sub(r"[^\w\- ]", "", title.strip().lower())
    return plain.replace(" ", "-")


def links(text: str) -> list[str]:
    """Return the targets of a page's Markdown links that lead to files or headings."""
    targets = _LINK.findall(prose(text))
    return [target for target in targets if "://" not in target]
