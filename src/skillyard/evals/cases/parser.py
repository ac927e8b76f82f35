"""Parsers of case files: guarded YAML, strict JSON and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

from skillyard.errors import SkillYamlError
from skillyard.evals.cases.records import Located, Notes, Record, from_json, from_yaml
from skillyard.formats.yaml_guard import read_mapping
from skillyard.io.strict_json import strict_loads
from skillyard.limits import DEFAULT_LIMITS

__all__ = ["json_items", "json_lines", "json_root", "yaml_record"]


_YAML_LIMITS = DEFAULT_LIMITS._replace(yaml_nodes=50_000)
"""As for frontmatter, but for files of many prompts."""
_HINTS = {
    "yaml_too_large": "split the file",
    "yaml_invalid": "keep one YAML document in the file, without `...` or a second `---`",
    "yaml_not_mapping": "write one field a line, as `field: value`",
}
_BLANKS = " \t\n\r"


def yaml_record(text: str, notes: Notes) -> Record | None:
    """Return the mapping of a YAML file, or None and a note.

    Anchors, aliases, tags, merge keys, duplicate keys, and too much depth or size are refused as in
    frontmatter (:mod:`skillyard.formats.yaml_guard`).
    """
    try:
        mapping, lines = read_mapping(text, notes.path, _YAML_LIMITS, first_line=1)
    except SkillYamlError as error:
        message = error.message.replace("the frontmatter", "the file")
        hint = error.hint.replace("the frontmatter", "the file")
        if error.code in _HINTS and ("fences" in hint or error.code != "yaml_invalid"):
            hint = _HINTS[error.code]
        notes.error(error.code, error.line, message, hint, error.found)
        return None
    fields = {
        key: Located(from_yaml(node, lines[key]).value, lines[key]) for key, node in mapping.items()
    }
    return Record(fields, 1, notes)


def json_lines(text: str, notes: Notes) -> Iterator[Record]:
    """Yield one record for each line; blank lines and lines that start with ``#`` are skipped.

    A line that is no JSON object is a note, and the others are read.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        value = _parse(line, number, notes)
        if value is not None and not isinstance(value.value, dict):
            notes.error(
                "json_not_object", number, "the line is not a JSON object", "write {…} on one line"
            )
        elif value is not None:
            yield Record(value.value, number, notes)


def json_root(text: str, notes: Notes) -> Located | None:
    """Return the whole JSON text; None (and a note with the line) where it is no JSON."""
    return _parse(text, None, notes)


def json_items(text: str, field: str | None) -> list[int]:
    """Return the 1-based line of every item of a list in a JSON text that parses.

    The list is the text itself (``field`` None) or a field of the object that it is. Empty where
    there is no such list.
    """
    decoder = json.JSONDecoder(strict=True)
    at = _skip(text, 0)
    if field is not None:
        at = _value_of(text, at, field, decoder)
    if at < 0 or not text.startswith("[", at):
        return []
    lines: list[int] = []
    position, line = 0, 1
    at = _skip(text, at + 1)
    while at < len(text) and text[at] != "]":
        line += text.count("\n", position, at)
        position = at
        lines.append(line)
        _, at = decoder.raw_decode(text, at)
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
    return lines


def _value_of(text: str, at: int, field: str, decoder: json.JSONDecoder) -> int:
    """Return where the value of an object's field begins, or -1."""
    if not text.startswith("{", at):
        return -1
    at = _skip(text, at + 1)
    while at < len(text) and text[at] == '"':
        key, at = decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if key == field:
            return at
        _, at = decoder.raw_decode(text, at)
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
    return -1


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _parse(text: str, line: int | None, notes: Notes) -> Located | None:
    try:
        return from_json(strict_loads(text), line)
    except json.JSONDecodeError as error:
        where = line if line is not None else error.lineno
        column = f", column {error.colno}" if line is not None or error.lineno == 1 else ""
        notes.error(
            "json_invalid",
            where,
            f"not JSON: {error.msg}{column}",
            "check quotes, commas and brackets there",
            text.split("\n")[0 if line is not None else error.lineno - 1].strip(),
        )
    except RecursionError:
        notes.error("json_invalid", line or 1, "the JSON is nested too deep", "flatten it")
    except ValueError as error:
        notes.error(
            "json_invalid", line or 1, f"JSON that is refused: {error}", "write it another way"
        )
    return None
