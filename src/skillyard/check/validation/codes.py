"""The table of all codes of ``check``, read from ``data/codes.toml``, and the three profiles.

``lenient``
    A skill that loads has no errors, except for a cycle of requirements: the other errors are
    exactly those of reading. Everything else is a warning or a note.
``spec``
    The text of the agentskills.io specification, with YAML 1.2 types. Extensions of the other
    documents are warnings.
``reference``
    The verdict of the specification's reference validator: six fields, its YAML dialect, its
    fences, its definition of a letter. It does not check bodies.

A diagnostic of *reading* keeps at least its original severity: no profile hides that a file does
not load. The reference page of error codes is generated from ``RULES``, and a test checks that it
lists exactly the codes in the sources.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from skillyard.base.errors import InvalidInput, UnknownName
from skillyard.engine.formats.agentskills import LIST_KEYS, TEXT_KEYS
from skillyard.engine.formats.fields import KEYS
from skillyard.engine.skill import SKILL_FIELDS, Triggers

ERROR = "error"
WARNING = "warning"
INFO = "info"
OFF = "off"
DEFAULT_PROFILE = "lenient"
REFERENCE = "reference"

_WORDS = {"E": ERROR, "W": WARNING, "I": INFO, "-": OFF}
_RANK = {OFF: 0, INFO: 1, WARNING: 2, ERROR: 3}
PROFILES = (DEFAULT_PROFILE, "spec", REFERENCE)


class RuleText(NamedTuple):
    """The description of a code."""

    title: str
    source: str
    hint: str
    severities: Mapping[str, str]
    """Profile name -> severity. For codes of reading it is the lowest reported severity."""
    kinds: frozenset[str] = frozenset()
    """Of a rule over one file: the kinds of document that it applies to (``view.Kind``)."""


def _codes(ending: str, keys: Iterable[str]) -> dict[str, str]:
    fields = [key.replace("-", "_") for key in keys]
    return {f"{field}_{ending}": field for field in fields}


_TEXTS = _codes("not_string", (*TEXT_KEYS.values(), "argument-hint"))
_LISTS = _codes(
    "not_list",
    (
        *(*LIST_KEYS.values(), SKILL_FIELDS["allowed_tools"].key, SKILL_FIELDS["triggers"].key),
        *(*Triggers._fields, "trigger_files", "trigger_keywords"),
        *("paths", "when_to_use", *KEYS),
    ),
)
_TYPES = (
    (_TEXTS, "The field {} is not text", "write it on one line"),
    (_LISTS, "The field {} is no list of texts", "write a list"),
)
"""Of reading: code -> field that holds one text or a list of texts, with title and hint."""


def _severities(row: str) -> Mapping[str, str]:
    words = (_WORDS[letter] for letter in row.split())
    return MappingProxyType(dict(zip(PROFILES, words, strict=True)))


def _rules() -> Mapping[str, RuleText]:
    severities = _severities("W W -")
    rules = {
        code: RuleText(title.format(field), "reading: field types", hint, severities)
        for codes, title, hint in _TYPES
        for code, field in codes.items()
    }
    table = files(__package__).joinpath("data", "codes.toml").read_text(encoding="utf-8")
    for code, row in tomllib.loads(table).items():
        texts = (row["title"], row["source"], row["hint"])
        kinds = frozenset(row.get("kinds", "").split())
        rules[code] = RuleText(*texts, _severities(row["severity"]), kinds)
    return MappingProxyType(dict(sorted(rules.items())))


RULES = _rules()
"""Code -> title, source, hint, the severity under each profile, and kinds of document."""
_YAML_CODES = (
    *("yaml_alias", "yaml_anchor", "yaml_bad_key", "yaml_directive", "yaml_duplicate_key"),
    *("yaml_merge_key", "yaml_tag", "yaml_too_deep", "yaml_too_large"),
)
RENAMED = dict.fromkeys(_YAML_CODES, "yaml_invalid") | dict.fromkeys(
    ("extension_fields", "field_alias"), "unexpected_fields"
)
"""Codes that ``reference`` reports under a more general one: its source has no finer one."""


def code_under(profile: str, code: str) -> str:
    """Return the code under which a profile reports a code."""
    return RENAMED.get(code, code) if profile == REFERENCE else code


def check_profile(name: str) -> None:
    """Raise UnknownName for an unknown profile, InvalidInput for a wrong type."""
    if not isinstance(name, str):
        raise InvalidInput(f"profile must be a string, not {type(name).__name__}")
    if name not in PROFILES:
        raise UnknownName("profile", name, PROFILES)


def reading_severity(profile: str, code: str, reported: str) -> str:
    """Return the severity of a diagnostic of reading: the profile's, but never a lower one.

    A code that is not in the table keeps its reported severity.
    """
    severity = RULES[code].severities[profile] if code in RULES else reported
    if profile == DEFAULT_PROFILE or (severity == OFF and reported == ERROR):
        return reported
    return severity if severity == OFF else max(severity, reported, key=_RANK.__getitem__)
