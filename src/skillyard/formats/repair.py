"""Repairs frontmatter that is nearly valid YAML.

5.3 % of real SKILL.md files are not valid YAML, nearly all because of an unquoted ``: `` in a
description. The client guide of agentskills.io asks for this repair. Plain top-level values that
YAML would misread are put into single quotes, continuation lines included.
"""

from __future__ import annotations

import re

__all__ = ["quote_plain_values"]

_FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_-]{0,63}):[ \t]+(\S.*)")
_QUOTED_OR_NESTED = ("'", '"', "[", "{", "|", ">", "#")
_BAD_START = ("@", "`", "%", "*", "&", "!", "- ", "? ", ", ", "]", "}")


def quote_plain_values(block: str) -> tuple[str, tuple[int, ...]]:
    """Return the block with risky plain values quoted, and the 0-based lines that changed."""
    lines = block.split("\n")
    changed = []
    number = 0
    while number < len(lines):
        field = _FIELD.fullmatch(lines[number])
        end = _end_of_value(lines, number)
        if field is not None and not field.group(2).startswith(_QUOTED_OR_NESTED):
            value = [field.group(2), *lines[number + 1 : end]]
            if any(_risky(part) for part in value):
                changed.append(number)
                _quote(lines, number, end, field)
        number = end
    return "\n".join(lines), tuple(changed)


def _end_of_value(lines: list[str], start: int) -> int:
    """Return the first line after the value that starts on line ``start``."""
    end = start + 1
    while end < len(lines) and lines[end][:1] in (" ", "\t") and lines[end].strip():
        end += 1
    return end


def _risky(value: str) -> bool:
    text = value.strip()
    return ": " in text or " #" in text or text.endswith(":") or text.startswith(_BAD_START)


def _quote(lines: list[str], start: int, end: int, field: re.Match[str]) -> None:
    value = [field.group(2).rstrip(), *(line.rstrip() for line in lines[start + 1 : end])]
    value = [part.replace("'", "''") for part in value]
    value[0] = f"{field.group(1)}: '{value[0]}"
    value[-1] += "'"
    lines[start:end] = value
