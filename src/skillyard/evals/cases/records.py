"""Typed access to the fields of one mapping of a case file, with a diagnostic for each fault."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar, get_origin

from skillyard.base.errors import Diagnostic
from skillyard.base.invisible import find_hidden
from skillyard.base.text import clean_line, shorten
from skillyard.evals.fields import Kind, fault_of, hints_of, kind_of

Values = TypeVar("Values")

TEXT_CHARS = 100_000
"""Longest text of one field: longer than any prompt, shorter than what a context holds."""
_MAX_QUOTED_CHARS = 60
HALF_CHARACTER = (
    "holds half of a character",
    "write the character itself, or both halves of its escape",
)
"""The fault of a text with a lone surrogate, and its remedy. No request can carry such a text."""
_NOT_A_MAPPING = ("is not a mapping", "write `field: value` lines")


class LocatedValue(NamedTuple):
    """A value with the 1-based line on which it begins."""

    value: Any
    """Text, a number, a boolean, None, a list of located values, or a mapping to them."""
    line: int | None


def plain(value: Any) -> Any:
    """Return a value, located or not, without the lines: lists, mappings, texts and numbers."""
    if isinstance(value, LocatedValue):
        value = value.value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


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


class Record:
    """The fields of one mapping. A field of the wrong type is a note, and reads as absent."""

    __slots__ = ("fields", "is_text", "line", "notes", "what")

    def __init__(
        self,
        fields: Mapping[str, LocatedValue],
        line: int | None,
        notes: Notes,
        what: str = "",
        *,
        is_text: bool = False,
    ) -> None:
        self.fields = fields
        """In the order of the file."""
        self.line = line
        self.notes = notes
        self.what = what
        """Which part of the file this is, for messages: ``criteria[2]``; empty at the top."""
        self.is_text = is_text
        """The file has a text here, which stands for a mapping with one field."""

    def __contains__(self, field: str) -> bool:
        return field in self.fields

    def read(
        self,
        kind: type[Values],
        names: Iterable[str] | None = None,
        also: Iterable[str] = (),
        **values: Any,
    ) -> Values:
        """Return the fields with these names as a dataclass, each read by its type hint.

        A field without a default must be there. ``values`` were read apart, and the default of
        ``names`` is every other field of the class. ``also`` is what else the file may have; any
        other field is noted.
        """
        hints = hints_of(kind)
        read = [name for name in hints if name not in values] if names is None else list(names)
        self.only([*read, *also])
        defaults = {each.name: each.default for each in fields(kind)}  # type: ignore[arg-type]
        return kind(**{n: self.value(n, hints[n], defaults[n]) for n in read}, **values)

    def value(self, field: str, hint: Any, default: Any = MISSING) -> Any:
        """Return a field by its type hint; the default where it is absent or wrong.

        A field without a default must be there, and reads as empty where it is not.
        """
        kind = kind_of(hint)
        otherwise = default if default is not MISSING else None if kind.optional else kind.type()
        if get_origin(kind.type) is tuple:
            return self.texts(field)
        if is_dataclass(kind.type):
            section = self.record(field)
            return otherwise if section is None else section.read(kind.type)  # type: ignore[arg-type]
        value = self.raw(field)
        if value is None:
            must_be = default is MISSING or (field in self and (kind.is_number or kind.not_blank))
            if must_be and not kind.optional:
                self.required(field)
            return None if kind.optional and field in self else otherwise
        if kind.type is str:
            return self._text_value(field, kind, otherwise)
        fault = fault_of(value, hint)
        if fault is not None:
            self.wrong(field, *fault, value)
            return otherwise
        return float(value) if kind.type is float else value

    def only(self, known: Iterable[str]) -> None:
        """Note every field that is not among the known ones, with the nearest of them."""
        names = list(known)
        for field, located in self.fields.items():
            if field in names:
                continue
            near = get_close_matches(field, names, 1, 0.6)
            hint = f"did you mean {near[0]}?" if near else f"the fields are: {', '.join(names)}"
            self.notes.error(
                "case_unknown_field",
                located.line or self.line,
                f"there is no field {self.name_of(quote(field))}",
                hint,
                field,
            )

    def name_of(self, field: str) -> str:
        """Return the name of a field in the file: ``criteria[2].weight``."""
        if self.is_text or not self.what:
            return self.what or field
        return f"{self.what}.{field}"

    def line_of(self, field: str) -> int | None:
        """Return the line of a field, or of the record where the field is absent."""
        located = self.fields.get(field)
        return located.line if located is not None and located.line is not None else self.line

    def wrong(
        self, field: str, message: str, hint: str, found: object = "", line: int | None = None
    ) -> None:
        """Note that a field, or an item on another line, holds what it may not hold."""
        kinds: dict[type, object] = {list: "a list", dict: "a mapping"}
        self.notes.error(
            "case_bad_field",
            line or self.line_of(field),
            f"{self.name_of(field)} {message}",
            hint,
            kinds.get(type(found), found),
        )

    def required(self, field: str) -> bool:
        """True when the field is there and not null; otherwise that is noted."""
        if self.raw(field) is not None:
            return True
        state = "empty" if field in self else "missing"
        message = f"{self.name_of(field)} is {state}"
        self.notes.error("case_missing_field", self.line_of(field), message, f"add {field}")
        return False

    def raw(self, field: str) -> Any:
        """Return the value as it was written; None where it is absent or null."""
        located = self.fields.get(field)
        return None if located is None else located.value

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a list of texts, none of them blank; empty where it is absent."""
        texts: list[str] = []
        for name, item in self._items(field, "texts"):
            text = self._text(name, item.value, item.line)
            if text == "":
                hint = "write some text, or remove the entry"
                self.wrong(name, "is empty", hint, line=item.line)
            elif text is not None:
                texts.append(text)
        return tuple(texts)

    def records(self, field: str, text_field: str | None = None) -> tuple[Record, ...]:
        """Return a list of mappings as records. Entries of another type are noted.

        With ``text_field``, an entry that is a text reads as a mapping with this field alone.
        """
        records = []
        for name, item in self._items(field, "mappings"):
            is_text = text_field is not None and not isinstance(item.value, dict | list)
            fields = {text_field: item} if is_text else item.value
            what = self.name_of(name)
            if isinstance(fields, dict):
                records.append(Record(fields, item.line, self.notes, what, is_text=is_text))
            else:
                self.wrong(name, *_NOT_A_MAPPING, fields, item.line)
        return tuple(records)

    def some_records(
        self, field: str, item: str, text_field: str | None = None
    ) -> tuple[Record, ...]:
        """Return the same for a list that must be there and have an item."""
        if not self.required(field):
            return ()
        before = self.notes.errors
        records = self.records(field, text_field)
        if not records and self.notes.errors == before:
            self.wrong(field, "is empty", f"write at least one {item}")
        return records

    def record(self, field: str) -> Record | None:
        """Return a mapping as a record; None where it is absent, null or none (noted)."""
        value = self.raw(field)
        if value is None:
            return None
        if isinstance(value, dict):
            return Record(value, self.line_of(field), self.notes, self.name_of(field))
        self.wrong(field, *_NOT_A_MAPPING, value)
        return None

    def _items(self, field: str, content: str) -> Iterator[tuple[str, LocatedValue]]:
        """Yield the items of a list with their names. A value of another type is noted."""
        value = self.raw(field)
        if value is not None and not isinstance(value, list):
            self.wrong(field, "is not a list", f"write a list of {content}", value)
            return
        for number, item in enumerate(value or ()):
            line = item.line or self.line_of(field)
            yield f"{field}[{number}]", LocatedValue(item.value, line)

    def _text_value(self, field: str, kind: Kind, otherwise: Any) -> Any:
        text = self._text(field, self.raw(field), self.line_of(field))
        if text == "" and kind.not_blank:
            self.wrong(field, "is empty", "write some text")
        if text is None or (text == "" and kind.optional):
            return otherwise
        return text

    def _text(self, field: str, value: Any, line: int | None) -> str | None:
        """Return a stripped text, or None. A value of another type is noted."""
        fault = fault_of(value, str)
        if fault is not None:
            self.wrong(field, *fault, value, line)
            return None
        if len(value) > TEXT_CHARS:
            message = f"is longer than {TEXT_CHARS:,} characters"
            self.wrong(field, message, "shorten it", line=line)
            return None
        hidden = find_hidden(value)
        if hidden is not None and re.search("[\ud800-\udfff]", value):
            self.wrong(field, *HALF_CHARACTER, line=line)
            return None
        if hidden is not None:
            self.notes.warning(
                "case_hidden_character",
                line,
                f"{self.name_of(field)} holds {hidden.label}, which no reader sees",
                "remove it, unless the case is about it",
            )
        return str(value).strip()
