"""Parses agentskills.io and adk-skill documents.

Fields: those of agentskills.io (name, description, license, compatibility, metadata,
allowed-tools), of adk-skill (version, tags, references, trigger, hint), of the skill evaluation
system (keywords, tags, triggers.files, triggers.keywords) and of Oasis (id, triggers, priority,
inputs, outputs, safety_notes).
"""

from __future__ import annotations

import hashlib
import os
import re
from types import NoneType
from typing import Any, NamedTuple

from skillyard.base.errors import (
    Diagnostic,
    InvalidFrontmatter,
    MissingField,
    SkillIoError,
    SkillYamlError,
)
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line, name_fault
from skillyard.engine.formats.fields import Fields, read_requirements
from skillyard.engine.formats.frontmatter import FencedDocument, decode, split, unify_lines
from skillyard.engine.formats.yaml_guard import Node, Scalar
from skillyard.engine.skill import SKILL_FIELDS, Reference, Skill, Triggers, document_id


class SkillText(NamedTuple):
    """Facts about the file that the text comes from."""

    path: str
    """The path as displayed and stored in ``Skill.path``."""
    folder: str | None = None
    """Name of the skill's own folder. None for a single file."""
    origin: str | None = None
    scope: str = "project"
    hash: str | None = None
    """SHA-256 of the file's bytes. Computed from the text when None."""
    last_modified: int | None = None
    references: tuple[Reference, ...] = ()
    derives: bool = False
    """A missing name is that of the folder, and a missing description the first paragraph."""
    plugin: str = ""
    """The plugin that it belongs to; the name of the skill begins with it."""


class ParsedDocument(NamedTuple):
    """A parsed document: the skill, the diagnostics, and the raw fields."""

    skill: Skill
    diagnostics: list[Diagnostic]
    fields: Fields | None = None


def parse_skill(path: str | os.PathLike[str], content: str) -> Skill:
    """Parse one skill document strictly (adk-skill ``parse_skill_markdown``).

    Checks the fences, valid YAML, field types, a non-empty name and description, and the caps.
    Never repairs. Raises SkillError: InvalidFrontmatter, SkillYamlError or MissingField.
    """
    check_content(content, str(path))
    return parse_document(SkillText(str(path)), content, strict=True).skill


def check_content(content: str, path: str) -> None:
    """Check the size and NUL bytes of text that was not read from a file. Raises SkillIoError."""
    if "\0" in content:
        decode(content.encode("utf-8", "replace"), path)  # raises with the line of the NUL
    most = DEFAULT_LIMITS.skill_file_bytes
    if len(content) > most:
        raise SkillIoError(
            f"the text is larger than {most:,} bytes",
            path=path,
            code="file_too_large",
            hint="move long material into files beside it",
        )


def parse_document(document: SkillText, content: str, *, strict: bool) -> ParsedDocument:
    """Parse one document. Lenient parsing repairs YAML once and reports it. Raises SkillError."""
    text = unify_lines(content)
    diagnostics: list[Diagnostic] = []
    if document.derives:
        fenced = split_or_body(text, document.path, diagnostics)
    else:
        fenced = split(text, document.path)
    mapping, lines = _mapping(fenced, document.path, strict, diagnostics)
    fields = Fields(mapping, lines, document.path, strict=strict, diagnostics=diagnostics)
    digest = document.hash or content_digest(content)
    return ParsedDocument(_skill(fields, fenced, document, digest), diagnostics, fields)


