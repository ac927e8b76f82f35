"""The repairs of ``check --fix``, for faults whose repair cannot change a skill's meaning.

A repair is a function from text to text. It is accepted only when the document still parses to the
same skill and the same fields, except for the reported fault. A document that did not parse must
parse afterwards. Faults that need a decision are left to the author.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from skillyard.base.errors import SkillError
from skillyard.base.invisible import find_hidden
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.check.validation.file_rules import ALIASES, column_of_blanks
from skillyard.check.validation.view import read_fields
from skillyard.engine.formats.agentskills import ParsedDocument, SkillText, parse_document
from skillyard.engine.formats.frontmatter import (
    FencedDocument,
    quote_plain_values,
    split,
    unify_lines,
)
from skillyard.engine.formats.yaml_guard import Node, plain_value, read_mapping

_BOM = "\ufeff"
_MAX_ROUNDS = 64
"""One repair can make another one possible. Each round repairs something or is the last one."""
_MAX_LINES = 20
"""Limit for lines with trailing spaces that are tried one by one: each needs a parse and a
round."""
_REMOVABLE = "\u200b\u2060\ufeff"
"""Zero width space, word joiner and byte order mark, which have no visible form. Bidirectional
controls and tags may hide an instruction and need a person's decision."""
_NAME_LINE = re.compile(r"[ \t]*['\"]?(skill_)?name\b")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SIGNS = re.compile(r"[^a-z0-9]+")
_NOT_TEXT = re.compile(r"[0-9].*|true|false|null|yes|no|on|off|y|n")
"""Text that some YAML parsers read as a number or a boolean unless it is quoted."""
_MAX_NAME = DEFAULT_LIMITS.name_warn_chars


class FixPlace(NamedTuple):
    """Facts about the file that a repair may use."""

    path: str
    folder: str | None
    """Name of the skill's own folder. None for a single file."""
    origin: str | None = None
    other_names: Container[str] = ()
    """Names of other skills of the library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """One repair that was made."""

    code: Annotated[str, "Identifier of the rule."]
    path: Annotated[str, "The file."]
    line: Annotated[int, "1-based line at which the repair begins."]
    message: Annotated[str, "What was repaired."]


class FixedDocument(NamedTuple):
    """A repaired document."""

    data: bytes
    fixes: tuple[Fix, ...]


class _Repair(NamedTuple):
    """A text with one kind of fault repaired."""

    text: str
    line: int
    message: str


def fix_document(data: bytes, place: FixPlace, ignored: Container[str] = ()) -> FixedDocument:
    """Return a skill file with every fixable fault repaired, except those of ignored codes.

    Idempotent. A file that is not UTF-8 text, or that has no frontmatter, is returned unchanged.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return FixedDocument(data, ())
    if "\0" in text:
        return FixedDocument(data, ())
    if "line_ends_crlf" in ignored and "\r\n" in text:
        return _with_crlf(text, place, ignored)
    fixes: list[Fix] = []
    for _ in range(_MAX_ROUNDS):
        before = text
        for code, repairs in _REPAIRS.items():
            if code in ignored:
                continue
            for repair in repairs(text, place):
                if repair.text != text and keeps_meaning(text, repair.text, code, place):
                    text = repair.text
                    fixes.append(
                        Fix(code=code, path=place.path, line=repair.line, message=repair.message)
                    )
                    break
        if text == before:
            break
    return FixedDocument(text.encode("utf-8"), tuple(fixes))


def _with_crlf(text: str, place: FixPlace, ignored: Container[str]) -> FixedDocument:
    """Repair a file and keep its CRLF line ends. A file with mixed line ends is unchanged."""
    data = text.encode("utf-8")
    if text.count("\r\n") != text.count("\n"):
        return FixedDocument(data, ())
    fixed = fix_document(text.replace("\r\n", "\n").encode("utf-8"), place, ignored)
    return (
        fixed._replace(data=fixed.data.replace(b"\n", b"\r\n"))
        if fixed.fixes
        else FixedDocument(data, ())
    )


def keeps_meaning(before: str, after: str, code: str, place: FixPlace) -> bool:
    """True when both documents have the same meaning, except for the repaired fault.

    The code ``description`` stands for another description.
    """
    if unify_lines(before).strip() == unify_lines(after).strip():
        return True
    new = parse_text(after, place)
    if new is None:
        return False
    old = parse_text(before, place)
    if old is None:
        return code in _LET_PARSE
    old_codes = {each.code for each in old.diagnostics}
    return _facts(old, code) == _facts(new, code) and all(
        each.code in old_codes for each in new.diagnostics
    )


