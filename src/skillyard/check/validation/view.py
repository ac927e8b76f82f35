"""The view of one file for the rules: raw frontmatter tree, name, description, body, folder.

The tree with line numbers and the text of the file are computed on first access. Links, comments
and file paths in a body are found outside of code by a scanner that recognises fenced and inline
code; it takes linear time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from skillyard.base.errors import SkillError, SkillIoError
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line, shorten
from skillyard.engine.discovery import Candidate
from skillyard.engine.formats.frontmatter import decode, quote_plain_values, split, unify_lines
from skillyard.engine.formats.yaml_guard import Node, Scalar, read_mapping
from skillyard.engine.resources import read_file
from skillyard.engine.skill import Origin, Skill

_MAX_TARGET_CHARS = 500
_MAX_LINKS = 5_000
"""Limit for the links of one body. With the length limit it bounds the work."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:")
_PLACEHOLDER = re.compile(r"[<>{}$*|\\\s]|\.\.\.")
_MARKS = re.compile("`+")
# A path of a bundled file in running text, in inline code or in a command.
_PATH = re.compile(r"(?:scripts|references|assets)/[A-Za-z0-9_./-]{1,200}")
_BEFORE_PATH = frozenset(" \t\n`'\"(=")


class TextPlace(NamedTuple):
    """A text in a body, with its line."""

    text: str
    line: int
    """0-based line of the body."""


def _prose_lines(body: str) -> Iterator[tuple[int, str]]:
    """Yield (0-based line, text) of every line outside fenced code, without inline code."""
    fence = ""
    for number, line in enumerate(body.split("\n")):
        mark = line.lstrip()
        if fence:
            if mark.startswith(fence) and not mark.strip(fence[0] + " \t\r"):
                fence = ""
            continue
        opening = _opening(mark)
        if opening:
            fence = opening
        else:
            yield number, _without_code(line)


def _opening(mark: str) -> str:
    """Return the marks that open a fence, or an empty text."""
    char = mark[:1]
    if char not in ("`", "~") or not mark.startswith(char * 3):
        return ""
    run = len(mark) - len(mark.lstrip(char))
    return "" if char == "`" and "`" in mark[run:] else char * run


def _without_code(line: str) -> str:
    if "`" not in line:
        return line
    parts = _MARKS.split(line)
    if len(parts) % 2 == 0:  # an unpaired mark at the end is text
        parts[-2:] = [parts[-2] + " " + parts[-1]]
    return " ".join(parts[::2])


def links(body: str) -> Iterator[TextPlace]:
    """Yield the target of every inline link and image to a file. URLs and anchors are left out."""
    if "](" not in body:
        return
    remaining = _MAX_LINKS
    for number, line in _prose_lines(body):
        at = line.find("](")
        while at >= 0 and remaining > 0:
            remaining -= 1
            target = _file_target(_up_to_closing(line, at + 2))
            if target:
                yield TextPlace(target, number)
            at = line.find("](", at + 2)


def _up_to_closing(line: str, start: int) -> str:
    """Return the text before the closing parenthesis of a target, empty without one."""
    window = line[start : start + _MAX_TARGET_CHARS]
    depth = 0
    for offset, char in enumerate(window):
        if char == "(":
            depth += 1
        elif char == ")":
            if depth == 0:
                return window[:offset]
            depth -= 1
    return ""


def _file_target(text: str) -> str:
    """Return the path of a link target without title and anchor, empty when it is not a file."""
    target = text.strip()
    if target.startswith("<"):
        target = target[1:].partition(">")[0]
    else:
        target = target.partition(" ")[0]
    target = target.partition("#")[0].partition("?")[0]
    if _PLACEHOLDER.search(target) or target.startswith("//"):
        return ""
    if _SCHEME.match(target) and not target.lower().startswith("file:"):
        return ""
    return unquote(target)


def comments(body: str) -> list[int]:
    """Return the 0-based lines on which an HTML comment opens."""
    if "<!--" not in body:
        return []
    return [number for number, line in _prose_lines(body) if "<!--" in line]


def named_paths(body: str) -> Iterator[TextPlace]:
    """Yield every file path below scripts/, references/ or assets/ in the body."""
    line = 0
    position = 0
    for match in _PATH.finditer(body):
        start, end = match.span()
        path = match.group().rstrip(".-")
        before = body[start - 1] if start else "\n"
        alone = before in _BEFORE_PATH and body[end : end + 1] not in _CONTINUES
        if alone and "." in path.rsplit("/", 1)[-1]:
            line += body.count("\n", position, start)
            position = start
            yield TextPlace(path, line)


_CONTINUES = ("*", "<", "{", "$", "[", "…")


_SKILL_FILE = "skill.md"
_MAX_BYTES = DEFAULT_LIMITS.skill_file_bytes
_MAX_QUOTED_CHARS = 80
_FIRST_LINE = 2  # of the frontmatter block, below its opening fence


class Kind:
    """The values of ``View.kind``: the format of a document."""

    FOLDER = "folder"
    """A folder with a ``SKILL.md``: agentskills.io."""
    OASIS = "oasis"
    """``key_skills/*/SKILL.md``: the Oasis document."""
    SINGLE = "single"
    """A Markdown file below ``.skills/``: the adk-skill document."""
    CONVENTION = "convention"
    """AGENTS.md and similar files: frontmatter is optional, and there are no rules for names."""

    SKILLS = frozenset([FOLDER, OASIS, SINGLE])
    WITH_FOLDER = frozenset([FOLDER, OASIS])