def content_digest(content: str) -> str:
    """Return the SHA-256 of the text's UTF-8 bytes, as hexadecimal digits."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


_COMMENTS = re.compile("^ *#.*", re.MULTILINE)


def _mapping(
    fenced: FencedDocument, path: str, strict: bool, diagnostics: list[Diagnostic]
) -> tuple[dict[str, Node], dict[str, int]]:
    if not _COMMENTS.sub("", fenced.block).strip():
        return {}, {}  # an empty block is valid YAML; the missing fields are reported later
    from skillyard.engine.formats.frontmatter import quote_plain_values
    from skillyard.engine.formats.yaml_guard import read_mapping  # imports the YAML parser

    problem: SkillYamlError | None = None
    result: tuple[dict[str, Node], dict[str, int]] = {}, {}
    try:
        result = read_mapping(fenced.block, path, first_line=fenced.block_line)
        if strict or not isinstance(result[0].get("description"), dict):
            return result
    except SkillYamlError as error:
        if strict or error.code != "yaml_invalid":
            raise
        problem = error
    block, changed = quote_plain_values(fenced.block)
    try:
        if changed:
            repaired = read_mapping(block, path, first_line=fenced.block_line)
            diagnostics.append(_repaired(problem, path, changed[0] + fenced.block_line))
            return repaired
    except SkillYamlError:
        pass
    if problem is not None:
        raise problem from None
    return result


def _repaired(error: SkillYamlError | None, path: str, line: int) -> Diagnostic:
    """Say what was repaired: what YAML refuses, or without an error a description that is none."""
    if error is None:
        error = SkillYamlError("the description is a mapping", path=path, line=line)
    return Diagnostic(
        "yaml_repaired",
        "warning",
        path,
        f"the frontmatter is not valid YAML and was read with quotes added ({error.message})",
        "put the value in quotes yourself: other readers may refuse the file",
        error.line or line,
        error.column,
        error.found,
    )


def _skill(fields: Fields, fenced: FencedDocument, document: SkillText, digest: str) -> Skill:
    name, description = _name_and_description(fields, fenced, document)
    if document.plugin:
        name = f"{document.plugin}:{name}"
    known: dict[str, Any] = {
        field: value
        for field, key in TEXT_KEYS.items()
        if key in fields and (value := fields.text(key)) is not None
    }
    if "hint" not in known and "argument-hint" in fields:
        known["hint"] = fields.text("argument-hint")
    for field, key in LIST_KEYS.items():
        if key in fields:
            known[field] = fields.texts(key, split=_one if key in _ONE_TEXT else None)
    tools = _allowed_tools(fields)
    if tools:
        known["allowed_tools"] = tools
    if "requires" in fields or "metadata" in fields:
        known["requires"] = read_requirements(fields)
    triggers = _triggers(fields)
    if triggers is not None:
        known["triggers"] = triggers
    for field, key in _FLAG_KEYS.items():
        if key in fields and (flag := fields.flag(key)) is not None:
            known[field] = flag
    for field, key in _INTEGER_KEYS.items():
        if key in fields and (number := fields.integer(key)) is not None:
            known[field] = number
    slug = known.pop("slug", None)
    skill = Skill(
        name=name,
        description=description,
        body=fenced.body,
        path=document.path,
        id=document_id(name, digest),
        slug=slug or document.folder or name,
        metadata=fields.metadata() if "metadata" in fields else {},
        references=document.references,
        origin=document.origin,
        hash=digest,
        last_modified=document.last_modified,
        scope=document.scope,
        plugin=document.plugin or None,
        frontmatter=fenced.block if fenced.block_line > 1 else None,
        **known,
    )
    if skill.internal and not skill.trigger:  # as `npx skills` hides it
        return skill.replace(trigger=True, hash=digest, id=skill.id)
    return skill


def _name_and_description(
    fields: Fields, fenced: FencedDocument, document: SkillText
) -> tuple[str, str]:
    if not document.derives:
        return fields.name(), fields.description()
    try:
        name = fields.name()
    except MissingField as error:
        name = derived_name(error, document.folder or "", fields)
    try:
        description = fields.description()
    except MissingField as error:
        description = derived_description(error, fenced.body, fields)
    return name, description


def _keys_of(kind: type) -> dict[str, str]:
    """Return the frontmatter keys of the fields whose default has a type, by field name."""
    return {
        each.name: each.key
        for each in SKILL_FIELDS.values()
        if each.key and type(each.default) is kind and each.name not in _READ_APART
    }


_READ_APART = frozenset(
    ["name", "description", "allowed_tools", "triggers", "metadata", "requires"]
)
"""The fields whose value in frontmatter has a form of its own."""
TEXT_KEYS = _keys_of(NoneType)
"""Field name -> frontmatter key, for the fields that hold one text."""
LIST_KEYS = _keys_of(tuple)
"""Field name -> frontmatter key, for the fields that hold a list of texts."""
_FLAG_KEYS = _keys_of(bool)
_INTEGER_KEYS = _keys_of(int)
_ONE_TEXT = frozenset(["inputs", "outputs", "safety_notes"])


def _one(text: str) -> list[str]:
    return [text.strip()]


def _allowed_tools(fields: Fields) -> tuple[str, ...]:
    if "allowed-tools" in fields:
        return fields.texts("allowed-tools", split=split_tools)
    if "allowed_tools" in fields and not fields.strict:
        # Ignoring an author's tool restriction would be unsafe.
        fields.warn(
            "allowed_tools",
            "field_alias",
            "allowed_tools is read as allowed-tools",
            "write it with a hyphen",
        )
        return fields.texts("allowed_tools", split=split_tools)
    return ()


def split_tools(text: str) -> list[str]:
    """Split ``Bash(git add:*) Read, Write`` at spaces and commas outside parentheses."""
    tools: list[str] = []
    current: list[str] = []
    depth = 0
    for char in text:
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        if depth == 0 and (char.isspace() or char == ","):
            tools.append("".join(current))
            current = []
        else:
            current.append(char)
    tools.append("".join(current))
    return [tool.strip() for tool in tools if tool.strip()]


def _triggers(fields: Fields) -> Triggers | None:
    """Read ``triggers`` (a list holds phrases, a map has keys) and the older flat keys."""
    node = fields.node("triggers")
    files: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    if isinstance(node, dict):
        inner = fields.within("triggers", node)
        files = inner.texts("files", split=_one)
        keywords = inner.texts("keywords", split=_one)
        phrases = inner.texts("phrases", split=_one)
    elif isinstance(node, list | Scalar):
        phrases = fields.texts("triggers", split=_one)
    files += fields.texts("trigger_files", split=_one)
    keywords += fields.texts("trigger_keywords", split=_one)
    if not fields.strict:  # what Claude Code calls phrases and files
        phrases += fields.texts("when_to_use", split=_one)
        files += fields.texts("paths", split=split_patterns)
    if not (files or keywords or phrases):
        return None
    for phrase in phrases:
        if " " not in phrase and ("*" in phrase or ("/" in phrase and "." in phrase)):
            fields.warn(
                "triggers",
                "trigger_looks_like_glob",
                f"the trigger phrase {phrase[:60]!r} looks like a file pattern",
                "put file patterns under `triggers:` / `files:`",
            )
            break
    return Triggers(files, keywords, phrases)


def split_patterns(text: str) -> list[str]:
    """Split file patterns at commas outside of braces."""
    patterns = [""]
    depth = 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == "," and depth <= 0:
            patterns.append("")
        else:
            patterns[-1] += char
    return [pattern.strip() for pattern in patterns if pattern.strip()]


# Claude Code loads a file whose author left out name or description: every field is optional there,
# the name is that of the folder and the description the first paragraph
# (code.claude.com/docs/en/skills, read on 2026-11-28). In a folder that it reads such a file loads
# here too, with a warning.

DERIVABLE = (
    *("name_missing", "name_empty", "description_missing", "description_empty"),
    "frontmatter_missing",
)
"""The codes of what may be left out."""
_OTHER_FENCES = ("---", "+++")
"""What frontmatter begins with that its author meant to be read."""


def split_or_body(text: str, path: str, diagnostics: list[Diagnostic]) -> FencedDocument:
    """Split a document at its fences; a text without any is all body, with a warning.

    Raises InvalidFrontmatter for frontmatter that is open, too large, or fenced in another way.
    """
    try:
        return split(text, path)
    except InvalidFrontmatter as error:
        first = text.split("\n", 1)[0]
        if error.code != "frontmatter_missing" or "\r" in first:
            raise
        if text.lstrip().startswith(_OTHER_FENCES):
            raise
        diagnostics.append(error.diagnostic("warning"))
        return FencedDocument("", text.strip(), 1)


def derived_name(error: MissingField, folder: str, fields: Fields) -> str:
    """Return the folder's name for a missing name, with a warning. Raises for an unsafe one."""
    if name_fault(folder) is not None or not folder:
        raise error
    _warn(fields, error, f"it is called {clean_line(folder)}, as its folder")
    return folder


