"""Verifies content against its entry: size, digest, frontmatter."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import yaml

from skillyard_testkit.mcp_host.entries import ServedFile, ServedSkill
from skillyard_testkit.mcp_host.refusals import Unverified

__all__ = ["instructions_of", "verify_bytes"]

_DOCUMENT = re.compile(r"\A---\n(.*?\n)---\n(.*)\Z", re.DOTALL)
_YES = frozenset(["y", "yes", "on", "true"])
_NO = frozenset(["n", "no", "off", "false"])


def verify_bytes(skill: ServedSkill, file: ServedFile, data: bytes) -> None:
    """Verify a file's bytes. Raises Unverified. A match proves integrity, not that it is safe."""
    if len(data) != file.size:
        what = f"has {len(data):,} bytes, listed with {file.size:,}"
    elif f"sha256:{hashlib.sha256(data).hexdigest()}" != file.digest:
        what = "is not what its digest names"
    else:
        return
    raise Unverified(skill.label, file.uri, f"{what}; refresh the skill's entry")


def instructions_of(skill: ServedSkill, data: bytes) -> str:
    """Return the body of a SKILL.md after comparing each field of its frontmatter with the entry.

    Raises Unverified for any difference, and for an invalid file.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        fenced = _DOCUMENT.match(f"{text}\n")
        node = yaml.compose(fenced[1], yaml.SafeLoader) if fenced else None
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise Unverified(skill.label, skill.uri, f"cannot be read: {error}") from None
    if fenced is None or not _same(node, skill.frontmatter):
        raise Unverified(skill.label, skill.uri, "its frontmatter differs from the entry")
    return str(fenced[2]).removesuffix("\n")


def _same(node: yaml.Node | None, declared: Any) -> bool:
    """True when the JSON is a valid YAML interpretation of this source text.

    The extension says "verbatim as a JSON object" and does not specify the schema for plain
    scalars: the core schema of YAML 1.2, the schema of 1.1, or none are all accepted.
    """
    if isinstance(node, yaml.MappingNode):
        fields = {str(key.value): value for key, value in node.value}
        return (
            isinstance(declared, dict)
            and len(fields) == len(node.value)
            and set(declared) == set(fields)
            and all(_same(item, declared[key]) for key, item in fields.items())
        )
    if isinstance(node, yaml.SequenceNode):
        return (
            isinstance(declared, list)
            and len(declared) == len(node.value)
            and all(_same(item, other) for item, other in zip(node.value, declared, strict=True))
        )
    return isinstance(node, yaml.ScalarNode) and _same_scalar(node, declared)


def _same_scalar(node: yaml.ScalarNode, declared: Any) -> bool:
    if isinstance(declared, str):
        return bool(declared == node.value)
    if node.style is not None:
        return False
    text = str(node.value).lower()
    if isinstance(declared, bool):
        return text in (_YES if declared else _NO)
    if declared is None:
        return text in ("", "~", "null")
    try:
        return isinstance(declared, int | float) and float(text) == declared
    except ValueError:
        return False
