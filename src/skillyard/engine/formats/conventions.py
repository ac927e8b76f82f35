"""Parses convention documents (AGENTS.md and similar), and selects the parser for a path.

adk-skill, "Parsing Strictness": files below ``.skills/`` are strict; files with a convention name
are permissive, with optional frontmatter; anything else is strict.
"""

from __future__ import annotations

import os
import re

from skillyard.base.errors import Diagnostic, SkillError
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line, name_fault
from skillyard.engine.formats.agentskills import (
    DERIVABLE,
    ParsedDocument,
    SkillText,
    content_digest,
    parse_document,
    parse_skill,
    split_patterns,
)
from skillyard.engine.formats.fields import Fields
from skillyard.engine.formats.file_names import OASIS_FOLDER, convention_of, folder_convention_of
from skillyard.engine.formats.frontmatter import unify_lines
from skillyard.engine.formats.yaml_guard import Scalar
from skillyard.engine.skill import CONVENTION_TAG, Origin, Skill, document_id

_DERIVED_DESCRIPTION_CHARS = 120


def parse_instructions(path: str | os.PathLike[str], content: str) -> Skill:
    """Parse a document by its path (adk-skill ``parse_instruction_markdown``). Raises SkillError.

    Files below ``.skills`` are strict; a convention name is permissive; a ``SKILL.md`` is lenient,
    with one repair; anything else is strict.
    """
    path = str(path)
    parts = path.replace("\\", "/").split("/")
    if any(part.lower() == ".skills" for part in parts[:-1]):
        return parse_skill(path, content)
    if convention_of(parts[-1]) is not None:
        return parse_convention(SkillText(path, origin=Origin.CONVENTION), content).skill
    if parts[-1] == "SKILL.md":
        return parse_document(SkillText(path), content, strict=False).skill
    return parse_skill(path, content)


def parse_convention(document: SkillText, content: str) -> ParsedDocument:
    """Parse a convention document. Without valid frontmatter the whole text is the body."""
    convention = convention_of(document.path.replace("\\", "/").rsplit("/", 1)[-1])
    if convention is None:
        return _parse_in_folder(document, content)
    return _parse_convention(document, content, *convention)


def _parse_in_folder(document: SkillText, content: str) -> ParsedDocument:
    """Parse a file of a convention folder: every field is optional, and its file gives the name."""
    name, tag = folder_convention_of(document.path) or ("", "")
    if name_fault(name) is not None:
        name = tag
    try:
        derived = document._replace(folder=name, derives=True)
        parsed = parse_document(derived, _with_quoted_globs(content), strict=False)
    except SkillError:
        return _parse_convention(document, content, name, tag)
    diagnostics = [each for each in parsed.diagnostics if each.code not in DERIVABLE]
    skill = _with_tags(parsed.skill, tag)
    fields = parsed.fields
    if fields is not None:
        files = [*fields.texts("globs", split=split_patterns)]
        files += fields.texts("applyTo", split=split_patterns)
        if files:
            triggers = skill.triggers._replace(files=(*skill.triggers.files, *files))
            skill = skill.replace(triggers=triggers, hash=skill.hash, id=skill.id)
    return ParsedDocument(skill, diagnostics, fields)


_FRONTMATTER = re.compile(r"\ufeff?---[ \t]*\r?\n")
_FENCE = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_BARE_LIST = re.compile(r"^(globs:[ \t]*)\[([^'\"\r\n]*)\](?=[ \t]*\r?$)", re.MULTILINE)
_GLOBS = re.compile(
    r"^(globs:[ \t]*(?=[*!{&%@`]|\[(?![^\r\n]*\][ \t]*\r?$))|[ \t]*-[ \t]+(?=[*!]))([^\r\n]*)",
    re.MULTILINE,
)
"""Patterns that begin with a sign of YAML, alone or in a list."""