class View:
    """One parsed file. ``folder`` is the name of its own folder, None for single files."""

    def __init__(
        self,
        path: str,
        kind: str,
        name: str | None,
        description: str | None,
        block: str,
        body: str,
    ) -> None:
        self.path = path
        self.kind = kind
        self.name = name
        """None when it is absent or not text."""
        self.description = description
        self.block = block
        """The frontmatter without its fences."""
        self.body = body
        self.folder = folder_of(path) if kind in Kind.WITH_FOLDER else None

    @cached_property
    def fields(self) -> tuple[dict[str, Node], dict[str, int]]:
        """The raw frontmatter tree, and the line of each key. Empty when it cannot be read."""
        return read_fields(self.block, self.path)

    @property
    def mapping(self) -> dict[str, Node]:
        """The raw frontmatter tree. Empty when it cannot be read."""
        return self.fields[0]

    def node(self, field: str) -> Node | None:
        """Return the raw node of a field, or None."""
        return self.mapping.get(field)

    def text(self, field: str) -> str | None:
        """Return the text of a scalar field as written, else None."""
        node = self.node(field)
        return node.text if isinstance(node, Scalar) else None

    def line(self, field: str) -> int | None:
        """Return the 1-based line of a top-level field."""
        return self.fields[1].get(field)

    def line_of(self, node: Node) -> int | None:
        """Return the 1-based line of a scalar of the tree."""
        return node.line + _FIRST_LINE if isinstance(node, Scalar) else None

    def body_line(self, offset: int = 0) -> int | None:
        """Return the 1-based line of the file for a 0-based line of the body, None if unknown."""
        return None if self._body_starts is None else self._body_starts + offset

    @cached_property
    def raw(self) -> str:
        """The current text of the file, with a byte order mark. Empty when it is unreadable."""
        try:
            data = read_file(self.path, _MAX_BYTES).data
        except SkillError:
            return ""
        return data.decode("utf-8", "replace")

    @cached_property
    def _body_starts(self) -> int | None:
        try:
            text = unify_lines(decode(read_file(self.path, _MAX_BYTES).data, self.path))
        except SkillError:
            return None
        start = 0
        if self.block:
            after = text.find("\n---", text.find(self.block) + len(self.block) - 1)
            start = after + len("\n---")
        at = text.find(self.body, start)
        return text.count("\n", 0, at) + 1 if at >= 0 else None

    @cached_property
    def links(self) -> tuple[TextPlace, ...]:
        """The files that the body links to, with their 0-based lines in the body."""
        return tuple(links(self.body))

    @property
    def directory(self) -> str:
        """The path of the file's folder."""
        return os.path.dirname(self.path) or "."


def read_candidate(candidate: Candidate) -> bytes:
    """Return the bytes of a scanned file. Raises SkillIoError when the file was replaced since."""
    path = candidate.path
    content = read_file(candidate.target or path, _MAX_BYTES, path)
    stamp = candidate.stamp
    if (content.status.st_ino, content.status.st_dev) != (stamp.inode, stamp.device):
        raise SkillIoError(
            "the file was replaced while it was being read",
            path=path,
            code="changed_while_reading",
            hint="check again",
        )
    return content.data


def read_fields(block: str, path: str) -> tuple[dict[str, Node], dict[str, int]]:
    """Return the tree and the line of each key, repaired if needed. Empty when unreadable."""
    result: tuple[dict[str, Node], dict[str, int]] = {}, {}
    for text in (block, quote_plain_values(block)[0]):
        try:
            result = read_mapping(text, path)
        except SkillError:
            continue
        if not isinstance(result[0].get("description"), dict):
            break
    return result


def folder_of(path: str) -> str:
    """Return the name of the file's folder, resolved if the path does not contain it."""
    folder = os.path.basename(os.path.dirname(path))
    if folder in ("", ".", ".."):
        folder = os.path.basename(os.path.realpath(os.path.dirname(path) or "."))
    return folder


def kind_of(path: str, origin: str | None) -> str:
    """Return the kind of a document, one of the values of :class:`Kind`."""
    if origin == Origin.CONVENTION:
        return Kind.CONVENTION
    if origin == Origin.OASIS:
        return Kind.OASIS
    in_folder = os.path.basename(path).lower() == _SKILL_FILE
    return Kind.FOLDER if in_folder else Kind.SINGLE


def view_of(skill: Skill) -> View:
    """Return the view of a loaded skill."""
    kind, block, body = kind_of(skill.path, skill.origin), skill.frontmatter, skill.body
    return View(skill.path, kind, skill.name, skill.description, block or "", body or "")


def view_of_file(candidate: Candidate) -> View | None:
    """Return the view of a file that did not load, or None when its fields cannot be read."""
    path = candidate.path
    try:
        fenced = split(unify_lines(decode(read_candidate(candidate), path)), path)
    except SkillError:
        return None
    mapping, _ = read_fields(fenced.block, path)
    if not mapping:
        return None
    name, description = (_trim(mapping.get(key)) for key in ("name", "description"))
    kind = kind_of(path, candidate.origin)
    return View(path, kind, name, description, fenced.block, fenced.body)


def _trim(node: Node | None) -> str | None:
    return node.text.strip() if isinstance(node, Scalar) else None


def quote(text: str) -> str:
    """Return untrusted text cleaned, shortened and quoted, for a message."""
    return f"'{shorten(clean_line(text), _MAX_QUOTED_CHARS)}'"
