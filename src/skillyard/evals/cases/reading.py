"""Reads YAML and JSON that people write into dataclasses; each fault has its file and line."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from skillyard.base.errors import Diagnostic, SkillYamlError
from skillyard.base.invisible import find_hidden
from skillyard.base.io.strict_json import strict_loads
from skillyard.base.limits import DEFAULT_LIMITS
from skillyard.base.text import clean_line, shorten
from skillyard.engine.formats.yaml_guard import Node, Scalar, plain_value, read_mapping

Kind = TypeVar("Kind")
Place = tuple[str | int, ...]
"""Where a value stands in a file: names of fields, and numbers of items."""
SomeText = Annotated[str, Field(min_length=1)]
STRICT = {"extra": "forbid"}
"""The ``__pydantic_config__`` of a class that has every field which its file may have."""
TEXT_CHARS = 100_000
"""Longest text of one field: longer than any prompt, shorter than what a context holds."""
_MAX_QUOTED_CHARS = 60
_YAML_LIMITS = DEFAULT_LIMITS._replace(yaml_nodes=50_000)
"""As for frontmatter, but for files of many prompts."""
_HINTS = {
    "yaml_too_large": "split the file",
    "yaml_invalid": "keep one YAML document in the file, without `...` or a second `---`",
    "yaml_not_mapping": "write one field a line, as `field: value`",
}
_SURROGATES = re.compile("[\ud800-\udfff]")


def quote(name: str) -> str:
    """Return a name from a file as a message has it: short, and without hidden characters."""
    return clean_line(shorten(name, _MAX_QUOTED_CHARS))


def prompt_key(prompt: str) -> str:
    """Return what two requests have in common that are the same but for case, width and space."""
    return " ".join(unicodedata.normalize("NFKC", prompt).casefold().split())


class Notes:
    """The diagnostics of one read, in the order in which they are added, seen from one file."""

    __slots__ = ("diagnostics", "errors", "path")

    def __init__(self, path: str = "", diagnostics: list[Diagnostic] | None = None) -> None:
        self.path = path
        self.diagnostics = [] if diagnostics is None else diagnostics
        self.errors = 0
        """Of this file."""

    def of_file(self, path: str) -> Notes:
        """Return notes on another file that go into the same list."""
        return Notes(path, self.diagnostics)

    def error(
        self, code: str, line: int | None, message: str, hint: str, found: object = ""
    ) -> None:
        """Record something that keeps the entry from being used."""
        self.errors += 1
        self._add("error", code, line, message, hint, found)

    def warning(
        self, code: str, line: int | None, message: str, hint: str, found: object = ""
    ) -> None:
        """Record something that is used as it is."""
        self._add("warning", code, line, message, hint, found)

    def _add(
        self, severity: str, code: str, line: int | None, message: str, hint: str, found: object
    ) -> None:
        quoted = shorten(found if isinstance(found, str) else repr(found), _MAX_QUOTED_CHARS)
        self.diagnostics.append(
            Diagnostic(code, severity, self.path, message, hint, line=line, found=quoted)
        )


class Located(NamedTuple):
    """A value of a file, and the lines of its parts."""

    value: Any
    """Texts, numbers, lists and mappings."""
    lines: Mapping[Place, int]
    place: Place = ()
    """Where the value itself stands."""

    def line(self, *place: str | int) -> int | None:
        """Return the line of a part, or of what is nearest around it."""
        whole = (*self.place, *place)
        around = (whole[:end] for end in range(len(whole), -1, -1))
        return next((self.lines[each] for each in around if each in self.lines), None)

    def at(self, *place: str | int) -> Located:
        """Return a part."""
        value = self.value
        for key in place:
            value = value[key]
        return Located(value, self.lines, (*self.place, *place))


def yaml_nodes(text: str, notes: Notes) -> dict[str, Node] | None:
    """Return the mapping of a YAML file, or None and a note.

    Anchors, aliases, tags, merge keys, duplicate keys, and too much depth or size are refused as in
    frontmatter (:mod:`skillyard.engine.formats.yaml_guard`).
    """
    try:
        return read_mapping(text, notes.path, _YAML_LIMITS, first_line=1)[0]
    except SkillYamlError as error:
        message = error.message.replace("the frontmatter", "the file")
        hint = error.hint.replace("the frontmatter", "the file")
        if error.code in _HINTS and ("fences" in hint or error.code != "yaml_invalid"):
            hint = _HINTS[error.code]
        notes.error(error.code, error.line, message, hint, error.found)
        return None


def located(nodes: Node) -> Located:
    """Return the nodes of a YAML file as plain values, with their lines."""
    lines: dict[Place, int] = {}

    def plain(node: Node, place: Place) -> Any:
        if isinstance(node, Scalar):
            lines[place] = node.line + 1
            return plain_value(node)
        parts: Iterable[tuple[Any, Node]]
        parts = enumerate(node) if isinstance(node, list) else node.items()
        values = {key: plain(part, (*place, key)) for key, part in parts}
        first = next((lines[each] for key in values if (each := (*place, key)) in lines), None)
        if first is not None:
            lines[place] = first
        return list(values.values()) if isinstance(node, list) else values

    return Located(plain(nodes, ()), lines)


def json_value(text: str, notes: Notes, line: int = 1) -> Located | None:
    """Return a JSON text; None, and a note, where it is none. ``line`` is that of all of it."""
    try:
        return Located(strict_loads(text), {(): line})
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg}, column {error.colno}"
        bad = text.split("\n")[error.lineno - 1].strip()
        where = line + error.lineno - 1
        notes.error("json_invalid", where, message, "check quotes, commas and brackets there", bad)
    except RecursionError:
        notes.error("json_invalid", line, "the JSON is nested too deep", "flatten it")
    except ValueError as error:
        message = f"JSON that is refused: {error}"
        notes.error("json_invalid", line, message, "write it another way")
    return None


def json_item_lines(text: str, field: str) -> list[int]:
    """Return the line of each item of the list in a field of a JSON object, or of the text itself.

    JSON is YAML, but for a few odd texts: of those no line is known, and the list is empty.
    """
    try:
        root: Any = yaml.compose(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        fields = {key.value: node for key, node in root.value} if field else {"": root}
        return [node.start_mark.line + 1 for node in fields[field].value]
    except (yaml.YAMLError, ValueError, AttributeError, KeyError, RecursionError):
        return []


def json_lines(text: str, notes: Notes) -> Iterator[Located]:
    """Yield the object of each line; blank lines and lines that start with ``#`` are skipped.

    A line that is no JSON object is a note, and the others are read.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        value = json_value(line, notes, number)
        if value is not None and not isinstance(value.value, dict):
            message = "the line is not a JSON object"
            notes.error("json_not_object", number, message, "write {…} on one line")
        elif value is not None:
            yield value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a class, and of the classes in it."""
    schema = _adapter(kind).json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return tuple(dict.fromkeys(name for part in parts for name in part.get("properties", ())))


def checked(kind: type[Kind], entry: Located, notes: Notes, what: str = "") -> Kind | None:
    """Return a value of a file as a dataclass; None, and a note for each fault, where it is none.

    Texts are stripped. ``what`` names the entry.
    """
    before = notes.errors
    value = _clean(entry.value, entry, (), notes, what)
    if notes.errors > before:
        return None
    key: Any = kind  # for the cache, that of a type
    adapter = _adapter(key)
    try:
        # From JSON, because there a list is a tuple, and a whole number is a number, also strictly.
        read: Kind = adapter.validate_json(json.dumps(value), strict=True)
        return read
    except ValidationError as error:
        faults = error.errors(include_url=False)
        for fault in faults:
            # What is wrong with a list as a whole follows from what is wrong with its items.
            loc, size = fault["loc"], len(fault["loc"])
            if not any(size < len(each["loc"]) and each["loc"][:size] == loc for each in faults):
                _note_fault(fault, _fields_of(key), entry, notes, what)
        return None


def _note_fault(
    fault: Mapping[str, Any], known: Sequence[str], entry: Located, notes: Notes, what: str
) -> None:
    place: Place = tuple(fault["loc"])
    name, last, found = name_of(place, what), str(place[-1]) if place else what, fault["input"]
    if fault["type"] in ("missing", "missing_argument"):
        line = entry.line(*place[:-1])
        notes.error("case_missing_field", line, f"{name} is missing", f"add {last}")
    elif fault["type"] in ("unexpected_keyword_argument", "extra_forbidden"):
        near = get_close_matches(last, known, 1, 0.6)
        hint = f"did you mean {near[0]}?" if near else f"the fields are: {', '.join(known)}"
        message = f"there is no field {quote(name)}"
        notes.error("case_unknown_field", entry.line(*place), message, hint, last)
    else:
        kinds: dict[type, str] = {list: "a list", dict: "a mapping"}
        hint = fault["msg"].partition("should ")[2].removesuffix(" after validation, not 0")
        message = f"{name} is wrong" if name else "the entry is wrong"
        shown = kinds.get(type(found), found)
        notes.error("case_bad_field", entry.line(*place), message, f"it should {hint}", shown)


def name_of(place: Iterable[str | int], what: str = "") -> str:
    """Return the name of a part of a file: ``criteria[2].weight``."""
    name = what
    for key in place:
        name += f"[{key}]" if isinstance(key, int) else f".{key}" if name else key
    return name


def _clean(value: Any, entry: Located, place: Place, notes: Notes, what: str) -> Any:
    """Return a value with its texts stripped, and checked."""
    if isinstance(value, dict):
        return {k: _clean(part, entry, (*place, k), notes, what) for k, part in value.items()}
    if isinstance(value, list):
        return [_clean(part, entry, (*place, n), notes, what) for n, part in enumerate(value)]
    if not isinstance(value, str):
        return value
    line, name = entry.line(*place), name_of(place, what)
    if len(value) > TEXT_CHARS:
        message = f"{name} is longer than {TEXT_CHARS:,} characters"
        notes.error("case_bad_field", line, message, "shorten it")
    hidden = find_hidden(value)
    if hidden is not None and _SURROGATES.search(value):
        hint = "write the character itself, or both halves of its escape"
        notes.error("case_bad_field", line, f"{name} holds half of a character", hint)
    elif hidden is not None:
        message = f"{name} holds {hidden.label}, which no reader sees"
        hint = "remove it, unless the case is about it"
        notes.warning("case_hidden_character", line, message, hint)
    return value.strip()


class SourceFile(NamedTuple):
    """The text of one file."""

    path: str
    text: str
    """UTF-8 decoded, without a byte order mark, line ends as LF."""
    data: bytes
    """As read."""
    kind: str = ""
    """What it holds, as :mod:`~skillyard.evals.cases.case_files` names it; empty: not known."""
    home: str | None = None
    """The skill in whose folder it lies."""
