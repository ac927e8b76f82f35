"""The codes of reading that contain the name of a field: it is not a text, or not a list."""

from __future__ import annotations

from collections.abc import Iterable

from skillyard.engine.formats.agentskills import LIST_KEYS, TEXT_KEYS
from skillyard.engine.formats.fields import KEYS
from skillyard.engine.skill import SKILL_FIELDS, Triggers


def _codes(ending: str, keys: Iterable[str]) -> dict[str, str]:
    fields = [key.replace("-", "_") for key in keys]
    return {f"{field}_{ending}": field for field in fields}


TEXTS = _codes("not_string", (*TEXT_KEYS.values(), "argument-hint"))
"""Code -> field, for the fields that hold one text."""
LISTS = _codes(
    "not_list",
    (
        *(*LIST_KEYS.values(), SKILL_FIELDS["allowed_tools"].key, SKILL_FIELDS["triggers"].key),
        *(*Triggers._fields, "trigger_files", "trigger_keywords"),
        *("paths", "when_to_use", *KEYS),
    ),
)
"""Code -> field, for the fields that hold a list of texts."""
