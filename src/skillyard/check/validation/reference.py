"""Reads a SKILL.md like the reference validator of agentskills.io.

It parses files differently from skillyard. The fences are three hyphens *anywhere*, and nothing may
come before the first ones, not even a byte order mark or a blank line. Flow style, anchors, tags
and duplicate keys are errors. Every scalar is text. Names are trimmed and normalised (NFKC). The
safety limits of our YAML guard still apply. Source: spec of the reference validator, "Reference
validator quirks", all measured.
"""

from __future__ import annotations

import re
import unicodedata
from functools import partial
from typing import Any

import yaml

from skillyard.base.errors import InvalidFrontmatter, SkillYamlError
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.check.validation.file_rules import SPEC_FIELDS
from skillyard.check.validation.view import FOLDER, View, text_of
from skillyard.engine.catalog.entries import read_candidate
from skillyard.engine.discovery.layout import Candidate
from skillyard.engine.formats.frontmatter import decode
from skillyard.engine.formats.yaml_guard import read_mapping

_FENCE = "---"


def reference_view(candidate: Candidate) -> View:
    """Return the view of one file. Raises SkillError with the code of the profile."""
    path = candidate.path
    data = read_candidate(candidate).data
    decode(data, path)  # refuses what is no text; the byte order mark counts here
    text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    block, body = _split(text, path)
    fields = read_mapping(block, path, first_line=1)
    _refuse_dialect(block, fields[1], path)
    name, description = (text_of(fields[0].get(key)) for key in ("name", "description"))
    name = unicodedata.normalize("NFKC", name.strip()) if name else name
    view = View(path, FOLDER, name, description, block, body)
    view.fields = fields
    return view


def _split(text: str, path: str) -> tuple[str, str]:
    if not text.startswith(_FENCE):
        raise InvalidFrontmatter(
            "the file does not start with ---",
            path=path,
            line=1,
            column=1,
            code="frontmatter_missing",
            hint="start the file with three hyphens: no mark, blank line or comment before them",
            found=text[:60].partition("\n")[0],
        )
    parts = text.split(_FENCE, 2)
    if len(parts) < 3:
        raise InvalidFrontmatter(
            "the frontmatter is not closed: no second ---",
            path=path,
            line=1,
            code="frontmatter_unclosed",
            hint="put a line of exactly three hyphens after the last field",
        )
    if len(parts[1].encode("utf-8", "replace")) > DEFAULT_LIMITS.frontmatter_bytes:
        raise InvalidFrontmatter(
            f"the frontmatter is larger than {DEFAULT_LIMITS.frontmatter_bytes:,} bytes",
            path=path,
            line=1,
            code="frontmatter_too_large",
            hint="move long text into the body",
        )
    return parts[1], parts[2].strip()


def _refuse_dialect(block: str, lines: dict[str, int], path: str) -> None:
    """Raise SkillYamlError for valid YAML that the validator's dialect does not allow.

    That is flow style, tabs outside of quotes, block scalars and comments, and a byte order mark at
    the start of a line. The block has already passed the guard. Nothing is reported below a field
    that is refused as a whole.
    """
    if not any(char in block for char in "[{\t\ufeff"):
        return
    refuse = partial(_not_in_dialect, block, path)
    for number, line in enumerate(block.split("\n")):
        if line.startswith("\ufeff"):
            hint = "remove the invisible mark at the start of the line"
            raise refuse(number, 0, "byte order marks", hint)
    text = block
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    events: Any = yaml.parse(block, Loader=loader)
    for event in events:
        mark = event.start_mark
        if getattr(event, "flow_style", False) and _field_at(mark.line + 1, lines) in SPEC_FIELDS:
            hint = "write one item a line, each after a hyphen and indented"
            raise refuse(mark.line, mark.column, "values in brackets or braces", hint)
        if getattr(event, "style", None):  # a quoted or block scalar may contain anything
            start, end = mark.index, event.end_mark.index
            text = text[:start] + re.sub(".", " ", text[start:end]) + text[end:]
    for number, line in enumerate(text.split("\n")):
        tab = line.find("\t")
        if tab >= 0 and not line[:tab].lstrip(" ").startswith("#") and " #" not in line[:tab]:
            hint = "use blanks instead of the tab, or put the value in quotes"
            raise refuse(number, tab, "tabs", hint)


def _not_in_dialect(
    block: str, path: str, line: int, column: int, what: str, hint: str
) -> SkillYamlError:
    return SkillYamlError(
        f"{what} are refused by the reference validator",
        path=path,
        line=line + 1,
        column=column + 1,
        code="yaml_invalid",
        hint=hint,
        found=block.split("\n")[line].strip()[:80],
    )


def _field_at(line: int, lines: dict[str, int]) -> str:
    """Return the top-level field that a line of the block belongs to."""
    above = ((at, field) for field, at in lines.items() if at <= line)
    return max(above, default=(0, "name"))[1]
