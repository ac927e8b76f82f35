"""The table of all rules, read from ``data/rules.toml``, which describes its own form."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from skillyard.check.scanning.commands import download_and_run, secrets_sent
from skillyard.check.scanning.hidden import hidden_characters
from skillyard.check.scanning.rule import Example, Find, Pattern, Rule, find_patterns, pattern
from skillyard.check.scanning.skill_rules import (
    look_alike_name,
    misleading_link,
    runs_on_load,
    tools_too_wide,
)

_FINDERS: Mapping[str, Find] = {
    find.__name__: find
    for find in (
        download_and_run,
        hidden_characters,
        look_alike_name,
        misleading_link,
        runs_on_load,
        secrets_sent,
        tools_too_wide,
    )
}
"""Rules that need more than patterns. Findings of rules without either come from the engine."""
_PART = re.compile("<<([A-Z_]+)>>")


def _read() -> tuple[Rule, ...]:
    source = files("skillyard.check.scanning").joinpath("data", "rules.toml")
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    parts: dict[str, Any] = table["parts"]
    return tuple(_rule(each, parts) for each in table["rule"])


def _rule(entry: dict[str, Any], parts: Mapping[str, Any]) -> Rule:
    fields = {**entry, "hit": Example(**entry["hit"]), "miss": Example(**entry["miss"])}
    patterns = tuple(_pattern(each, parts) for each in fields.pop("pattern", ()))
    find = _FINDERS.get(entry["id"], find_patterns)
    return Rule(patterns=patterns, find=find, **{"quotable": True, "phrase": False} | fields)


def _pattern(entry: Mapping[str, Any], parts: Mapping[str, Any]) -> Pattern:
    return pattern(
        _filled(entry["regex"], parts),
        [_filled(words, parts) for words in entry.get("words", ())],
        severity=entry.get("severity", ""),
        files=tuple(entry.get("files", "").split()),
        **{key: entry[key] for key in ("kinds", "reach") if key in entry},
    )


def _filled(text: str, parts: Mapping[str, Any]) -> str:
    """Return the text with its parts put in. Parts may have parts."""
    while _PART.search(text) is not None:
        text = _PART.sub(lambda match: parts[match[1]], text)
    return text


RULES = _read()
"""All rules, in the order of the reference page."""
RULES_BY_ID = {rule.id: rule for rule in RULES}
