"""The summary of a skill, and the parts of a skill document that an evaluation shows a model.

The summary is the description and the Scope section; the algorithm is that of the size-impact
document, as read in spec/evals.md §1.6. It runs in linear time and raises nothing for any text.

Evaluations also read documents that a catalog refuses. A document without closed frontmatter is all
body. A description that is not valid YAML is recovered from its line (spec/evals.md §1.6, step 1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from skillyard.base.arguments import check_arguments
from skillyard.base.errors import InvalidFrontmatter, SkillYamlError
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.engine.formats.frontmatter import quote_plain_values, split, unify_lines
from skillyard.engine.formats.yaml_guard import NULLS, Scalar, plain_value, read_mapping

JOINT = "\n"
"""The separator of description and scope (size-impact document)."""
_LEVEL_TWO = re.compile(r" {0,3}##(?:[ \t](.*))?")
_REFERENCE = re.compile(r"\[skill:[^\]\n]+\]")
_BLANK_RUN = re.compile(r"\n{3,}")
# A run of backticks whose line holds another one is inline code, not the opening of a block.
_FENCE = re.compile(r"[ \t]*(?:(`{3,}+)[^`]*|(~{3,}+).*)")
_DESCRIPTION = re.compile(r"^description[ \t]*:[ \t]+(.*?)[ \t]*$", re.MULTILINE)
_NO_PLAIN_TEXT = ("|", ">", "[", "{")


@check_arguments
def extract_summary(text: str) -> str | None:
    """Return the deterministic summary of a SKILL.md text, or None when it would be empty.

    It is the frontmatter's ``description``, one line feed, and the first ``## Scope`` section
    without fenced code and without ``[skill:name]`` references. Raises nothing.
    """
    return JOINT.join(filter(None, parts(text))) or None


def parts(text: str) -> tuple[str, str]:
    """Return the description and the scope of a SKILL.md text; either may be empty."""
    document = split_document(text)
    return document.description, scope_of(document.body)


def scope_of(body: str) -> str:
    """Return the content of the first ``## Scope`` section of a body with LF line ends.

    The section ends before the next level-2 heading. Headings inside fenced code are ignored.
    Headings of other levels belong to the section.
    """
    lines: list[str] = []
    inside = False
    for line in _outside_fences(body):
        title = _level_two_title(line)
        if title is None:
            if inside:
                lines.append(_without_references(line))
        elif inside:
            break
        else:
            inside = title == "Scope"
    return _BLANK_RUN.sub("\n\n", "\n".join(lines)).strip()


def _outside_fences(body: str) -> Iterator[str]:
    """Yield the lines outside fenced code; a block that is never closed runs to the end."""
    fence = ""
    for line in body.split("\n"):
        if fence:
            fence = "" if closes_fence(line, fence) else fence
        elif not (fence := opening_fence(line)):
            yield line


def _level_two_title(line: str) -> str | None:
    """Return the text of an ATX heading of level 2 (CommonMark 0.31, §4.2); None for other lines.

    Closing hashes are no text, and count as such only behind a blank.
    """
    heading = _LEVEL_TWO.fullmatch(line)
    if heading is None:
        return None
    title = (heading[1] or "").strip(" \t")
    bare = title.rstrip("#")
    return title if bare and bare[-1] not in " \t" else bare.rstrip(" \t")


def _without_references(line: str) -> str:
    # Only the text before the last bracket can hold a whole reference. Looking no further keeps
    # the search linear in a line of many openings without an end.
    head, bracket, tail = line.rpartition("]")
    return _REFERENCE.sub("", head + bracket) + tail


def opening_fence(line: str) -> str:
    """Return the marks with which a line opens a block, at any indentation; empty if it does not.

    Three or more backticks without another one behind them, or three or more tildes.
    """
    opening = _FENCE.fullmatch(line)
    return "" if opening is None else opening[1] or opening[2]


def closes_fence(line: str, fence: str) -> bool:
    """True when a line ends the block that ``fence`` opened: as many of its marks, nothing else."""
    mark = line.strip(" \t")
    return len(mark) >= len(fence) and mark == fence[0] * len(mark)


class DocumentParts(NamedTuple):
    """The two parts of a skill document that a model may be given."""

    description: str
    """Stripped; empty if it is missing or not a text."""
    body: str
    """The text after the frontmatter, with LF line ends and otherwise unchanged."""


def line_feeds(text: str) -> str:
    """Return the text without one leading byte order mark, with CRLF and lone CR as LF."""
    return unify_lines(text).replace("\r", "\n")


def split_document(text: str) -> DocumentParts:
    """Return description and body of a skill document. Raises nothing."""
    text = line_feeds(text)
    # A catalog caps the block; here a block of any size still is no body.
    limits = DEFAULT_LIMITS._replace(frontmatter_bytes=4 * len(text))
    try:
        block = split(text, "", limits).block
    except InvalidFrontmatter:
        return DocumentParts("", text)
    closing = text.index("\n") + 1 + len(block)
    # The body of `split` is trimmed, which would make a heading of indented code on its first line.
    return DocumentParts(_description(block), text[closing:].partition("\n")[2])


def _description(block: str) -> str:
    """Return the description, as YAML or else as the last line with that name has it."""
    for candidate in (block, quote_plain_values(block)[0]):
        try:
            node = read_mapping(candidate, "")[0].get("description")
        except SkillYamlError:
            continue
        value = plain_value(node) if isinstance(node, Scalar) else None
        return value.strip() if isinstance(value, str) else ""
    line: str = (_DESCRIPTION.findall(block) or [""])[-1]
    if line in NULLS or line.startswith(_NO_PLAIN_TEXT):
        return ""
    is_quoted = len(line) > 1 and line[0] == line[-1] and line[0] in "'\""
    return line[1:-1].strip() if is_quoted else line
