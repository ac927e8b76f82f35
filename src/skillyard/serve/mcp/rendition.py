"""Renders a SKILL.md for the Skills extension, with frontmatter that conforms to agentskills.io.

Hosts check every field of an entry against the specification, refuse the whole listing for one
violation, and compare the entry with its file. Many real files violate it, for example with a list
as ``allowed-tools`` or a number in ``metadata``. Such a file is served with rewritten frontmatter,
and the entry contains the digest and size of the served bytes. All other files are served byte for
byte. The body is never changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from skillyard.base.errors import SkillError
from skillyard.base.text import shorten
from skillyard.engine.formats.agentskills import split_tools
from skillyard.engine.formats.frontmatter import decode, join_document, split, unify_lines
from skillyard.engine.formats.yaml_guard import Node, Scalar, plain_value, read_mapping

COMPATIBILITY_CHARS = 500
_BARE_KEY = re.compile(r"[a-z]+(?:[_-][a-z]+)+|[a-z]{4,}")
"""Keys that every YAML reader parses as text, except for the words below."""
_NOT_BARE = frozenset(["null", "true", "false"])


class Unreadable(Exception):
    """The frontmatter is not plain YAML. The message is the reason."""


def conforming(data: bytes, path: str) -> tuple[bytes, dict[str, Any]]:
    """Return the file with conforming frontmatter, and that frontmatter as JSON.

    The JSON follows the YAML 1.2 core schema, like a host that reads the same bytes. ``name``,
    ``description`` and unspecified fields are unchanged. Nothing is repaired: Unreadable is raised
    for a block that is not plain YAML.
    """
    try:
        fenced = split(unify_lines(decode(data, path)), path)
        nodes, _ = read_mapping(fenced.block, path)
        fields = {key: plain_value(node) for key, node in nodes.items()}
        changed = _conforming_values(nodes, fields)
        if not changed:
            return data, fields
        for key, value in changed.items():
            if value is None:
                del fields[key]
            else:
                fields[key] = value
        block = "".join(f"{_key(key)}: {_flow(value)}\n" for key, value in fields.items())
        served = join_document(block, fenced.body, "")
        nodes, _ = read_mapping(split(served.decode(), path).block, path)
        return served, {key: plain_value(node) for key, node in nodes.items()}
    except SkillError as error:
        raise Unreadable(f"its frontmatter is not plain YAML ({error.message})") from None


def _conforming_values(nodes: Mapping[str, Node], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return conforming values of the fields that do not conform; None for a field to drop."""
    values = {
        "license": _text,
        "compatibility": _compatibility,
        "metadata": _metadata,
        "allowed-tools": _tools,
    }
    conformed = {key: make(nodes[key]) for key, make in values.items() if key in nodes}
    return {key: value for key, value in conformed.items() if value != fields[key] or value is None}


def _text(node: Node) -> str | None:
    """Return a value as text: a scalar as written, or a list of scalars separated by commas."""
    if isinstance(node, Scalar):
        return None if node.null else node.text
    if isinstance(node, list) and all(isinstance(item, Scalar) for item in node):
        return ", ".join(item.text for item in node if isinstance(item, Scalar))
    return json.dumps(plain_value(node), ensure_ascii=False)


def _compatibility(node: Node) -> str | None:
    text = _text(node) or None
    if text is not None and len(text) > COMPATIBILITY_CHARS:
        return shorten(text, COMPATIBILITY_CHARS)
    return text


def _metadata(node: Node) -> dict[str, str] | None:
    if not isinstance(node, dict):
        return None
    return {key: _text(value) or "" for key, value in node.items()}


def _tools(node: Node) -> str | None:
    if isinstance(node, Scalar):
        tools = " ".join(split_tools(node.text))
        # Blanks between them are valid; only other separators are replaced.
        text = node.text if tools.split() == node.text.split() else tools
        return None if node.null else text
    if isinstance(node, list):
        texts = (item.text for item in node if isinstance(item, Scalar) and not item.null)
        return " ".join(" ".join(split_tools(text)) for text in texts).strip() or None
    return None


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) and key not in _NOT_BARE else _double_quote(key)


def _flow(value: Any) -> str:
    """Return a JSON value in YAML's flow style, on one line."""
    if isinstance(value, str):
        return _double_quote(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, dict):
        pairs = (f"{_double_quote(key)}: {_flow(each)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    text = json.dumps(value)
    if isinstance(value, float) and "." not in text:
        return text.replace("e", ".0e")  # without the point YAML 1.1 reads a text
    return text


def _double_quote(text: str) -> str:
    """Return a double-quoted YAML scalar, with non-printable characters escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in escaped) + '"'
