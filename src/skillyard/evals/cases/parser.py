"""Parsers of case files: guarded YAML, strict JSON and JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from skillyard.base.errors import SkillYamlError
from skillyard.base.io.strict_json import strict_loads
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.formats.yaml_guard import Node, Scalar, plain_value, read_mapping
from skillyard.evals.cases.records import LocatedValue, Notes, Record

JSON_DEPTH = 16
"""Nesting in one JSON record; the formats here need four levels."""
_YAML_LIMITS = DEFAULT_LIMITS._replace(yaml_nodes=50_000)
"""As for frontmatter, but for files of many prompts."""
_HINTS = {
    "yaml_too_large": "split the file",
    "yaml_invalid": "keep one YAML document in the file, without `...` or a second `---`",
    "yaml_not_mapping": "write one field a line, as `field: value`",
}
_BLANKS = re.compile(r"[ \t\n\r]*")


def yaml_record(text: str, notes: Notes) -> Record | None:
    """Return the mapping of a YAML file, or None and a note.

    Anchors, aliases, tags, merge keys, duplicate keys, and too much depth or size are refused as in
    frontmatter (:mod:`skillyard.engine.formats.yaml_guard`).
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
        key: LocatedValue(_from_yaml(node, lines[key]).value, lines[key])
        for key, node in mapping.items()
    }
    return Record(fields, 1, notes)


def _from_yaml(node: Node, line: int) -> LocatedValue:
    """Return the guarded node as located values; ``line`` is the line of its key."""
    if isinstance(node, Scalar):
        return LocatedValue(plain_value(node), node.line + 1)
    if isinstance(node, list):
        items = [_from_yaml(item, line) for item in node]
        return LocatedValue(items, items[0].line if items else line)
    fields = {key: _from_yaml(value, line) for key, value in node.items()}
    first = next(iter(fields.values()), None)
    return LocatedValue(fields, first.line if first is not None else line)


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


def json_root(text: str, notes: Notes) -> LocatedValue | None:
    """Return the whole JSON text; None (and a note with the line) where it is no JSON."""
    return _parse(text, None, notes)


def json_items(text: str, field: str | None) -> list[int]:
    """Return the 1-based line of every item of a list in a JSON text that parses.

    The list is the text itself (``field`` None) or a field of the object that it is. Empty where
    there is no such list.
    """
    start = _skip_blanks(text, 0)
    if field is not None:
        start = next((at for key, at in _children(text, start, "{") if key == field), len(text))
    lines: list[int] = []
    position, line = 0, 1
    for _, at in _children(text, start, "["):
        line += text.count("\n", position, at)
        position = at
        lines.append(line)
    return lines


def _children(text: str, start: int, bracket: str) -> Iterator[tuple[str | None, int]]:
    """Yield the key (None in a list) and the place of every value of the container at ``start``."""
    if not text.startswith(bracket, start):
        return
    decode = json.JSONDecoder().raw_decode
    at = _skip_blanks(text, start + 1)
    while text[at] not in "]}":
        key = None
        if bracket == "{":
            key, at = decode(text, at)
            at = _skip_blanks(text, _skip_blanks(text, at) + len(":"))
        yield key, at
        _, at = decode(text, at)
        at = _skip_blanks(text, at)
        if text[at] == ",":
            at = _skip_blanks(text, at + 1)


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _parse(text: str, line: int | None, notes: Notes) -> LocatedValue | None:
    try:
        return _from_json(strict_loads(text), line)
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


def _from_json(value: Any, line: int | None, depth: int = 0) -> LocatedValue:
    """Return the parsed JSON as located values. Raises ValueError where it is nested too deep."""
    if depth > JSON_DEPTH:
        raise ValueError(f"more than {JSON_DEPTH} levels")
    if isinstance(value, list):
        return LocatedValue([_from_json(item, line, depth + 1) for item in value], line)
    if isinstance(value, dict):
        fields = {key: _from_json(item, line, depth + 1) for key, item in value.items()}
        return LocatedValue(fields, line)
    return LocatedValue(value, line)
