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
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from typing import Annotated, NamedTuple

from skillyard.base.errors import Diagnostic, SkillError, SkillIoError
from skillyard.base.invisible import find_hidden
from skillyard.base.io.atomic_write import atomic_write
from skillyard.base.io.files import read_regular
from skillyard.base.io.folders import open_real_file
from skillyard.base.io.paths import same_path
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.check.validation.checker import Target, target_of
from skillyard.check.validation.codes import OFF, PROFILES, RENAMED, rule_severity
from skillyard.check.validation.config import CheckConfig
from skillyard.check.validation.file_rules import ALIASES, column_of_blanks
from skillyard.check.validation.view import Kind, kind_of, read_fields
from skillyard.engine.catalog.snapshot import build_catalog
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
    findings: Iterable[Diagnostic],
    profile: str,
    config: CheckConfig | None = None,
) -> list[FixPlan]:
    """Return the changes to the files of ``findings``, sorted by path. Writes nothing.

    ``findings`` is the result of ``validate`` for the same path, profile and configuration. Codes
    that are off in the profile or ignored by the configuration are not fixed. Files behind links
    and unreadable files are left out.
    """
    config = config or CheckConfig()
    findings = list(findings)
    reported = {each.path for each in findings if each.code in _CODES[profile]}
    if not reported:
        return []
    target = target_of(path)
    used_names: frozenset[str] = frozenset()
    if any(each.code == "name_dir_mismatch" for each in findings):
        used_names = frozenset(each.name for each in build_catalog(target.spec, target.spec.scan()))
    plans = []
    for file in _files(target, used_names):
        if file.path in reported and file.kind in Kind.SKILLS:
            ignored = {code for code in FIXABLE if _is_off(code, file.path, profile, config)}
            plan = _plan(file, ignored)
            if plan is not None:
                plans.append(plan)
    return sorted(plans, key=lambda plan: plan.path)


class _File(NamedTuple):
    """A skill file that may be changed."""

    path: str
    real: str
    kind: str
    place: FixPlace


def _files(target: Target, used_names: Container[str]) -> Iterator[_File]:
    """Yield the skill files of the target that are reached without a link below its root."""
    root = os.path.realpath(target.root or ".")
    candidates = () if target.strict else target.spec.scan().candidates
    targets = [each for each in candidates if target.includes(each.path)]
    for each in targets:
        real = os.path.join(root, *each.parts)
        if each.target is None and same_path(os.path.realpath(each.path), real):
            place = FixPlace(each.path, each.folder, each.origin, used_names)
            yield _File(each.path, real, kind_of(each.path, each.origin), place)
    if not targets and target.below and os.path.isfile(target.below):
        real = os.path.join(root, os.path.basename(target.below))
        if same_path(os.path.realpath(target.below), real):
            yield _File(
                target.below, real, kind_of(target.below, None), FixPlace(target.below, None)
            )


def _is_off(code: str, path: str, profile: str, config: CheckConfig) -> bool:
    reported_code = RENAMED.get(profile, {}).get(code, code)
    if config.ignores(code, path) or config.ignores(reported_code, path):
        return True
    return rule_severity(profile, code) == OFF and config.severity_of(code) is None


_CODES = {
    profile: FIXABLE | {RENAMED.get(profile, {}).get(code, code) for code in FIXABLE}
    for profile in PROFILES
}
"""Profile -> the codes under which it reports fixable faults."""


def _plan(file: _File, ignored: Container[str]) -> FixPlan | None:
    try:
        before = read_real_file(file.real)
    except OSError:
        return None  # the diagnostics report it already
    fixed = fix_document(before, file.place, ignored)
    if fixed.data == before:
        return None
    return FixPlan(file.path, file.real, before, fixed.data, fixed.fixes)


def read_real_file(real: str) -> bytes:
    """Return the bytes of a file by a path without links. Raises OSError."""
    return read_regular(open_real_file(real), DEFAULT_LIMITS.skill_file_bytes)[0]


def write_plan(plan: FixPlan) -> None:
    """Write one file as planned, atomically and with its permissions.

    Raises SkillIoError when the file has changed since planning, or cannot be written.
    """
    try:
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
    except OSError as error:
        raise SkillIoError(
            f"cannot write: {error.strerror or error}",
            path=plan.path,
            code="io_error",
            hint="check the permissions of the file and its folder",
        ) from None