def derived_description(error: MissingField, body: str, fields: Fields) -> str:
    """Return the first paragraph for a missing description, with a warning.

    Raises the error for a body without any text.
    """
    paragraph = first_paragraph(body)[: DEFAULT_LIMITS.description_warn_chars].rstrip()
    if not paragraph:
        raise error
    _warn(fields, error, "the first paragraph takes its place")
    return paragraph


def first_paragraph(body: str) -> str:
    """Return the first paragraph of a text on one line; its first heading when there is no other.

    Code blocks, HTML comments and horizontal rules are no paragraphs. Empty for a text without one.
    """
    heading = ""
    lines: list[str] = []
    closing = ""
    for line in map(str.strip, body.split("\n")):
        if closing:
            closing = "" if closing in line else closing
        elif line.startswith(("```", "~~~")):
            closing = line[:3]
        elif line.startswith("<!--"):
            closing = "" if "-->" in line else "-->"
        elif line.startswith("#"):
            heading = heading or clean_line(line.lstrip("#"))
        elif line.strip("-*_= "):
            lines.append(line)
            continue
        if lines:
            break
    return clean_line(" ".join(lines)) or heading


def _warn(fields: Fields, error: MissingField, instead: str) -> None:
    code = error.code
    fields.warn(error.field, code, f"{error.message}: {instead}", error.hint)
