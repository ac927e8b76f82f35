"""Repairs frontmatter that is nearly valid YAML.

5.3 % of real SKILL.md files are not valid YAML, nearly all because of an unquoted ``: `` in a
description. The client guide of agentskills.io asks for this repair. Top-level values that are text
and that YAML would misread are put into single quotes, continuation lines included: plain ones, and
those that go on behind a bracket or a quote that closes, such as ``[file] [--full]``.
"""

from __future__ import annotations

import re

_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}:[ \t]+(?=\S)")
_ABOVE = re.compile(r"description:[ \t]*\n[ \t]+(?=[^\s-]|-\S)")
"""A description may begin on the next line; below another field is a list or a mapping."""
_NOT_TEXT = ("|", ">", "#")
_BAD_START = ("@", "`", "%", "*", "&", "!", "- ", "? ", ", ", "]", "}")
_CLOSED = {
    "'": re.compile(r"'(?:[^']|'')*+'"),
    '"': re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL),
    "[": re.compile(r"""\[[^]['"]*+\]"""),
    "{": re.compile(r"""\{++[^{}'"]*+\}++"""),
}
"""Where a value that begins with a sign of YAML ends. Data in brackets may nest and quote: it is
left alone."""


def quote_plain_values(block: str) -> tuple[str, tuple[int, ...]]:
    """Return the block with risky text values quoted, and the 0-based lines that changed."""
    lines = block.split("\n")
    changed = []
    number = 0
    while number < len(lines):
        end = _end_of_value(lines, number)
        text = "\n".join(line.rstrip() for line in lines[number:end])
        field = _FIELD.match(text) or _ABOVE.match(text)
        if field is not None and _is_risky(value := text[field.end() :]):
            changed.append(number + field[0].count("\n"))
            quoted = value.replace("'", "''")
            lines[number:end] = f"{field[0]}'{quoted}'".split("\n")
        number = end
    return "\n".join(lines), tuple(changed)


def _end_of_value(lines: list[str], start: int) -> int:
    """Return the first line after the value that starts on line ``start``.

    Blank lines belong to it where an indented one follows.
    """
    end = start + 1
    for number in range(end, len(lines)):
        if not lines[number].strip():
            continue
        if lines[number][0] not in " \t":
            break
        end = number + 1
    return end


def _is_risky(text: str) -> bool:
    if text.startswith(_NOT_TEXT):
        return False
    if text[0] in _CLOSED:
        closed = _CLOSED[text[0]].match(text)
        rest = text[closed.end() :] if closed else ""
        if rest[:1].isalnum() and text.endswith(text[0]):
            return False  # quotes around a text with quotes: which ones count cannot be told
        return bool(rest.strip()) and not rest.lstrip(" ").startswith(("#", "\n"))
    return text.startswith(_BAD_START) or any(
        ": " in part or " #" in part or part.endswith(":")
        for part in map(str.strip, text.split("\n"))
    )
