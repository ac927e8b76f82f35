"""The rules over one file: those with `kinds` in `data/codes.toml`.

A rule takes a :class:`~skillyard.check.validation.view.View` and yields violations. All broken
rules are reported together. Sources: the agentskills.io specification and its reference validator,
which allows every Unicode letter and digit in names; the rulings on author guidance; for hidden
text the threat model of reading; for the text form known problems of frontmatter parsers.
"""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import NamedTuple

from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import plural
from skillyard.check.markdown import prose_lines
from skillyard.check.validation.codes import RULES
from skillyard.check.validation.descriptions import (
    description_from,
    is_vague,
    person_of,
    says_when,
)
from skillyard.check.validation.view import TextPlace, View, quote, text_of
from skillyard.engine.formats.yaml_guard import plain_value
from skillyard.engine.skill import SKILL_FIELDS

SPEC_FIELDS = frozenset(
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
)
"""The six fields of the agentskills.io specification."""
EXTENSION_FIELDS = (
    frozenset({each.key for each in SKILL_FIELDS.values() if each.key} - SPEC_FIELDS)
    | {"argument-hint", "paths", "when_to_use"}  # what Claude Code calls hint and triggers
    | {"dependencies"}  # for people: agentskills#110
    | {"trigger_files", "trigger_keywords"}  # older spellings of triggers
)
"""The fields that skillyard reads or knows in addition to the specification: those of adk-skill,
Oasis and the skill evaluation system."""
ALIASES = {"skill_name": "name", "allowed_tools": "allowed-tools"}
_DEFINED = SPEC_FIELDS | EXTENSION_FIELDS
_KNOWN = _DEFINED | frozenset(ALIASES)
_MOST = {
    "name": DEFAULT_LIMITS.name_warn_chars,
    "description": DEFAULT_LIMITS.description_warn_chars,
    "compatibility": 500,
}
"""Characters of a field that the specification allows."""
_MAX_LINES = 500
_MAX_TOKENS = 5_000
_BYTES_PER_TOKEN = 4  # the same estimate as that of the budgets in context/
_MAX_DEPTH = 2  # references/guide.md: one folder and a file
_ABOVE = tuple([os.pardir] * levels for levels in range(1, 5))
_WHEN_FIELDS = ("triggers", "trigger_keywords", "when_to_use")
_PARENTHESES = re.compile(r"\([^()]*+\)")
_UNWRITTEN = re.compile(r"[\W_]*(?:TODO\b|\Z)")
_UNWRITTEN_LINE = re.compile(r"[ \t]*(?:[-*]|\d{1,3}[.)])?[ \t]*…[ \t]*")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Violation(NamedTuple):
    """One place at which a rule is broken."""

    message: str
    line: int | None = None
    found: str = ""
    hint: str = ""
    """A more specific hint than the rule's, or empty."""
    column: int | None = None


Violations = Iterator[Violation]
Rule = Callable[[View], Iterable[Violation]]


def _missing(field: str, view: View) -> Violations:
    if field not in view.fields[0]:
        yield Violation(f"{field} is missing", 1)


def _not_string(field: str, view: View) -> Violations:
    if isinstance(view.node(field), list | dict):
        yield Violation(f"{field} must be text, not a list or mapping", view.line(field))


def _empty(field: str, view: View) -> Violations:
    text = _text(field, view)
    if text is not None and not text.strip():
        yield Violation(f"{field} is empty", view.line(field))


def _too_long(field: str, view: View) -> Violations:
    length = len(_text(field, view) or "")
    if length > _MOST[field]:
        message = f"the {field} has {length:,} characters; {_MOST[field]:,} are allowed"
        yield Violation(
            message, view.line(field), (view.name or "")[:80] if field == "name" else ""
        )


def _text(field: str, view: View) -> str | None:
    """Return the text of a field; name and description as they were read."""
    read = {"name": view.name, "description": view.description}
    return read[field] if field in read else view.text(field)


def _name_fault(code: str, view: View) -> Violations:
    is_wrong, message = _NAME_FAULTS[code]
    if view.name and is_wrong(view.name):
        yield _at_name(view, message.format(quote(view.name)))


_NAME_FAULTS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "name_not_lowercase": (lambda name: name != name.lower(), "the name {} holds capital letters"),
    "name_edge_hyphen": (
        lambda name: name != name.strip("-"),
        "the name {} starts or ends with a hyphen",
    ),
    "name_double_hyphen": (lambda name: "--" in name, "the name {} holds two hyphens in a row"),
    "name_not_ascii": (
        lambda name: any(char.isalnum() and not char.isascii() for char in name),
        "the name {} holds letters beyond a-z",
    ),
}
"""Code -> whether a name is wrong, and the message about it."""


def _name_bad_chars(view: View) -> Violations:
    bad = sorted({char for char in view.name or "" if char != "-" and not char.isalnum()})
    if bad:
        shown = ("a blank" if char.isspace() else quote(char) for char in bad[:5])
        yield _at_name(view, f"the name holds {', '.join(shown)}")


