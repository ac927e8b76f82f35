"""The repairs of ``check --fix``, for faults whose repair cannot change a skill's meaning.

A repair is a function from text to text. It is accepted only when the document still parses to the
same skill and the same fields, except for the reported fault. A document that did not parse must
parse afterwards. Faults that need a decision are left to the author. A plan has the bytes before
and after; before writing, the file is read again by a path without links, and refused when it
differs.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Collection, Container, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from itertools import zip_longest
from typing import Annotated, NamedTuple

from skillyard.base.errors import Diagnostic, SkillError, SkillIoError, io_errors
from skillyard.base.invisible import find_hidden
from skillyard.base.io.files import atomic_write, read_regular
from skillyard.base.io.folders import open_real_file
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.check.validation.checker import Target, target_of
from skillyard.check.validation.codes import OFF, RULES, code_under
from skillyard.check.validation.config import CheckConfig
from skillyard.check.validation.file_rules import ALIASES
from skillyard.check.validation.view import CONVENTION, kind_of, read_fields
from skillyard.engine.catalog.snapshot import build_catalog
from skillyard.engine.formats.agentskills import ParsedDocument, SkillText, parse_document
from skillyard.engine.formats.frontmatter import quote_plain_values, split, unify_lines
from skillyard.engine.formats.yaml_guard import plain_value, read_mapping

_BOM = "\ufeff"
_MAX_ROUNDS = 64
"""One repair can make another one possible. Each round repairs something or is the last one."""
_REMOVABLE = "\u200b\u2060\ufeff"
"""Zero width space, word joiner and byte order mark, which have no visible form. Bidirectional
controls and tags may hide an instruction and need a person's decision."""
_NAME_LINE = re.compile(r"[ \t]*['\"]?(skill_)?name\b")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NAME_VALUE = re.compile(r"(name[ \t]*:[ \t]+)(['\"]?)(.+?)\2[ \t]*")
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


