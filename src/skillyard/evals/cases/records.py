"""Typed access to the fields of one mapping of a case file, with a diagnostic for each fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from skillyard.errors import Diagnostic
from skillyard.formats.nodes import Node, Scalar, plain_value
from skillyard.text import clean_line, find_hidden, shorten

__all__ = ["Located", "Notes", "Record", "from_json", "from_yaml"]

TEXT_CHARS = 100_000
"""Longest text of one field: longer than any prompt, shorter than what a context holds."""
JSON_DEPTH = 16
"""Nesting in one JSON record; the formats here need four levels."""
_MAX_QUOTED_CHARS = 60


class Located(NamedTuple):
    """A value with the 1-based line on which it begins."""

    value: Any
    """Text, a number, a boolean, None, a list of located values, or a mapping to them."""
    line: int | None


def from_yaml(node: Node, line: int) -> Located:
    """Return the guarded node as located values; ``line`` is the line of its key."""
    if isinstance(node, Scalar):
        return Located(plain_value(node), node.line + 1)
    if isinstance(node, list):
        items = [from_yaml(item, line) for item in node]
        return Located(items, items[0].line if items else line)
    fields = {key: from_yaml(value, line) for key, value in node.items()}
    first = next(iter(fields.values()), None)
    return Located(fields, first.line if first is not None else line)


def from_json(value: Any, line: int | None, depth: int = 0) -> Located:
    """Return the parsed JSON as located values. Raises ValueError where it is nested too deep."""
    if depth > JSON_DEPTH:
        raise ValueError(f"more than {JSON_DEPTH} levels")
    if isinstance(value, list):
        return Located([from_json(item, line, depth + 1) for item in value], line)
    if isinstance(value, dict):
        fields = {key: from_json(item, line, depth + 1) for key, item in value.items()}
        return Located(fields, line)
    return Located(value, line)


class Notes:
    """The diagnostics of one file, in the order in which they are added."""

    __slots__ = ("diagnostics", "errors", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.diagnostics: list[Diagnostic] = []
        self.errors = 0

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


class Record:
    """The fields of one mapping. A field of the wrong type is a note, and reads as absent."""

    __slots__ = ("_fields", "line", "notes", "what")

    def __init__(
        self, fields: Mapping[str, Located], line: int | None, notes: Notes, what: str = ""
    ) -> None:
        self._fields = fields
        self.line = line
        self.notes = notes
        self.what = what
        """Which part of the file this is, for messages: ``criteria[2].``; empty at the top."""

    def __contains__(self, field: str) -> bool:
        return field in self._fields

    def only(self, known: Iterable[str]) -> None:
        """Note every field that is not among the known ones, with the nearest of them."""
        names = list(known)
        for field, located in self._fields.items():
            if field in names:
                continue
            near = get_close_matches(field, names, 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else f"the fields are: {', '.join(names)}"
            self.notes.error(
                "case_unknown_field",
                located.line or self.line,
                f"there is no field {self.what}{clean_line(shorten(field, _MAX_QUOTED_CHARS))}",
                hint,
                field,
            )

    def line_of(self, field: str) -> int | None:
        """Return the line of a field, or of the record where the field is absent."""
        located = self._fields.get(field)
        return located.line if located is not None and located.line is not None else self.line

    def wrong(self, field: str, message: str, hint: str, found: object = "") -> None:
        """Note that a field holds what it may not hold."""
        self.notes.error(
            "case_bad_field", self.line_of(field), f"{self.what}{field} {message}", hint, found
        )

    def required(self, field: str) -> bool:
        """True when the field is there and not null; otherwise that is noted."""
        located = self._fields.get(field)
        if located is not None and located.value is not None:
            return True
        state = "missing" if located is None else "empty"
        self.notes.error(
            "case_missing_field",
            self.line_of(field),
            f"{self.what}{field} is {state}",
            f"add {field}",
        )
        return False

    def raw(self, field: str) -> Any:
        """Return the value as it was written; None where it is absent or null."""
        located = self._fields.get(field)
        return None if located is None else located.value

    def text(self, field: str, default: str = "") -> str:
        """Return a text, trimmed; the default where it is absent, null or no text."""
        value = self.raw(field)
        if value is None:
            return default
        text = self._text(field, value, self.line_of(field))
        return default if text is None else text

    def some_text(self, field: str) -> str:
        """Return a text that must be there and not be blank; empty where it is not (noted)."""
        if not self.required(field):
            return ""
        before = self.notes.errors
        text = self.text(field)
        if not text and self.notes.errors == before:
            self.wrong(field, "is empty", "write some text")
        return text

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a list of texts, none of them blank; empty where it is absent."""
        return tuple(text for text, _ in self.located_texts(field))

    def located_texts(self, field: str) -> tuple[tuple[str, int | None], ...]:
        """Return the same with the line of each."""
        value = self.raw(field)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.wrong(field, "is not a list", "write a list of texts", _plain(value))
            return ()
        items = []
        for number, item in enumerate(value):
            name = f"{field}[{number}]"
            line = item.line or self.line_of(field)
            text = self._text(name, item.value, line)
            if text == "":
                self.notes.error(
                    "case_bad_field",
                    line,
                    f"{self.what}{name} is empty",
                    "write some text, or remove the entry",
                )
            elif text is not None:
                items.append((text, line))
        return tuple(items)

    def flag(self, field: str, default: bool | None = None) -> bool | None:
        """Return true or false; the default where it is absent or neither."""
        value = self.raw(field)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        self.wrong(field, "is neither true nor false", "write true or false", _plain(value))
        return default

    def number(
        self,
        field: str,
        default: float | None,
        *,
        low: float,
        high: float,
        above: bool = False,
        whole: bool = False,
    ) -> float | None:
        """Return a number from ``low`` (itself left out where ``above``) to ``high``, or default.

        ``true`` is no number, and neither are NaN and infinities.
        """
        value = self.raw(field)
        if value is None:
            return default
        kind = "a whole number" if whole else "a number"
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            self.wrong(field, f"is not {kind}", f"write {kind} without quotes", _plain(value))
            return default
        if not (low < value if above else low <= value) or not value <= high:
            bound = f"above {low:g}" if above else f"at least {low:g}"
            top = "" if high == float("inf") else f" and at most {high:,.12g}"
            self.wrong(field, f"must be {bound}{top}", f"write {kind} in that range", value)
            return default
        return value

    def records(self, field: str) -> tuple[Record, ...]:
        """Return a list of mappings as records. Entries of another type are noted."""
        value = self.raw(field)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.wrong(field, "is not a list", "write a list of mappings", _plain(value))
            return ()
        records = []
        for number, item in enumerate(value):
            what = f"{self.what}{field}[{number}]"
            line = item.line or self.line_of(field)
            if isinstance(item.value, dict):
                records.append(Record(item.value, line, self.notes, f"{what}."))
            else:
                self.notes.error(
                    "case_bad_field",
                    line,
                    f"{what} is not a mapping",
                    "write `field: value` lines",
                    _plain(item.value),
                )
        return tuple(records)

    def record(self, field: str) -> Record | None:
        """Return a mapping as a record; None where it is absent, null or none (noted)."""
        value = self.raw(field)
        if value is None:
            return None
        if isinstance(value, dict):
            return Record(value, self.line_of(field), self.notes, f"{self.what}{field}.")
        self.wrong(field, "is not a mapping", "write `field: value` lines", _plain(value))
        return None

    def fields(self) -> tuple[str, ...]:
        """Return the names of the fields, in the order of the file."""
        return tuple(self._fields)

    def _text(self, field: str, value: Any, line: int | None) -> str | None:
        """Return a stripped text, or None. A value of another type is noted."""
        note = self.notes
        if not isinstance(value, str):
            hint = "put it in quotes" if isinstance(value, int | float) else "write some text"
            note.error(
                "case_bad_field", line, f"{self.what}{field} is not text", hint, _plain(value)
            )
            return None
        if len(value) > TEXT_CHARS:
            note.error(
                "case_bad_field",
                line,
                f"{self.what}{field} is longer than {TEXT_CHARS:,} characters",
                "shorten it",
            )
            return None
        hidden = find_hidden(value)
        if hidden is not None and re.search("[\ud800-\udfff]", value):
            note.error(
                "case_bad_field",
                line,
                f"{self.what}{field} holds half of a character",
                "write the character itself, or both halves of its escape",
            )
            return None
        if hidden is not None:
            note.warning(
                "case_hidden_character",
                line,
                f"{self.what}{field} holds {hidden.label}, which no reader sees",
                "remove it, unless the case is about it",
            )
        return value.strip()


def _plain(value: Any) -> Any:
    """Return what to show of a value: lists and mappings by their kind alone."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "a mapping"
    return value
