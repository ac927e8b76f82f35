"""The untyped tree of a frontmatter block: scalars as written, lists, mappings."""

from __future__ import annotations

from typing import Any, NamedTuple

NULLS = frozenset(["", "~", "null", "Null", "NULL"])
_TRUE = frozenset(["true", "True", "TRUE"])
_FALSE = frozenset(["false", "False", "FALSE"])
_MAX_NUMBER_CHARS = 32


class Scalar(NamedTuple):
    """One scalar as it was written."""

    text: str
    plain: bool
    """True when it is not quoted, so that YAML would guess its type."""
    line: int
    """0-based line in the block."""
    column: int

    @property
    def null(self) -> bool:
        """True for a plain empty value, ``~`` or ``null``."""
        return self.plain and self.text in NULLS


Node = Scalar | list["Node"] | dict[str, "Node"]


def plain_value(node: Node) -> Any:
    """Return the value of a node by the YAML 1.2 core schema.

    Infinities, NaN and numbers of more than 32 characters stay text, because JSON has no such
    numbers.
    """
    if isinstance(node, list):
        return [plain_value(item) for item in node]
    if isinstance(node, dict):
        return {key: plain_value(value) for key, value in node.items()}
    if not node.plain:
        return node.text
    if node.text in NULLS:
        return None
    if node.text in _TRUE:
        return True
    if node.text in _FALSE:
        return False
    return _number(node.text)


def _number(text: str) -> int | float | str:
    if len(text) > _MAX_NUMBER_CHARS or not text.isascii() or "_" in text:
        return text
    body = text[1:] if text[0] in "+-" else text
    if body.isdigit():
        return int(text)
    try:
        if body.startswith("0x") and body is text:
            return int(text, 16)
        if body.startswith("0o") and body is text:
            return int(text, 8)
        if body and body[0] in ".0123456789" and set(body) <= set("0123456789.eE+-"):
            number = float(text)
            return number if abs(number) != float("inf") else text
    except ValueError:
        pass
    return text