def _name_dir_mismatch(view: View) -> Violations:
    return _differs(view, view.folder, "folder")


def _name_file_mismatch(view: View) -> Violations:
    return _differs(view, os.path.splitext(os.path.basename(view.path))[0], "file")


def _differs(view: View, place: str | None, what: str) -> Violations:
    if view.name and place is not None and _nfkc(place) != _nfkc(view.name):
        yield _at_name(view, f"the name {quote(view.name)} differs from its {what} {quote(place)}")


def _nfkc(name: str) -> str:
    return unicodedata.normalize("NFKC", name)


def _at_name(view: View, message: str) -> Violation:
    return Violation(message, view.line("name"), (view.name or "")[:80])


def _oasis_id_not_folder(view: View) -> Violations:
    slug = (view.text("id") or "").strip()
    if slug and view.folder not in (None, slug):
        message = f"the id {quote(slug)} differs from its folder"
        yield Violation(message, view.line("id"), slug[:80])


def _oasis_id_not_slug(view: View) -> Violations:
    slug = (view.text("id") or "").strip()
    if slug and not _SLUG.fullmatch(slug):
        yield Violation(f"the id {quote(slug)} is no slug", view.line("id"), slug[:80])


def _description_vague(view: View) -> Violations:
    if _is_judged(view) and is_vague(view.description or "", view.name or ""):
        yield _at_description(view, "the description has next to no word that a request may have")


def _description_without_when(view: View) -> Violations:
    text = view.description or ""
    says = says_when(text) or any(map(view.node, _WHEN_FIELDS))
    if _is_judged(view) and not (says or is_vague(text, view.name or "")):
        yield _at_description(view, "the description does not say when to use the skill")


def _is_judged(view: View) -> bool:
    """True for a skill with a description by which it may be chosen: not only its user calls it."""
    manual = map(view.text, ("trigger", "disable-model-invocation"))
    is_called = any(str(each).lower() == "true" for each in manual)
    return bool(view.description) and not is_called and not _UNWRITTEN.match(view.description or "")


def _placeholder(view: View) -> Violations:
    if _UNWRITTEN.match(view.description or ""):
        message = "the description must still be written"
        hint = RULES["description_vague"].hint
        yield Violation(message, view.line("description"), hint=hint)
    lines = prose_lines(view.body) if "…" in view.body else []
    if places := [number for number, line in enumerate(lines) if _UNWRITTEN_LINE.fullmatch(line)]:
        message = f"{plural(len(places), 'line')} of the body must still be written"
        yield Violation(message, view.body_line(places[0]))


def _description_person(view: View) -> Violations:
    person = person_of(view.description or "")
    if person:
        message = f"the description is not in the third person: {quote(person)}"
        yield Violation(message, view.line("description"), person)


def _at_description(view: View, message: str) -> Violation:
    is_poor = is_vague(view.description or "", view.name or "")
    example = description_from(view.body, from_prose=is_poor)
    hint = f"say what it does and when to use it, for example {quote(example, 250)}"
    return Violation(message, view.line("description"), hint=hint if example else "")


def _unexpected_fields(view: View) -> Violations:
    for field in view.fields[0]:
        if field not in _KNOWN:
            near = get_close_matches(field[:80], sorted(_DEFINED), 1, 0.8)
            yield Violation(
                f"the field {quote(field)} is not one that is read",
                view.line(field),
                field[:80],
                f"did you mean `{near[0]}`?" if near else "",
            )


def _field_alias(view: View) -> Violations:
    for alias, field in ALIASES.items():
        if view.node(alias) is not None:
            message = f"{alias} is another spelling of {field}"
            yield Violation(message, view.line(alias), alias, f"write `{field}:`")


def _extension_fields(view: View) -> Violations:
    for field in view.fields[0]:
        if field in EXTENSION_FIELDS:
            message = f"the field {quote(field)} is an extension of the specification"
            yield Violation(message, view.line(field), field)


def _metadata_not_string_map(view: View) -> Violations:
    metadata = view.node("metadata")
    for key, node in metadata.items() if isinstance(metadata, dict) else ():
        if not isinstance(plain_value(node), str):
            yield Violation(
                f"the value of {quote(key)} under metadata is not text",
                view.line_of(node) or view.line("metadata"),
                key[:80],
            )


def _allowed_tools_commas(view: View) -> Violations:
    text = view.text("allowed-tools")
    if text is not None and "," in _PARENTHESES.sub("", text):
        yield Violation("allowed-tools uses commas", view.line("allowed-tools"), text[:80])


def _body_empty(view: View) -> Violations:
    if not view.body:
        yield Violation("there are no instructions below the frontmatter")


