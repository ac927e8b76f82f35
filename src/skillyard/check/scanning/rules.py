"""The table of all rules, read from ``data/rules.toml``, which describes its own form."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from skillyard.check.scanning.commands import download_and_run, secrets_sent
from skillyard.check.scanning.document import EVERY
from skillyard.check.scanning.hidden import hidden_characters
from skillyard.check.scanning.rule import Example, Find, Pattern, Rule, find_patterns
from skillyard.check.scanning.skill_rules import (
    look_alike_name,
    misleading_link,
    runs_on_load,
    tools_too_wide,
)
from skillyard.check.scanning.words import group

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
_LINE = r"(?:^|\n)"
"""How an expression for the start of a line begins."""
_LETTER = re.compile(r"\\.|\(\?P|[^\W\d_]", re.DOTALL)
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
    regex = _filled(entry["regex"], parts).strip()
    # For text in lower case; escapes stay as they are.
    regex = _LETTER.sub(lambda match: match[0] if len(match[0]) > 1 else match[0].lower(), regex)
    rest = regex.removeprefix(_LINE)
    first = None if rest == regex else re.compile(rest, re.VERBOSE | re.DOTALL)
    compiled = re.compile(regex if first is None else rf"\n{rest}", re.VERBOSE | re.DOTALL)
    words = tuple(_filled(each, parts) for each in entry.get("words", ()))
    groups = [group(each.removeprefix("~")) for each in words]
    is_local = bool(words) and words[0][0] != "~"
    near = [number for number, each in zip(groups, words, strict=True) if each[0] != "~"]
    return Pattern(
        compiled,
        first,
        words,
        entry.get("severity", ""),
        frozenset(entry.get("kinds", EVERY)),
        entry.get("reach", 100),
        tuple(entry.get("files", "").split()),
        frozenset(groups),
        tuple(near if is_local else ()),
    )


def _filled(text: str, parts: Mapping[str, Any]) -> str:
    """Return the text with its parts put in. Parts may have parts."""
    while _PART.search(text) is not None:
        text = _PART.sub(lambda match: parts[match[1]], text)
    return text


RULES = _read()
"""All rules, in the order of the reference page."""
RULES_BY_ID = {rule.id: rule for rule in RULES}
