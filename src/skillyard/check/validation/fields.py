"""Rules about the other frontmatter fields: unknown fields and wrong types.

Source: the field table of the agentskills.io specification. The fields of adk-skill, Oasis and the
skill evaluation system are extensions that the specification does not define.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from skillyard.check.validation.rule import Finding, define_rule, quote
from skillyard.check.validation.view import Kind, View
from skillyard.engine.formats.yaml_guard import Node, plain_value
from skillyard.engine.skill import SKILL_FIELDS

SPEC_FIELDS = frozenset(
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
)
"""The six fields of the agentskills.io specification."""
EXTENSION_FIELDS = (
    frozenset({each.key for each in SKILL_FIELDS.values() if each.key} - SPEC_FIELDS)
    | {"argument-hint", "paths", "when_to_use"}  # what Claude Code calls hint and triggers
    | {"dependencies"}  # for people: agentskills#110
    | {"trigger_files", "trigger_keywords"}  # older spellings of triggers
)
"""The fields that skillyard reads or knows in addition to the specification."""
_ALIASES = {"skill_name": "name", "allowed_tools": "allowed-tools"}
_DEFINED = SPEC_FIELDS | EXTENSION_FIELDS
_KNOWN = _DEFINED | frozenset(_ALIASES)
_MAX_COMPATIBILITY = 500


@define_rule(
    "unexpected_fields",
    "A field that no document defines",
    "agentskills.io: frontmatter",
    "remove it, or put it under `metadata:` where other programs may keep what is theirs",
    kinds=Kind.SKILLS,
)
def _unexpected_fields(view: View) -> Iterator[Finding]:
    if view.likely_keys is not None and view.likely_keys <= _KNOWN:
        return
    for field in view.mapping:
        if field not in _KNOWN:
            near = get_close_matches(field[:80], sorted(_DEFINED), 1, 0.8)
            yield Finding(
                f"the field {quote(field)} is not one that is read",
                view.line(field),
                field[:80],
                f"did you mean `{near[0]}`?" if near else "",
            )


@define_rule(
    "field_alias",
    "A field is written in a spelling that only some readers take",
    "agentskills.io: frontmatter",
    "write it as the specification does",
    kinds=Kind.SKILLS,
)
def _field_alias(view: View) -> Iterator[Finding]:
    for alias, field in _ALIASES.items():
        if view.node(alias) is not None:
            message = f"{alias} is another spelling of {field}"
            yield Finding(message, view.line(alias), alias, f"write `{field}:`")


@define_rule(
    "extension_fields",
    "A field that our documents define and the specification does not",
    "adk-skill, Oasis, skill evaluation system",
    "keep it for hosts that know it; strict ones refuse the file unless it is under `metadata:`",
    kinds=[Kind.FOLDER],
)
def _extension_fields(view: View) -> Iterator[Finding]:
    if view.likely_keys is not None and view.likely_keys.isdisjoint(EXTENSION_FIELDS):
        return
    for field in view.mapping:
        if field in EXTENSION_FIELDS:
            message = f"the field {quote(field)} is an extension of the specification"
            yield Finding(message, view.line(field), field)


@define_rule(
    "compatibility_not_string",
    "The field compatibility is not text",
    "agentskills.io: compatibility",
    "write it on one line",
    kinds=Kind.SKILLS,
)
def _compatibility_not_string(view: View) -> Iterator[Finding]:
    if isinstance(view.node("compatibility"), list | dict):
        message = "compatibility must be text, not a list or mapping"
        yield Finding(message, view.line("compatibility"))


@define_rule(
    "compatibility_too_long",
    f"The field compatibility is longer than {_MAX_COMPATIBILITY} characters",
    "agentskills.io: compatibility",
    "name the requirements only; details belong in the body",
    kinds=Kind.SKILLS,
)
def _compatibility_too_long(view: View) -> Iterator[Finding]:
    length = len(view.text("compatibility") or "")
    if length > _MAX_COMPATIBILITY:
        message = f"compatibility has {length:,} characters; {_MAX_COMPATIBILITY} are allowed"
        yield Finding(message, view.line("compatibility"))


@define_rule(
    "compatibility_empty",
    "The field compatibility is there and blank",
    "agentskills.io: compatibility",
    "remove the field",
    kinds=Kind.SKILLS,
)
def _compatibility_empty(view: View) -> Iterator[Finding]:
    text = view.text("compatibility")
    if text is not None and not text.strip():
        yield Finding("compatibility is empty", view.line("compatibility"))


@define_rule(
    "license_not_string",
    "The field license is not text",
    "agentskills.io: license",
    "write the licence's name, or the name of a file beside it",
    kinds=Kind.SKILLS,
)
def _license_not_string(view: View) -> Iterator[Finding]:
    if isinstance(view.node("license"), list | dict):
        yield Finding("license must be text, not a list or mapping", view.line("license"))


@define_rule(
    "metadata_not_string_map",
    "A value under metadata is not text",
    "agentskills.io: metadata",
    "put the value in quotes: the specification's metadata maps text to text",
    kinds=[Kind.FOLDER],
)
def _metadata_not_string_map(view: View) -> Iterator[Finding]:
    metadata = view.node("metadata")
    for key, node in metadata.items() if isinstance(metadata, dict) else ():
        if not isinstance(plain_value(node), str):
            yield Finding(
                f"the value of {quote(key)} under metadata is {_type_name(node)}, not text",
                view.line_of(node) or view.line("metadata"),
                key[:80],
            )


def _type_name(node: Node) -> str:
    if isinstance(node, list):
        return "a list"
    if isinstance(node, dict):
        return "a mapping"
    return "null" if node.null else "a number or a boolean"


@define_rule(
    "allowed_tools_not_string",
    "The field allowed-tools is a list",
    "agentskills.io: allowed-tools",
    "write one text with blanks between the tools; the list is adk-skill's form",
    kinds=[Kind.FOLDER],
)
def _allowed_tools_not_string(view: View) -> Iterator[Finding]:
    if isinstance(view.node("allowed-tools"), list | dict):
        yield Finding("allowed-tools is not one text", view.line("allowed-tools"))


@define_rule(
    "allowed_tools_commas",
    "The tools of allowed-tools are separated by commas",
    "agentskills.io: allowed-tools",
    "separate them by blanks: hosts that split at blanks keep the comma in the name",
    kinds=[Kind.FOLDER],
)
def _allowed_tools_commas(view: View) -> Iterator[Finding]:
    text = view.text("allowed-tools")
    if text is not None and "," in _outside_parentheses(text):
        yield Finding("allowed-tools uses commas", view.line("allowed-tools"), text[:80])


def _outside_parentheses(text: str) -> str:
    outside = []
    depth = 0
    for char in text:
        depth = max(0, depth + (char == "(") - (char == ")"))
        if depth == 0:
            outside.append(char)
    return "".join(outside)


CHECKS = (
    _unexpected_fields,
    _field_alias,
    _extension_fields,
    _compatibility_not_string,
    _compatibility_too_long,
    _compatibility_empty,
    _license_not_string,
    _metadata_not_string_map,
    _allowed_tools_not_string,
    _allowed_tools_commas,
)