def _body_too_long(view: View) -> Violations:
    lines = view.body.count("\n") + 1
    tokens = len(view.body.encode("utf-8", "replace")) // _BYTES_PER_TOKEN
    if lines > _MAX_LINES or tokens > _MAX_TOKENS:
        yield Violation(
            f"the body has {lines:,} lines and about {tokens:,} tokens;"
            f" up to {_MAX_LINES} lines and {_MAX_TOKENS:,} tokens are advised",
            view.body_line(),
        )


def _html_comment(view: View) -> Violations:
    lines = view.comments()
    if lines:
        also = f", and {len(lines) - 1} more" if len(lines) > 1 else ""
        yield _at(view, TextPlace("<!--", lines[0]), f"an HTML comment opens here{also}")


def _reference_missing(view: View) -> Violations:
    checked: set[str] = set()
    links = ((place, "the linked file {} is not there") for place in view.links)
    names = ((place, "the file {} is named and not there") for place in _named_files(view))
    for place, message in (*links, *names):
        path = _relative_path(place.text)
        if path and path not in checked:
            checked.add(path)
            if not _exists(view.directory, path):
                yield _at(view, place, message.format(quote(place.text)))
    node = view.node("references")
    for item in node if isinstance(node, list) else ():
        text = (text_of(item) or "").strip()
        path = _relative_path(text) if "://" not in text else ""
        if path and path not in checked and not _exists(view.directory, path):
            message = f"the declared reference {quote(text)} is not there"
            yield Violation(message, view.line_of(item), text[:80])


def _reference_outside(view: View) -> Violations:
    checked: set[str] = set()
    for place in view.links:
        if place.text not in checked and not _relative_path(place.text):
            checked.add(place.text)
            yield _at(view, place, f"the link to {quote(place.text)} leads out of the folder")


def _reference_deep(view: View) -> Violations:
    for place in view.links:
        if _relative_path(place.text).count("/") >= _MAX_DEPTH:
            yield _at(view, place, f"{quote(place.text)} lies more than one folder deep")


def _at(view: View, place: TextPlace, message: str) -> Violation:
    return Violation(message, view.body_line(place.line), place.text[:80])


def _named_files(view: View) -> Iterator[TextPlace]:
    """Yield paths in the body that are the skill's own: not those of a repository or plugin above.

    In code blocks only those below a folder that the skill has: others may be of any project.
    """
    for place, is_code in view.named_paths():
        own = os.path.join(view.directory, place.text.partition("/")[0])
        above = (os.path.join(view.directory, *up, place.text) for up in _ABOVE)
        if (os.path.isdir(own) or not is_code) and not any(map(os.path.lexists, above)):
            yield place


def _relative_path(target: str) -> str:
    """Return the target relative to the skill's folder, or an empty text when it lies outside."""
    path = target.replace("\\", "/")
    if path.startswith(("/", "~")) or ":" in path or "\0" in path:
        return ""
    path = posixpath.normpath(path)
    return "" if path == ".." or path.startswith("../") else path


def _exists(folder: str, path: str) -> bool:
    """True when the path exists below the folder. Links are not followed and count as existing."""
    place = folder
    for part in path.split("/"):
        place = os.path.join(place, part)
        if os.path.islink(place):
            return True
    return os.path.lexists(place)


# The text form. None of these faults changes the result of lenient parsing, and ``check --fix``
# repairs all of them.


def _byte_order_mark(view: View) -> Violations:
    if view.raw.startswith("\ufeff"):
        yield Violation("a byte order mark stands before the first line", 1, column=1)


def _line_ends_crlf(view: View) -> Violations:
    first = view.raw.find("\r\n")
    if first >= 0:
        yield Violation("lines end with CR and LF", view.raw.count("\n", 0, first) + 1)


def _trailing_blanks(view: View) -> Violations:
    for number, line in enumerate(view.block.split("\n")):
        stripped = line.rstrip(" \t")
        if stripped != line:
            place = (number + 2, "", "", len(stripped) + 1)
            yield Violation("blanks stand at the end of the line", *place)


def _final_newline_missing(view: View) -> Violations:
    if view.raw and not view.raw.endswith("\n"):
        last = view.raw.rfind("\n") + 1
        line = view.raw.count("\n") + 1
        yield Violation("the last line has no line end", line, column=len(view.raw) - last + 1)


_ENDINGS = {
    "_missing": _missing,
    "_not_string": _not_string,
    "_empty": _empty,
    "_too_long": _too_long,
}
"""Ending of a code -> rule over the field that the code begins with."""


def _rule(code: str) -> Rule:
    """Return the rule of a code: its own function, or one for all codes of a kind."""
    own: Rule | None = globals().get(f"_{code}")
    if own is not None or code in _NAME_FAULTS:
        return own or partial(_name_fault, code)
    ending = next(filter(code.endswith, _ENDINGS))
    return partial(_ENDINGS[ending], code.removesuffix(ending).replace("_", "-"))


FILE_RULES: Mapping[str, Rule] = {code: _rule(code) for code, rule in RULES.items() if rule.kinds}