def parse_text(text: str, place: FixPlace) -> ParsedDocument | None:
    """Return the parsed document, or None when it does not parse."""
    try:
        document = SkillText(place.path, place.folder, place.origin)
        return parse_document(document, text, strict=False)
    except SkillError:
        return None


def _facts(parsed: ParsedDocument, code: str) -> dict[str, object]:
    """Return the content of a document, without digests and without the repaired fields."""
    skill = parsed.skill
    changes = _CHANGES.get(code, ())
    ignored_fields = {"hash", "id", "frontmatter", *changes}
    facts: dict[str, object] = {
        name: value for name, value in _fields(skill) if name not in ignored_fields
    }
    facts["fields"] = [
        (ALIASES.get(key, key), _node_value(node))
        for key, node in read_fields(skill.frontmatter or "", skill.path)[0].items()
        if key not in changes
    ]
    return facts


def _node_value(node: Node) -> object:
    """Return a node without its position. Scalars are returned with their YAML type."""
    if isinstance(node, list):
        return [_node_value(item) for item in node]
    if isinstance(node, dict):
        return [(key, _node_value(value)) for key, value in node.items()]
    return node.text, type(plain_value(node))


def _fields(skill: object) -> Iterator[tuple[str, object]]:
    for name in type(skill).__slots__:  # type: ignore[attr-defined]
        if not name.startswith("_"):
            yield name, getattr(skill, name)


_CHANGES = {"name_dir_mismatch": ("name", "slug"), "description": ("description",)}
_LET_PARSE = frozenset(["yaml_invalid", "hidden_character"])
"""Codes whose repair may make an invalid document parse."""


def _split_document(text: str, place: FixPlace) -> FencedDocument | None:
    try:
        return split(text.removeprefix(_BOM), place.path)
    except SkillError:
        return None


def _with_block(text: str, fenced: FencedDocument, block: str) -> str:
    """Return the text with its frontmatter block replaced."""
    start = text.index("\n") + 1
    return text[:start] + block + text[start + len(fenced.block) :]


def _byte_order_mark(text: str, place: FixPlace) -> Iterator[_Repair]:
    if text.startswith(_BOM):
        yield _Repair(text[1:], 1, "removed the byte order mark")


def _line_ends(text: str, place: FixPlace) -> Iterator[_Repair]:
    first = text.find("\r\n")
    if first >= 0:
        line = text.count("\n", 0, first) + 1
        yield _Repair(text.replace("\r\n", "\n"), line, "made the line ends LF")


def _final_newline(text: str, place: FixPlace) -> Iterator[_Repair]:
    if text and not text.endswith("\n") and _split_document(unify_lines(text), place) is not None:
        end = "\r\n" if "\r\n" in text else "\n"
        yield _Repair(text + end, text.count("\n") + 1, "ended the last line")


def _hidden(text: str, place: FixPlace) -> Iterator[_Repair]:
    """Remove invisible characters from the frontmatter. The body is unchanged: code may need them.

    A name is unchanged too, because without the characters it may be the name of another skill.
    """
    fenced = _split_document(text, place)
    if fenced is None:
        return
    lines = fenced.block.split("\n")
    changed_lines = []
    for number, line in enumerate(lines):
        clean = _without_hidden(line)
        if clean != line and not _NAME_LINE.match(clean):
            lines[number] = clean
            changed_lines.append(number)
    if changed_lines:
        block = "\n".join(lines)
        message = "removed invisible characters"
        yield _Repair(_with_block(text, fenced, block), changed_lines[0] + 2, message)


def _without_hidden(line: str) -> str:
    """Return a line without removable characters, up to the first hidden one that must stay."""
    hidden = find_hidden(line)
    while hidden is not None and line[hidden.offset] in _REMOVABLE:
        line = line[: hidden.offset] + line[hidden.offset + 1 :]
        hidden = find_hidden(line)
    return line


