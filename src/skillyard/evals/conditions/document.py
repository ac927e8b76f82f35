"""Splits a skill document into description and body for an evaluation, without raising.

Evaluations also read documents that a catalog refuses. A document without closed frontmatter is all
body. A description that is not valid YAML is recovered from its lines (spec/evals.md §1.6, step 1).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from skillyard.errors import InvalidFrontmatter, SkillYamlError
from skillyard.formats.frontmatter import split, unify_lines
from skillyard.formats.nodes import NULLS, Node, Scalar, plain_value
from skillyard.formats.plain_lines import read_plain_lines
from skillyard.formats.repair import quote_plain_values
from skillyard.formats.yaml_guard import read_mapping
from skillyard.limits import DEFAULT_LIMITS

__all__ = ["Document", "line_feeds", "split_document"]

_DESCRIPTION = re.compile(r"description[ \t]*:(?=[ \t]|$)")
_NO_PLAIN_TEXT = ("|", ">", "[", "{")


class Document(NamedTuple):
    """The two parts of a skill document that a model may be given."""

    description: str
    """Stripped; empty if it is missing or not a text."""
    body: str
    """The text after the frontmatter, with LF line ends and otherwise unchanged."""


def line_feeds(text: str) -> str:
    """Return the text without one leading byte order mark, with CRLF and lone CR as LF."""
    text = unify_lines(text)
    return text.replace("\r", "\n") if "\r" in text else text


def split_document(text: str) -> Document:
    """Return description and body of a skill document. Raises nothing."""
    text = line_feeds(text)
    # A catalog caps the block; here a block of any size still is no body.
    limits = DEFAULT_LIMITS._replace(frontmatter_bytes=4 * len(text))
    try:
        block = split(text, "", limits).block
    except InvalidFrontmatter:
        return Document("", text)
    closing = text.index("\n") + 1 + len(block)
    # The body of `split` is trimmed, which would make a heading of indented code on its first line.
    return Document(_description(block), text[closing:].partition("\n")[2])


def _description(block: str) -> str:
    own = _description_lines(block)
    for candidate in (block, own, quote_plain_values(own)[0]):
        try:
            return _text(_fields(candidate).get("description"))
        except SkillYamlError:
            continue
    return _one_line(own)


def _fields(block: str) -> dict[str, Node]:
    tree_and_lines = read_plain_lines(block) or read_mapping(block, "")
    return tree_and_lines[0]


def _text(node: Node | None) -> str:
    value = plain_value(node) if isinstance(node, Scalar) else None
    return value.strip() if isinstance(value, str) else ""


def _description_lines(block: str) -> str:
    """Return the last top-level ``description`` field with its continuation lines, unparsed.

    The last one is used because readers that accept duplicate keys use the last.
    """
    lines = block.split("\n")
    starts = [number for number, line in enumerate(lines) if _DESCRIPTION.match(line)]
    if not starts:
        return ""
    start = starts[-1]
    end = start + 1
    while end < len(lines) and lines[end][:1] in ("", " ", "\t"):
        end += 1
    return "\n".join(lines[start:end])


def _one_line(own: str) -> str:
    """Return the text after the colon, without enclosing quotes."""
    value = own.partition("\n")[0].partition(":")[2].strip()
    if value in NULLS or value.startswith(_NO_PLAIN_TEXT):
        return ""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1].strip()
    return value