def fix_document(
    data: bytes, place: FixPlace, ignored: Container[str] = ()
) -> tuple[bytes, tuple[Fix, ...]]:
    """Return a skill file with every fixable fault repaired but those of ignored codes, and how.

    Idempotent. A file that is not UTF-8 text, that has no frontmatter, or whose line ends are mixed
    and to be kept, is returned unchanged.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data, ()
    keeps_crlf = "line_ends_crlf" in ignored and "\r\n" in text
    is_mixed = keeps_crlf and text.count("\r\n") != text.count("\n")
    if "\0" in text or is_mixed:
        return data, ()
    text = text.replace("\r\n", "\n") if keeps_crlf else text
    fixes: list[Fix] = []
    for _ in range(_MAX_ROUNDS):
        before = text
        for code, (message, repairs) in _REPAIRS.items():
            for repaired in () if code in ignored else repairs(text, place):
                if repaired != text and keeps_meaning(text, repaired, code, place):
                    line = _first_change(text, repaired)
                    fixes.append(Fix(code=code, path=place.path, line=line, message=message))
                    text = repaired
                    break
        if text == before:
            break
    text = text.replace("\n", "\r\n") if keeps_crlf else text
    return text.encode("utf-8"), tuple(fixes)


def _first_change(before: str, after: str) -> int:
    """Return the 1-based line from which on two texts differ."""
    pairs = zip_longest(before.split("\n"), after.split("\n"))
    first = next(number for number, (old, new) in enumerate(pairs, 1) if old != new)
    return min(first, before.count("\n") + 1)


def keeps_meaning(before: str, after: str, code: str, place: FixPlace) -> bool:
    """True when both documents have the same meaning, except for the repaired fault."""
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
    changes = ("name", "slug") if code == "name_dir_mismatch" else ()
    ignored = {"hash", "id", "frontmatter", *changes}
    facts: dict[str, object] = {
        name: value for name, value in skill.fields().items() if name not in ignored
    }
    nodes, _ = read_fields(skill.frontmatter or "", skill.path)
    fields = [(ALIASES.get(key, key), plain_value(nodes[key])) for key in nodes]
    return {**facts, "fields": [(key, value) for key, value in fields if key not in changes]}


_LET_PARSE = frozenset(["yaml_invalid", "hidden_character"])
"""Codes whose repair may make an invalid document parse."""


def _byte_order_mark(text: str, place: FixPlace) -> Iterator[str]:
    yield text.removeprefix(_BOM)


def _line_ends(text: str, place: FixPlace) -> Iterator[str]:
    yield text.replace("\r\n", "\n")


def _final_newline(text: str, place: FixPlace) -> Iterator[str]:
    if text and not text.endswith("\n") and _block_of(unify_lines(text), place) is not None:
        yield text + ("\r\n" if "\r\n" in text else "\n")


def _block_of(text: str, place: FixPlace) -> str | None:
    try:
        return split(text.removeprefix(_BOM), place.path).block
    except SkillError:
        return None


def _of_block(
    repair: Callable[[list[str], FixPlace], Iterator[list[str]]],
) -> Callable[[str, FixPlace], Iterator[str]]:
    """Return the repair of a document from one that yields other lines of its frontmatter."""

    def repairs(text: str, place: FixPlace) -> Iterator[str]:
        block = _block_of(text, place)
        if block is not None:
            start = text.index("\n") + 1
            for lines in repair(block.split("\n"), place):
                yield text[:start] + "\n".join(lines) + text[start + len(block) :]

    return repairs


def _hidden(lines: list[str], place: FixPlace) -> Iterator[list[str]]:
    """Remove invisible characters from the frontmatter. The body is unchanged: code may need them.

    A name is unchanged too, because without the characters it may be the name of another skill.
    """
    clean = [(line, _without_hidden(line)) for line in lines]
    yield [old if _NAME_LINE.match(new) else new for old, new in clean]


def _without_hidden(line: str) -> str:
    """Return a line without removable characters, up to the first hidden one that must stay."""
    hidden = find_hidden(line)
    while hidden is not None and line[hidden.offset] in _REMOVABLE:
        line = line[: hidden.offset] + line[hidden.offset + 1 :]
        hidden = find_hidden(line)
    return line


def _tabs(lines: list[str], place: FixPlace) -> Iterator[list[str]]:
    """Indent the frontmatter by two spaces for each tab, if only tabs are used."""
    starts = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines]
    if set("".join(starts)) == {"\t"} and _is_broken(lines, place):
        yield [
            "  " * len(start) + line.lstrip("\t") for start, line in zip(starts, lines, strict=True)
        ]


def _is_broken(lines: list[str], place: FixPlace) -> bool:
    """True for frontmatter that is no YAML, or in which a text is read as a mapping."""
    try:
        fields, _ = read_mapping("\n".join(lines), place.path)
    except SkillError as error:
        return error.code == "yaml_invalid"
    return isinstance(fields.get("description"), dict)


def _trailing_blanks(lines: list[str], place: FixPlace) -> Iterator[list[str]]:
    yield [line.rstrip(" \t") for line in lines]


def _quotes(lines: list[str], place: FixPlace) -> Iterator[list[str]]:
    """Apply the repair of lenient parsing to the file."""
    if _is_broken(lines, place):
        yield quote_plain_values("\n".join(lines))[0].split("\n")


def _alias(lines: list[str], place: FixPlace) -> Iterator[list[str]]:
    for number, line in enumerate(lines):
        key, colon, rest = line.partition(":")
        field = ALIASES.get(key.rstrip())
        if colon and field is not None:
            yield [*lines[:number], f"{field}:{rest}", *lines[number + 1 :]]


def _name_of_folder(lines: list[str], place: FixPlace) -> Iterator[list[str]]:
    """Change the name to that of the folder, if only case, spaces and punctuation differ.

    Other differences, and names that another skill has, need a person's decision.
    """
    name = place.folder or ""
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME or name in place.other_names:
        return
    for number, line in enumerate(lines):
        match = _NAME_VALUE.fullmatch(line)
        if match is None or match[3] == name:
            continue
        if _SIGNS.sub("-", match[3].lower()).strip("-") == name:
            quote = match[2] or ("'" if _NOT_TEXT.fullmatch(name) else "")
            yield [*lines[:number], f"{match[1]}{quote}{name}{quote}", *lines[number + 1 :]]


_REPAIRS: dict[str, tuple[str, Callable[[str, FixPlace], Iterator[str]]]] = {
    "byte_order_mark": ("removed the byte order mark", _byte_order_mark),
    "line_ends_crlf": ("made the line ends LF", _line_ends),
    "hidden_character": ("removed invisible characters", _of_block(_hidden)),
    "yaml_invalid": ("indented with blanks", _of_block(_tabs)),
    "yaml_repaired": ("put a value in quotes", _of_block(_quotes)),
    "field_alias": ("wrote the field as the specification does", _of_block(_alias)),
    "name_dir_mismatch": ("spelled the name as the folder does", _of_block(_name_of_folder)),
    "trailing_blanks": ("removed blanks at the end of a line", _of_block(_trailing_blanks)),
    "final_newline_missing": ("ended the last line", _final_newline),
}
"""Code -> what its repair did, and the texts to try. The first that keeps the meaning is taken."""
FIXABLE = frozenset(_REPAIRS)


class FixPlan(NamedTuple):
    """The changes to one file."""

    path: str
    """The path as in diagnostics."""
    real: str
    """The path of the file without links."""
    before: bytes
    after: bytes
    fixes: tuple[Fix, ...]

    def diff(self) -> str:
        """Return the change as a unified diff, ending with a line feed."""
        before, after = (data.decode("utf-8").split("\n") for data in (self.before, self.after))
        names = (f"{self.path} (now)", f"{self.path} (fixed)")
        lines = unified_diff(before, after, *names, lineterm="")
        return "".join(f"{line}\n" for line in lines)


def plan_fixes(
    path: str | os.PathLike[str],
    findings: Collection[Diagnostic],
    profile: str,
    config: CheckConfig | None = None,
) -> Iterator[FixPlan]:
    """Yield the changes to the files of ``findings``. Writes nothing.

    ``findings`` is the result of ``validate`` for the same path, profile and configuration. Codes
    that are off in the profile or ignored by the configuration are not fixed. Files behind links
    and unreadable files are left out.
    """
    config = config or CheckConfig()
    fixable = FIXABLE.union(code_under(profile, code) for code in FIXABLE)
    reported = {each.path for each in findings if each.code in fixable}
    if not reported:
        return
    target = target_of(path)
    used_names: frozenset[str] = frozenset()
    if any(each.code == "name_dir_mismatch" for each in findings):
        used_names = frozenset(each.name for each in build_catalog(target.spec, target.spec.scan()))
    for place, real in _files(target, used_names):
        if place.path in reported and kind_of(place.path, place.origin) != CONVENTION:
            ignored = {code for code in FIXABLE if _is_off(code, place.path, profile, config)}
            try:
                before = read_real_file(real)
            except OSError:
                continue  # the diagnostics report it already
            after, fixes = fix_document(before, place, ignored)
            if after != before:
                yield FixPlan(place.path, real, before, after, fixes)


def _files(target: Target, used_names: Container[str]) -> Iterator[tuple[FixPlace, str]]:
    """Yield the skill files of the target, each with its path where no link leads below the root.

    What is behind a link is not at that path, or cannot be opened by it.
    """
    root = os.path.realpath(target.spec.roots[0])
    candidates = () if target.strict else target.spec.scan().candidates
    targets = [each for each in candidates if target.includes(each.path)]
    for each in targets:
        if each.target is None:
            place = FixPlace(each.path, each.folder, each.origin, used_names)
            yield place, os.path.join(root, *each.parts)
    if not targets and target.below:
        yield FixPlace(target.below, None), os.path.join(root, os.path.basename(target.below))


def _is_off(code: str, path: str, profile: str, config: CheckConfig) -> bool:
    if any(config.ignores(each, path) for each in (code, code_under(profile, code))):
        return True
    return RULES[code].severities[profile] == OFF and config.severity_of(code) is None


def read_real_file(real: str) -> bytes:
    """Return the bytes of a file by a path without links. Raises OSError."""
    return read_regular(open_real_file(real), DEFAULT_LIMITS.skill_file_bytes)[0]


def write_plan(plan: FixPlan) -> None:
    """Write one file as planned, atomically and with its permissions.

    Raises SkillIoError when the file has changed since planning, or cannot be written.
    """
    hint = "check the permissions of the file and its folder"
    with io_errors("write", plan.path, hint, "io_error"):
        if read_real_file(plan.real) != plan.before:
            raise SkillIoError(
                "the file changed while it was being checked",
                path=plan.path,
                code="changed_while_reading",
                hint="run the command again",
            )
        if not os.access(plan.real, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        atomic_write(plan.real, plan.after)
