"""Verifies content against its entry: size, digest, frontmatter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillyard.errors import SkillError
from skillyard.formats.frontmatter import decode, split, unify_lines
from skillyard.formats.nodes import Node, Scalar, plain_value
from skillyard.formats.yaml_guard import read_mapping
from skillyard.io.sha256 import sha256
from skillyard.serving.mcp.host.entries import ServedFile, ServedSkill
from skillyard.serving.mcp.host.refusals import Unverified

__all__ = ["instructions_of", "verify_bytes"]

_YES = frozenset(["y", "yes", "on", "true"])
_NO = frozenset(["n", "no", "off", "false"])


def verify_bytes(skill: ServedSkill, file: ServedFile, data: bytes) -> None:
    """Verify a file's bytes. Raises Unverified. A match proves integrity, not that it is safe."""
    if len(data) != file.size:
        what = f"has {len(data):,} bytes, listed with {file.size:,}"
    elif f"sha256:{sha256(data).hex()}" != file.digest:
        what = "is not what its digest names"
    else:
        return
    raise Unverified(skill.label, file.uri, f"{what}; refresh the skill's entry")


def instructions_of(skill: ServedSkill, data: bytes) -> str:
    """Return the body of a SKILL.md after comparing each field of its frontmatter with the entry.

    Raises Unverified for any difference, and for an invalid file.
    """
    try:
        fenced = split(unify_lines(decode(data, skill.uri)), skill.uri)
        mapping, _ = read_mapping(fenced.block, skill.uri)
    except SkillError as error:
        raise Unverified(skill.label, skill.uri, f"cannot be read: {error.message}") from None
    difference = _difference(mapping, skill.frontmatter)
    if difference is not None:
        raise Unverified(
            skill.label, skill.uri, f"its frontmatter differs from the entry in {difference!r}"
        )
    return fenced.body


def _difference(parsed: Mapping[str, Node], declared: Mapping[str, Any]) -> str | None:
    """Return the first field that differs; None when all are equal."""
    for key in sorted({*parsed, *declared}):
        if key not in parsed or key not in declared or not _same(parsed[key], declared[key]):
            return key
    return None


def _same(node: Node, declared: Any) -> bool:
    """True when the JSON is a valid YAML interpretation of this source text.

    The extension says "verbatim as a JSON object" and does not specify the schema for plain
    scalars: the core schema of YAML 1.2, the schema of 1.1, or none are all accepted.
    """
    if isinstance(node, Scalar):
        return _same_scalar(node, declared)
    if isinstance(node, list):
        return (
            isinstance(declared, list)
            and len(declared) == len(node)
            and all(_same(item, other) for item, other in zip(node, declared, strict=True))
        )
    return (
        isinstance(declared, dict)
        and set(declared) == set(node)
        and all(_same(item, declared[key]) for key, item in node.items())
    )


def _same_scalar(node: Scalar, declared: Any) -> bool:
    if isinstance(declared, str):
        return declared == node.text
    if not node.plain:
        return False
    if isinstance(declared, bool):
        return node.text.lower() in (_YES if declared else _NO)
    value = plain_value(node)
    # 1 and 1.0 are equal in JSON; a number never equals a boolean.
    return value == declared and not isinstance(value, bool)
