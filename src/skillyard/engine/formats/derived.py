"""The name and the description of a skill whose author left them out.

Claude Code loads such a file: every field is optional there, the name is that of the folder and the
description the first paragraph (code.claude.com/docs/en/skills, read on 2026-11-28). In a folder
that Claude Code reads it loads here too, with a warning.
"""

from __future__ import annotations

from skillyard.base.errors import Diagnostic, InvalidFrontmatter, MissingField
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line, name_fault
from skillyard.engine.formats.fields import Fields
from skillyard.engine.formats.frontmatter import FencedDocument, split

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
    fields.warn(error.field, code, f"{error.message}: {instead}", error.hint, "warning")