def _tabs(text: str, place: FixPlace) -> Iterator[_Repair]:
    """Indent the frontmatter by two spaces for each tab, if only tabs are used."""
    fenced = _split_document(text, place)
    if fenced is None or "\n\t" not in f"\n{fenced.block}" or parse_text(text, place) is not None:
        return
    lines = fenced.block.split("\n")
    starts = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines]
    indented = [number for number, start in enumerate(starts) if start]
    if indented and all(set(starts[number]) == {"\t"} for number in indented):
        for number in indented:
            lines[number] = "  " * len(starts[number]) + lines[number].lstrip("\t")
        block = "\n".join(lines)
        yield _Repair(_with_block(text, fenced, block), indented[0] + 2, "indented with blanks")


def _trailing_blanks(text: str, place: FixPlace) -> Iterator[_Repair]:
    """Remove all trailing spaces at once, or line by line if some are significant."""
    fenced = _split_document(text, place)
    if fenced is None:
        return
    lines = fenced.block.split("\n")
    ending = [number for number, line in enumerate(lines) if column_of_blanks(line)]
    message = "removed blanks at the end of a line"
    if not ending:
        return
    clean = [line.rstrip(" \t") for line in lines]
    yield _Repair(_with_block(text, fenced, "\n".join(clean)), ending[0] + 2, message)
    for number in ending if len(ending) <= _MAX_LINES else ():
        one = [*lines[:number], clean[number], *lines[number + 1 :]]
        yield _Repair(_with_block(text, fenced, "\n".join(one)), number + 2, message)


def _quotes(text: str, place: FixPlace) -> Iterator[_Repair]:
    """Apply the repair of lenient parsing to the file."""
    fenced = _split_document(text, place)
    if fenced is None:
        return
    try:
        is_broken = isinstance(read_mapping(fenced.block, place.path)[0].get("description"), dict)
    except SkillError as error:
        is_broken = error.code == "yaml_invalid"
    if is_broken:
        block, changed = quote_plain_values(fenced.block)
        if changed:
            line = changed[0] + fenced.block_line
            yield _Repair(_with_block(text, fenced, block), line, "put a value in quotes")


def _alias(text: str, place: FixPlace) -> Iterator[_Repair]:
    fenced = _split_document(text, place)
    if fenced is None:
        return
    lines = fenced.block.split("\n")
    for number, line in enumerate(lines):
        key, colon, rest = line.partition(":")
        field = ALIASES.get(key.rstrip())
        if colon and field is not None:
            changed = [*lines[:number], f"{field}:{rest}", *lines[number + 1 :]]
            block = "\n".join(changed)
            yield _Repair(_with_block(text, fenced, block), number + 2, f"wrote it as {field}")


def _name_of_folder(text: str, place: FixPlace) -> Iterator[_Repair]:
    """Change the name to that of the folder, if only case, spaces and punctuation differ.

    Other differences, and names that another skill has, need a person's decision.
    """
    name, fenced = place.folder, _split_document(text, place)
    if name is None or fenced is None or not _NAME.fullmatch(name) or len(name) > _MAX_NAME:
        return
    parsed = parse_text(text, place)
    if parsed is None or parsed.skill.name == name or name in place.other_names:
        return
    if _SIGNS.sub("-", parsed.skill.name.lower()).strip("-") != name:
        return
    lines = fenced.block.split("\n")
    old = re.escape(parsed.skill.name)
    pattern = re.compile(rf"(name[ \t]*:[ \t]+)(['\"]?){old}\2[ \t]*")
    for number, line in enumerate(lines):
        match = pattern.fullmatch(line)
        if match is not None:
            quote = match[2] or ("'" if _NOT_TEXT.fullmatch(name) else "")
            lines[number] = f"{match[1]}{quote}{name}{quote}"
            block = "\n".join(lines)
            message = f"spelled the name as the folder does, {name}"
            yield _Repair(_with_block(text, fenced, block), number + 2, message)
            return


_REPAIRS: dict[str, Callable[[str, FixPlace], Iterator[_Repair]]] = {
    "byte_order_mark": _byte_order_mark,
    "line_ends_crlf": _line_ends,
    "hidden_character": _hidden,
    "yaml_invalid": _tabs,
    "yaml_repaired": _quotes,
    "field_alias": _alias,
    "name_dir_mismatch": _name_of_folder,
    "trailing_blanks": _trailing_blanks,
    "final_newline_missing": _final_newline,
}
"""Code -> repairs to try. The first one that keeps the meaning is applied."""
FIXABLE = frozenset(_REPAIRS)
"""Codes with faults that can be repaired."""