def _with_quoted_globs(content: str) -> str:
    """Return the text with quotes around patterns that begin with a sign of YAML.

    Cursor writes them bare: ``*`` is an alias there, ``{`` a mapping and ``!`` a tag. Only the
    frontmatter is meant.
    """
    start = _FRONTMATTER.match(content)
    end = None if start is None else _FENCE.search(content, start.end())
    if start is None or end is None:
        return content
    block = _BARE_LIST.sub(r"\1'\2'", content[: end.start()])
    block = _GLOBS.sub(_quote_globs, block)
    return block + content[end.start() :]


def _quote_globs(match: re.Match[str]) -> str:
    patterns = match[2].rstrip().replace("'", "''")
    return f"{match[1]}'{patterns}'"


def _parse_convention(document: SkillText, content: str, name: str, tag: str) -> ParsedDocument:
    text = unify_lines(content)
    diagnostics: list[Diagnostic] = []
    if text.startswith("---"):
        try:
            parsed = parse_document(document, content, strict=False)
        except SkillError as error:
            head = text[:400]  # a known field below the rule: it is meant as a fence
            if "\nname:" in head or "\ndescription:" in head:
                ignored = error.diagnostic("warning")
                message = f"the frontmatter was left in the text: {ignored.message}"
                hint = ignored.hint or "repair the frontmatter or remove it"
                diagnostics = [ignored._replace(message=message, hint=hint)]
        else:
            return parsed._replace(skill=_with_tags(parsed.skill, tag))
    digest = document.hash or content_digest(content)
    body = text.strip()
    skill = Skill(
        name=name,
        description=_derived_description(body, document.path)[: DEFAULT_LIMITS.description_chars],
        body=body,
        path=document.path,
        id=document_id(name, digest),
        slug=name,
        tags=(CONVENTION_TAG, tag),
        origin=document.origin,
        hash=digest,
        last_modified=document.last_modified,
        scope=document.scope,
    )
    return ParsedDocument(skill, diagnostics)


def _with_tags(skill: Skill, tag: str) -> Skill:
    missing = tuple(word for word in (CONVENTION_TAG, tag) if word not in skill.tags)
    return skill.replace(tags=skill.tags + missing, hash=skill.hash, id=skill.id)


def _derived_description(body: str, path: str) -> str:
    """Return the first heading, else the first non-blank line, else a fixed sentence."""
    first = ""
    for line in body.split("\n"):
        text = line.strip()
        if text.startswith("#") and text.lstrip("#").strip():
            return clean_line(text.lstrip("#"))
        first = first or text
    if first:
        return clean_line(first[:_DERIVED_DESCRIPTION_CHARS])
    return f"Instructions loaded from {path.replace(chr(92), '/').rsplit('/', 1)[-1]}"


def parse_key_skill(document: SkillText, content: str) -> ParsedDocument:
    """Parse one registry file. ``origin`` is ``oasis`` only when no required field is missing.

    Raises SkillError for a file that is not a skill.
    """
    parsed = parse_document(document, content, strict=False)
    missing = _missing(parsed.skill, parsed.fields)
    if not missing:
        return parsed
    parsed.diagnostics.append(
        Diagnostic(
            "oasis_incomplete",
            "warning",
            document.path,
            f"not in the {OASIS_FOLDER} registry: {', '.join(missing)} missing or of a wrong type",
            "give id, name, description, triggers (a list) and priority (an integer)",
            1,
        )
    )
    return parsed._replace(skill=parsed.skill.replace(origin=Origin.AGENTSKILLS))


def _missing(skill: Skill, fields: Fields | None) -> list[str]:
    """Return the required fields that are missing or have a wrong type.

    Parsing has already checked name and description.
    """
    if fields is None:
        return []
    node = fields.node("id")
    checks = {
        "id": isinstance(node, Scalar) and not node.null and bool(node.text.strip()),
        "triggers": fields.node("triggers") is not None and bool(skill.triggers.phrases),
        "priority": fields.is_integer("priority"),
    }
    return [field for field, present in checks.items() if not present]
