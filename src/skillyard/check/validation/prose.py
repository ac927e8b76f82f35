"""Finds links, comments and file paths in the text of a Markdown body, outside of code.

This is not a Markdown parser. It is a scanner that recognises fenced and inline code. It takes
linear time, and the length of a link target is limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

_MAX_TARGET_CHARS = 500
_MAX_LINKS = 5_000
"""Limit for the links of one body. With the length limit it bounds the work."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:")
_PLACEHOLDER = re.compile(r"[<>{}$*|\\\s]|\.\.\.")
_MARKS = re.compile("`+")
# A path of a bundled file in running text, in inline code or in a command.
_PATH = re.compile(r"(?:scripts|references|assets)/[A-Za-z0-9_./-]{1,200}")
_BEFORE_PATH = frozenset(" \t\n`'\"(=")


class TextPlace(NamedTuple):
    """A text in a body, with its line."""

    text: str
    line: int
    """0-based line of the body."""


def _prose_lines(body: str) -> Iterator[tuple[int, str]]:
    """Yield (0-based line, text) of every line outside fenced code, without inline code."""
    fence = ""
    for number, line in enumerate(body.split("\n")):
        mark = line.lstrip()
        if fence:
            if mark.startswith(fence) and not mark.strip(fence[0] + " \t\r"):
                fence = ""
            continue
        opening = _opening(mark)
        if opening:
            fence = opening
        else:
            yield number, _without_code(line)


def _opening(mark: str) -> str:
    """Return the marks that open a fence, or an empty text."""
    char = mark[:1]
    if char not in ("`", "~") or not mark.startswith(char * 3):
        return ""
    run = len(mark) - len(mark.lstrip(char))
    return "" if char == "`" and "`" in mark[run:] else char * run


def _without_code(line: str) -> str:
    if "`" not in line:
        return line
    parts = _MARKS.split(line)
    if len(parts) % 2 == 0:  # an unpaired mark at the end is text
        parts[-2:] = [parts[-2] + " " + parts[-1]]
    return " ".join(parts[::2])


def links(body: str) -> Iterator[TextPlace]:
    """Yield the target of every inline link and image to a file. URLs and anchors are left out."""
    if "](" not in body:
        return
    remaining = _MAX_LINKS
    for number, line in _prose_lines(body):
        at = line.find("](")
        while at >= 0 and remaining > 0:
            remaining -= 1
            target = _file_target(_up_to_closing(line, at + 2))
            if target:
                yield TextPlace(target, number)
            at = line.find("](", at + 2)


def _up_to_closing(line: str, start: int) -> str:
    """Return the text before the closing parenthesis of a target, empty without one."""
    window = line[start : start + _MAX_TARGET_CHARS]
    depth = 0
    for offset, char in enumerate(window):
        if char == "(":
            depth += 1
        elif char == ")":
            if depth == 0:
                return window[:offset]
            depth -= 1
    return ""


def _file_target(text: str) -> str:
    """Return the path of a link target without title and anchor, empty when it is not a file."""
    target = text.strip()
    if target.startswith("<"):
        target = target[1:].partition(">")[0]
    else:
        target = target.partition(" ")[0]
    target = target.partition("#")[0].partition("?")[0]
    if _PLACEHOLDER.search(target) or target.startswith("//"):
        return ""
    if _SCHEME.match(target) and not target.lower().startswith("file:"):
        return ""
    return unquote(target)


def comments(body: str) -> list[int]:
    """Return the 0-based lines on which an HTML comment opens."""
    if "<!--" not in body:
        return []
    return [number for number, line in _prose_lines(body) if "<!--" in line]


def named_paths(body: str) -> Iterator[TextPlace]:
    """Yield every file path below scripts/, references/ or assets/ in the body."""
    line = 0
    position = 0
    for match in _PATH.finditer(body):
        start, end = match.span()
        path = match.group().rstrip(".-")
        before = body[start - 1] if start else "\n"
        alone = before in _BEFORE_PATH and body[end : end + 1] not in _CONTINUES
        if alone and "." in path.rsplit("/", 1)[-1]:
            line += body.count("\n", position, start)
            position = start
            yield TextPlace(path, line)


_CONTINUES = ("*", "<", "{", "$", "[", "…")
