"""The view of one file for the rules: raw frontmatter tree, name, description, body, folder.

The tree with line numbers and the text of the file are computed on first access. Links and comments
in a body are found outside of code, in linear time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from skillyard.base.errors import SkillError
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line, shorten
from skillyard.check.markdown import prose_lines
from skillyard.engine.catalog.entries import read_candidate
from skillyard.engine.discovery.layout import Candidate
from skillyard.engine.formats.frontmatter import decode, quote_plain_values, split, unify_lines
from skillyard.engine.formats.yaml_guard import Node, Scalar, read_mapping
from skillyard.engine.resources import read_file
from skillyard.engine.skill import Origin, Skill

FOLDER = "folder"
"""The kind of a folder with a ``SKILL.md``: agentskills.io."""
OASIS = Origin.OASIS
"""``key_skills/*/SKILL.md``: the Oasis document."""
SINGLE = "single"
"""A Markdown file below ``.skills/``: the adk-skill document."""
CONVENTION = Origin.CONVENTION
"""AGENTS.md and similar files: frontmatter is optional, and there are no rules for names."""

_MAX_BYTES = DEFAULT_LIMITS.skill_file_bytes
_MAX_QUOTED_CHARS = 80
_MAX_LINKS = 5_000
"""Limit for the links of one body, each of which is looked for on disk."""
_MAX_NAMED = 1_000
"""Limit for the named files of one body, each of which is looked for in several folders."""
_FIRST_LINE = 2  # of the frontmatter block, below its opening fence
_LINK = re.compile(r"\]\(((?:[^()\n]|\([^()\n]{0,400}\)){0,400}+)\)")
_NO_FILE = re.compile(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]{1,31}:|//", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"[<>{}$*|\\\s]|\.\.\.")
_FOLDERS = ("scripts", "references", "assets", "examples", "templates", "resources")
_PATH = re.compile(
    rf"(?<![^\s`'\"(=])(?:\./)?(?:{'|'.join(_FOLDERS)})/[A-Za-z0-9_./-]{{1,200}}+(?![*<{{$\[…]|:\d)"
)
"""A path of a bundled file in running text, in code or in a command."""
_NO_FILE_BEFORE = re.compile(
    r"\bexamples?\*{0,2}:|\be\.g\.|\bfor\s(?:example|instance)\b|\bsuch\sas\b"
    r"|>\s{0,2}\Z|(?:-o|--out\w{0,8})[ =]\Z|['’]s\s{1,2}[`\"]?\Z"
    r"|\b(?:touch|mkdir|tee|cp|mv|create|write|save)\b",
    re.IGNORECASE,
)
"""Stands before a path that is an example, that is written, or that is of another skill."""
_READ_BEFORE = re.compile(
    r"\b(?:read|see|follow|consult|load)\s{1,2}(?:the\s|file\s){0,2}[`\"'(*]{0,3}\Z", re.IGNORECASE
)
"""Stands before a path that is read, whatever is written in the same line."""
_OTHERS = re.compile(r"\b(?:skill|plugin)\b(?!\.md)", re.IGNORECASE)
"""Stands near a path that may be of another skill, or of one that is to be written."""
_PLACE_NAME = re.compile(r"\b(?:your|my)[-_]|name\.|\b(?:foo|bar|example)\.", re.IGNORECASE)
"""Is in a path that stands for any."""


class TextPlace(NamedTuple):
    """A text in a body, with its line."""

    text: str
    line: int
    """0-based line of the body."""


@dataclass(eq=False)
class View:
    """One parsed file."""

    path: str
    kind: str
    name: str | None
    """None when it is absent or not text."""
    description: str | None
    block: str
    """The frontmatter without its fences."""
    body: str

    @cached_property
    def folder(self) -> str | None:
        """The name of the file's own folder, None for single files."""
        return folder_of(self.path) if self.kind in (FOLDER, OASIS) else None

    @cached_property
    def fields(self) -> tuple[dict[str, Node], dict[str, int]]:
        """The raw frontmatter tree, and the line of each key. Empty when it cannot be read."""
        return read_fields(self.block, self.path)

    def node(self, field: str) -> Node | None:
        """Return the raw node of a field, or None."""
        return self.fields[0].get(field)

    def text(self, field: str) -> str | None:
        """Return the text of a scalar field as written, else None."""
        return text_of(self.node(field))

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
        return read_text(self.path)

    @cached_property
    def _body_starts(self) -> int | None:
        text = unify_lines(self.raw).rstrip()
        above = text.removesuffix(self.body)
        return None if len(above) + len(self.body) > len(text) else above.count("\n") + 1

    @cached_property
    def links(self) -> tuple[TextPlace, ...]:
        """The targets of inline links and images to files. URLs and anchors are left out."""
        return tuple(islice(self._links(), _MAX_LINKS))

    def _links(self) -> Iterator[TextPlace]:
        for number, line in enumerate(prose_lines(self.body) if "](" in self.body else ()):
            for match in _LINK.finditer(line):
                target = _file_target(match[1].strip())
                if target:
                    yield TextPlace(target, number)

    def comments(self) -> list[int]:
        """Return the 0-based lines of the body on which an HTML comment opens."""
        lines = prose_lines(self.body) if "<!--" in self.body else []
        return [number for number, line in enumerate(lines) if "<!--" in line]

    def named_paths(self) -> Iterator[tuple[TextPlace, bool]]:
        """Yield each file that the body names below scripts/, references/ and such folders, once.

        And whether it stands in a code block. Examples, and what a command writes, are left out.
        """
        if not any(f"{folder}/" in self.body for folder in _FOLDERS):
            return
        prose = prose_lines(self.body, keeps_spans=True)
        lines = self.body.split("\n")
        known: set[str] = set()
        matches = (
            (number, match)
            for number, line in enumerate(lines)
            for match in (_PATH.finditer(line) if "/" in line else ())
        )
        for number, match in islice(matches, _MAX_NAMED):
            path = match[0].removeprefix("./").rstrip(".-")
            if path in known or "." not in path.rsplit("/", 1)[-1] or _PLACE_NAME.search(path):
                continue
            line, (start, end) = match.string, match.span()
            above = lines[number - 1][-80:] if number else ""
            before = f"{above}\n{line[max(0, start - 500) : start]}"
            near = f"{before[-60:]} {line[end : end + 60]}"
            is_output = _NO_FILE_BEFORE.search(before) and not _READ_BEFORE.search(before)
            if not (is_output or _OTHERS.search(near)):
                known.add(path)
                yield TextPlace(path, number), len(prose[number]) < len(line)

    @property
    def directory(self) -> str:
        """The path of the file's folder."""
        return os.path.dirname(self.path) or "."


def _file_target(text: str) -> str:
    target = text[1:].partition(">")[0] if text.startswith("<") else text.partition(" ")[0]
    target = target.partition("#")[0].partition("?")[0]
    return "" if _PLACEHOLDER.search(target) or _NO_FILE.match(target) else unquote(target)


def read_text(path: str) -> str:
    """Return the text of a file as it is now. Empty when it is unreadable."""
    try:
        return read_file(path, _MAX_BYTES).data.decode("utf-8", "replace")
    except SkillError:
        return ""


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


def text_of(node: Node | None) -> str | None:
    """Return the text of a scalar, else None."""
    return node.text if isinstance(node, Scalar) else None


def folder_of(path: str) -> str:
    """Return the name of the file's folder, resolved if the path does not contain it."""
    folder = os.path.basename(os.path.dirname(path))
    if folder in ("", ".", ".."):
        folder = os.path.basename(os.path.realpath(os.path.dirname(path) or "."))
    return folder


def kind_of(path: str, origin: str | None) -> str:
    """Return the kind of a document."""
    if origin in (CONVENTION, OASIS):
        return origin
    return FOLDER if os.path.basename(path).lower() == "skill.md" else SINGLE


def view_of(skill: Skill) -> View:
    """Return the view of a loaded skill."""
    kind, block, body = kind_of(skill.path, skill.origin), skill.frontmatter, skill.body
    return View(skill.path, kind, skill.name, skill.description, block or "", body or "")


def view_of_file(candidate: Candidate) -> View | None:
    """Return the view of a file that did not load, or None when its fields cannot be read."""
    path = candidate.path
    try:
        fenced = split(unify_lines(decode(read_candidate(candidate).data, path)), path)
    except SkillError:
        return None
    mapping, _ = read_fields(fenced.block, path)
    if not mapping:
        return None
    texts = (text_of(mapping.get(key)) for key in ("name", "description"))
    name, description = (None if text is None else text.strip() for text in texts)
    kind = kind_of(path, candidate.origin)
    return View(path, kind, name, description, fenced.block, fenced.body)


def quote(text: str, limit: int = _MAX_QUOTED_CHARS) -> str:
    """Return untrusted text cleaned, shortened and quoted, for a message."""
    return f"'{shorten(clean_line(text), limit)}'"
