"""Conforms the frontmatter of a SKILL.md to agentskills.io for the Skills extension.

Hosts check every field of an entry against the specification, refuse the whole listing for one
violation, and compare the entry with its file. Many real files violate it, for example with a list
as ``allowed-tools`` or a number in ``metadata``. Such a field is left out of the served file, and
the entry contains the digest and size of the served bytes. All other files are served byte for
byte.
"""

from __future__ import annotations

from typing import Any

from skillyard.base.errors import SkillError
from skillyard.engine.formats.frontmatter import decode, split, unify_lines
from skillyard.engine.formats.yaml_guard import plain_value, read_mapping

COMPATIBILITY_CHARS = 500


class Unreadable(Exception):
    """The frontmatter is not plain YAML. The message is the reason."""


def conforming(data: bytes, path: str) -> tuple[bytes, dict[str, Any]]:
    """Return the file without the fields that do not conform, and its frontmatter as JSON.

    The JSON follows the YAML 1.2 core schema, like a host that reads the same bytes. Nothing is
    repaired: Unreadable is raised for a block that is not plain YAML, with a field on each line.
    """
    try:
        text = unify_lines(decode(data, path))
        fields, lines, end = _fields_of(text, path)
        wrong = [key for key, value in fields.items() if not _conforms(key, value)]
        if not wrong:
            return data, fields
        rows = text.split("\n")
        starts = sorted([*lines.values(), end])
        for key in sorted(wrong, key=lambda key: -lines[key]):
            after = next(start for start in starts if start > lines[key])
            del rows[lines[key] - 1 : after - 1]
        served = "\n".join(rows)
        left, _, _ = _fields_of(served, path)
    except SkillError as error:
        raise Unreadable(f"its frontmatter is not plain YAML ({error.message})") from None
    if left != {key: value for key, value in fields.items() if key not in wrong}:
        raise Unreadable(f"its {wrong[0]} does not conform, and shares a line with others")
    return served.encode("utf-8"), left


def _fields_of(text: str, path: str) -> tuple[dict[str, Any], dict[str, int], int]:
    """Return the fields of a document, the line of each, and that of the closing fence."""
    block = split(text, path).block
    nodes, lines = read_mapping(block, path)
    end = 2 + block.removesuffix("\n").count("\n") + bool(block)
    return {key: plain_value(node) for key, node in nodes.items()}, lines, end


def _conforms(key: str, value: Any) -> bool:
    if key == "metadata":
        return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    if key == "compatibility":
        return isinstance(value, str) and 0 < len(value) <= COMPATIBILITY_CHARS
    return key not in ("license", "allowed-tools") or isinstance(value, str)
