"""Splits a document at its fences into frontmatter and body.

A fence is a line of exactly three hyphens, without indentation, followed by optional spaces. The
opening fence is the first line of the file. Three hyphens inside a value, an indented line or a
horizontal rule in the body are not fences.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from skillyard.base.errors import InvalidFrontmatter, SkillIoError
from skillyard.base.io.files import sha256 as digest
from skillyard.base.limits import DEFAULT_LIMITS, Limits

_BOM = "\ufeff"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class FencedDocument(NamedTuple):
    """A document split at its fences."""

    block: str
    """The frontmatter without its fences."""
    body: str
    """The text below the frontmatter, trimmed at both ends."""
    block_line: int = 2
    """1-based line of the file on which the block starts."""


def decode(data: bytes, path: str) -> str:
    """Return the bytes as text, without a byte order mark. Raises SkillIoError when not UTF-8."""
    if data[:2] in _UTF16:
        raise SkillIoError(
            "the file is UTF-16, not UTF-8",
            path=path,
            code="encoding_not_utf8",
            hint="save the file as UTF-8",
            line=1,
        )
    nul = data.find(b"\0")
    if nul >= 0:
        raise SkillIoError(
            "the file contains a NUL byte and is not text",
            path=path,
            code="binary_file",
            hint="remove the NUL byte, or delete the file if it is not a skill",
            line=data.count(b"\n", 0, nul) + 1,
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SkillIoError(
            f"byte {error.start} is not UTF-8 ({error.reason})",
            path=path,
            code="encoding_not_utf8",
            hint="save the file as UTF-8",
            line=data.count(b"\n", 0, error.start) + 1,
            found=data[error.start : error.start + 4].hex(" "),
        ) from None
    return text.removeprefix(_BOM)


def unify_lines(text: str) -> str:
    """Return the text with CRLF line ends as LF and without a byte order mark."""
    if text.startswith(_BOM):
        text = text[1:]
    return text.replace("\r\n", "\n") if "\r" in text else text


def split(text: str, path: str, limits: Limits = DEFAULT_LIMITS) -> FencedDocument:
    """Split the text at its fences. Raises InvalidFrontmatter when one is missing."""
    end_of_first = text.find("\n")
    first = text if end_of_first < 0 else text[:end_of_first]
    if first.rstrip(" \t") != "---":
        raise _no_opening(text, first, path)
    if end_of_first < 0:
        raise _no_closing_fence(path)
    start = end_of_first + 1
    position = start
    while True:
        if not text.startswith("---", position):
            position = text.find("\n---", position) + 1
            if position == 0:
                raise _no_closing_fence(path)
        line_end = text.find("\n", position)
        stop = len(text) if line_end < 0 else line_end
        if not text[position + 3 : stop].strip(" \t"):
            break
        position = stop
    block = text[start:position]
    if len(block) > limits.frontmatter_bytes or (
        not block.isascii() and len(block.encode("utf-8", "replace")) > limits.frontmatter_bytes
    ):
        raise InvalidFrontmatter(
            f"the frontmatter is larger than {limits.frontmatter_bytes:,} bytes",
            path=path,
            line=2,
            code="frontmatter_too_large",
            hint="move long text into the body",
        )
    return FencedDocument(block, text[stop:].strip())


def join_document(block: str | None, body: str, sha256: str) -> bytes:
    """Return a document that :func:`split` splits into this block and body.

    The usual numbers of blank lines are tried until the document has the digest ``sha256``, so that
    it is byte for byte the original. Otherwise it has the same content. Without a block it is the
    body alone.
    """
    if block and not block.endswith("\n"):
        block += "\n"
    start = "" if block is None else f"---\n{block}---\n"
    gaps = ("\n", "", "\n\n") if start else ("",)
    plain = b""
    for end in ("\n", "", "\n\n"):
        for gap in gaps:
            data = f"{start}{gap}{body}{end}".encode("utf-8", "surrogatepass")
            if digest(data).hex() == sha256:
                return data
            plain = plain or data
    return plain


def _no_opening(text: str, first: str, path: str) -> InvalidFrontmatter:
    hint = "start the file with a line of three hyphens, the fields, and three hyphens again"
    if "\r" in first:
        hint = "save the file with LF or CRLF line ends; CR alone is not a line end"
    elif first.strip() == "---":
        hint = "remove the blanks before the three hyphens"
    elif not first.startswith("---") and text.lstrip().startswith("---"):
        hint = "remove what stands before the three hyphens; they must be the first line"
    elif first.startswith("+++"):
        hint = "this is TOML frontmatter; write it as YAML between lines of three hyphens"
    return InvalidFrontmatter(
        "no frontmatter: the first line is not ---",
        path=path,
        line=1,
        column=1,
        code="frontmatter_missing",
        hint=hint,
        found=first[:60],
    )


def _no_closing_fence(path: str) -> InvalidFrontmatter:
    return InvalidFrontmatter(
        "the frontmatter is not closed: no second line of three hyphens",
        path=path,
        line=1,
        code="frontmatter_unclosed",
        hint="put a line of exactly three hyphens, not indented, after the last field",
    )


_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}:[ \t]+(?=\S)")
_ABOVE = re.compile(r"description:[ \t]*\n[ \t]+(?=[^\s-]|-\S)")
"""A description may begin on the next line; below another field is a list or a mapping."""
_NOT_TEXT = ("|", ">", "#")
_BAD_START = ("@", "`", "%", "*", "&", "!", "- ", "? ", ", ", "]", "}")
_CLOSED = {
    "'": re.compile(r"'(?:[^']|'')*+'"),
    '"': re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL),
    "[": re.compile(r"""\[[^]['"]*+\]"""),
    "{": re.compile(r"""\{++[^{}'"]*+\}++"""),
}
"""Where a value that begins with a sign of YAML ends. Data in brackets may nest and quote: it is
left alone."""


def quote_plain_values(block: str) -> tuple[str, tuple[int, ...]]:
    """Return the block with risky text values quoted, and the 0-based lines that changed."""
    lines = block.split("\n")
    changed = []
    number = 0
    while number < len(lines):
        end = _end_of_value(lines, number)
        text = "\n".join(line.rstrip() for line in lines[number:end])
        field = _FIELD.match(text) or _ABOVE.match(text)
        if field is not None and _is_risky(value := text[field.end() :]):
            changed.append(number + field[0].count("\n"))
            quoted = value.replace("'", "''")
            lines[number:end] = f"{field[0]}'{quoted}'".split("\n")
        number = end
    return "\n".join(lines), tuple(changed)


def _end_of_value(lines: list[str], start: int) -> int:
    """Return the first line after the value that starts on line ``start``.

    Blank lines belong to it where an indented one follows.
    """
    end = start + 1
    for number in range(end, len(lines)):
        if not lines[number].strip():
            continue
        if lines[number][0] not in " \t":
            break
        end = number + 1
    return end


def _is_risky(text: str) -> bool:
    if text.startswith(_NOT_TEXT):
        return False
    if text[0] in _CLOSED:
        closed = _CLOSED[text[0]].match(text)
        rest = text[closed.end() :] if closed else ""
        if rest[:1].isalnum() and text.endswith(text[0]):
            return False  # quotes around a text with quotes: which ones count cannot be told
        return bool(rest.strip()) and not rest.lstrip(" ").startswith(("#", "\n"))
    return text.startswith(_BAD_START) or any(
        ": " in part or " #" in part or part.endswith(":")
        for part in map(str.strip, text.split("\n"))
    )
