"""Reads what a skill requires: ``requires`` and ``metadata.requires``.

``dependencies`` is not read: authors write packages there, often one of the skill's own name.
Sources: agentskills/agentskills#110 and #485.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillyard.engine.formats.fields import Fields
from skillyard.engine.formats.nodes import Scalar

_KINDS = {"skills": "skill", "tools": "tool", "programs": "program"}
KEYS = (*_KINDS, "all", "any")
"""The keys of both mappings that hold lists of names."""
_SEPARATOR = re.compile(r"[,\s]+")
_AROUND_SIGN = re.compile(r"\s*>=\s*")


def read_requirements(fields: Fields) -> tuple[str, ...]:
    """Return the requirements as ``Skill.requires`` has them, each once, in the author's order."""
    return tuple(dict.fromkeys(_entries(fields)))


def _entries(fields: Fields) -> Iterator[str]:
    metadata = fields.node("metadata") if "metadata" in fields else None
    inner = metadata.get("requires") if isinstance(metadata, dict) else None
    for key, node in (("requires", fields.node("requires")), ("metadata", inner)):
        if node is None or (isinstance(node, Scalar) and node.null):
            continue
        if not isinstance(node, dict):
            _unread(fields, key, "requires is not a mapping")
            continue
        for name in node:
            if name not in _KINDS:
                _unread(fields, key, f"requires has no key {name[:60]!r}")
        lists = fields.within(key, node)
        for name, kind in _KINDS.items():
            yield from (f"{kind}:{entry}" for entry in _names(lists, name))


def _names(fields: Fields, key: str) -> tuple[str, ...]:
    return tuple(_join_version(entry) for entry in fields.texts(key, split=_split))


def _split(text: str) -> list[str]:
    return [name for name in _SEPARATOR.split(_join_version(text)) if name]


def _join_version(entry: str) -> str:
    """Return the entry without blanks around the sign of a version."""
    return _AROUND_SIGN.sub(">=", entry)


def _unread(fields: Fields, key: str, message: str) -> None:
    hint = "write `requires:` with the lists `skills`, `tools` and `programs`"
    fields.warn(key, "requires_unread", f"{message}: it is ignored", hint, "warning")
