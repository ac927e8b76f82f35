"""Adds columns to diagnostics that have a line but no column.

Columns count characters from 1, like SARIF's ``unicodeCodePoints`` and the YAML parser. A byte
order mark does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skillyard.base.errors import Diagnostic, SkillError
from skillyard.base.invisible import find_hidden
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.formats.frontmatter import decode, unify_lines
from skillyard.engine.resources import read_file


def with_columns(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the diagnostics, with a column added if the file still has that line."""
    lines_by_path: dict[str, list[str]] = {}
    for each in diagnostics:
        if each.line is None or each.column is not None:
            yield each
            continue
        if each.path not in lines_by_path:
            lines_by_path[each.path] = _lines(each.path)
        lines = lines_by_path[each.path]
        in_file = 0 < each.line <= len(lines)
        yield each._replace(column=column_in(lines[each.line - 1], each)) if in_file else each


def column_in(line: str, diagnostic: Diagnostic) -> int:
    """Return the 1-based column in a line at which a finding begins.

    That is the column of the hidden character, else of the offending text in the line (after the
    key, if it is the value of a field), else of the first non-blank character.
    """
    if diagnostic.code == "hidden_character":
        hidden = find_hidden(line)
        if hidden is not None:
            return hidden.offset + 1
    text = diagnostic.found.partition("\n")[0].strip()
    if text:
        place = line.find(text)
        if line.startswith(f"{text}:"):  # a key, whose value may be the same word
            value = line.find(text, len(text))
            place = (
                value if diagnostic.code.startswith(("name_", "oasis_")) and value > 0 else place
            )
        if place >= 0:
            return place + 1
    return len(line) - len(line.lstrip()) + 1 if line.strip() else 1


def _lines(path: str) -> list[str]:
    try:
        data = read_file(path, DEFAULT_LIMITS.skill_file_bytes).data
        return unify_lines(decode(data, path)).split("\n")
    except SkillError:
        return []
