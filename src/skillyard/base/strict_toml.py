"""TOML that is read strictly by the annotations of a class; a fault names file, line and fix.

Each key is a field of a dataclass or named tuple, and an unknown one is an error. An annotation may
have notes: :class:`.Bounds`, :data:`NOT_BLANK`, :data:`USER_ONLY`, :class:`OfProject`,
:data:`NO_KEY`, and functions that return the value to store or raise ValueError with what is wrong.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING
from sys import float_info
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from skillyard.base.arguments import OfProject
from skillyard.base.errors import SkillIoError
from skillyard.base.operation import Bounds
from skillyard.base.text import clean_line, shorten

T = TypeVar("T")

USER_ONLY = "user only"
"""The note of a key that only the user's own file may set."""
NO_KEY = "no key"
"""The note of a field that no file sets."""
NOT_BLANK = "not blank"
"""The note of a text that says something."""
SomeText = Annotated[str, NOT_BLANK]

_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_KEYS = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_STATEMENT = rf"[ \t]*(?:\[\[?[ \t]*(?P<table>{_KEYS})[ \t]*\]|(?P<key>{_KEYS})[ \t]*=)"
_PLACE = re.compile(r" \((?:at line (\d+), column (\d+)|at end of document)\)$")
_SHOWN = 80
_MAX_FLOAT = float_info.max

Place = tuple[str, ...]
Record = type


def bounds_of(note: Any) -> Bounds | None:
    """Return the bounds of a note, also of one of annotated-types or pydantic; None without any."""
    if isinstance(note, Bounds):
        return note
    least, most, above = (getattr(note, name, None) for name in ("ge", "le", "gt"))
    bounds = Bounds(least, most, above)
    return None if bounds == Bounds() else bounds


def number_fault(value: float, bounds: Bounds) -> str:
    """Return what is wrong with a number; empty for one within the bounds."""
    least, most, above, *_ = bounds
    low = (least is None or value >= least) and (above is None or value > above)
    return "" if low and (most is None or value <= most) else f"must be {range_in_words(bounds)}"


def range_in_words(bounds: Bounds) -> str:
    """Return the bounds of a number, for messages and the reference."""
    least, most, above, *_ = bounds
    words = (("at least", least), ("above", above), ("at most", most))
    return " and ".join(f"{word} {bound:,.12g}" for word, bound in words if bound is not None)


def _fault(path: str, line: int | None, message: str, hint: str) -> SkillIoError:
    text = shorten(clean_line(message), 400)
    return SkillIoError(text, path=path, line=line, hint=hint)


class TomlFile(NamedTuple):
    """A parsed file."""

    path: str
    """Empty for values that a program gave."""
    text: str
    tables: Mapping[str, Any]
    own_file: str = ""
    """Of a project's file, which is a stranger's: the user's file, where :data:`USER_ONLY` keys
    belong."""

    def fault(self, place: Place, what: str, hint: str = "", word: str = "") -> SkillIoError:
        """Return the error about a key; ``word`` is the item of its value that is wrong."""
        name = ".".join(shorten(each, _SHOWN) for each in place)
        line = self.line_of(place, word) if self.path else None
        return _fault(self.path, line, f"{name} {what}".strip(), hint)

    def line_of(self, place: Place, word: str = "") -> int | None:
        """Return the 1-based line of a key, of an item of its value, or of the table around it."""
        lines = self.text.split("\n")
        places = _places(lines)
        starts = [*sorted(places.values()), len(lines) + 1]
        for length in range(len(place), 0, -1):
            start = places.get(place[:length])
            if start is not None:
                end = next(each for each in starts if each > start)
                own = (each for each in range(start, end) if word in lines[each - 1])
                return next(own, start)
        return None


NO_FILE = TomlFile("", "", {})
"""Where values come from a program."""


def parse_toml(data: bytes, path: str) -> TomlFile:
    """Return the parsed file. Raises SkillIoError."""
    try:
        text = data.decode("utf-8")
        return TomlFile(path, text, tomllib.loads(text))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _fault(path, line, "this is not UTF-8 text", "save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else data.rstrip().count(b"\n") + 1
        what = str(error)[: place.start()] if place else str(error)
        raise _fault(path, line, f"this is not TOML: {what}", "correct it") from None
    except (RecursionError, ValueError):
        raise _fault(path, None, "this is not TOML", "correct it") from None


def _places(lines: Sequence[str]) -> dict[Place, int]:
    """Return the line on which each key and table of a valid file begins."""
    statement = re.compile(_STATEMENT)
    table: Place = ()
    places: dict[Place, int] = {}
    for number, line in enumerate(lines, 1):
        match = statement.match(line)
        if match is not None:
            keys = _split(match["table"] or match["key"])
            place = keys if match["table"] else (*table, *keys)
            table = keys if match["table"] else table
            for length in range(len(place), 0, -1):
                places.setdefault(place[:length], number)
    return places


def _split(keys: str) -> Place:
    """Return the names of a dotted key."""
    names: list[str] = []
    value: Any = tomllib.loads(f"{keys} = 0")
    while isinstance(value, dict):
        ((name, value),) = value.items()
        names.append(name)
    return tuple(names)


def keys_of(record: Record) -> Mapping[str, Any]:
    """Return the keys of a section and their annotations."""
    hints = get_type_hints(record, include_extras=True)
    return {name: hint for name, hint in hints.items() if NO_KEY not in notes_of(hint)}


def notes_of(hint: Any) -> tuple[Any, ...]:
    """Return what an annotation says beside the type."""
    notes = getattr(hint, "__metadata__", ())
    return tuple(one for note in notes for one in getattr(note, "metadata", None) or (note,))


def is_record(kind: Any) -> bool:
    """Return True for a class with fields."""
    return isinstance(kind, type) and (
        hasattr(kind, "__dataclass_fields__") or hasattr(kind, "_fields")
    )


def read_record(record: type[T], layers: Sequence[tuple[TomlFile, Any]], place: Place = ()) -> T:
    """Return a section; of several files that have a key, the last one counts.

    Raises SkillIoError for a key or value that the annotations do not allow.
    """
    hints = keys_of(record)
    for file, table in layers:
        if not isinstance(table, dict):
            raise file.fault(place, "must be a table")
        for key in table:
            if key not in hints:
                raise unknown_key(file, (*place, key), hints)
            if file.own_file and USER_ONLY in notes_of(hints[key]):
                raise not_theirs(file, (*place, key))
    values: dict[str, Any] = {}
    for name, hint in hints.items():
        given = [(file, table[name]) for file, table in layers if name in table]
        if is_record(hint):
            values[name] = read_record(hint, given, (*place, name))
        elif not given and default_of(record, name) is MISSING:
            raise layers[-1][0].fault(place, f"must have {name}")
        else:
            for file, value in given:
                values[name] = read_value(file, value, hint, (*place, name))
    return record(**values)


def default_of(record: Any, name: str) -> object:
    """Return the default of a field, or MISSING."""
    fields = getattr(record, "__dataclass_fields__", None)
    if fields is None:
        return record._field_defaults.get(name, MISSING)
    if fields[name].default_factory is not MISSING:
        return fields[name].default_factory
    return fields[name].default


def not_theirs(file: TomlFile, place: Place) -> SkillIoError:
    """Return the error about a key that a project's file may not set."""
    what = "is not read from the file of a project"
    return file.fault(place, what, f"move it to your own {file.own_file}")


def unknown_key(file: TomlFile, place: Place, known: Collection[str]) -> SkillIoError:
    """Return the error about a key that nothing reads, with the nearest known name."""
    from difflib import get_close_matches

    *above, key = place
    near = get_close_matches(key.replace("-", "_"), [*known], 1, 0.6)
    guess = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
    name = ".".join((*above, shorten(key, _SHOWN)))
    return _fault(file.path, file.line_of(place), f"there is no key {name}", guess)


def options_of(hint: Any) -> tuple[Any, ...]:
    """Return the types that an annotation allows, without its notes."""
    base = get_args(hint)[0] if notes_of(hint) else hint
    return get_args(base) if get_origin(base) in (Union, UnionType) else (base,)


def read_value(file: TomlFile, value: Any, hint: Any, place: Place) -> Any:
    """Return a value as its annotation wants it. Raises SkillIoError."""
    options = options_of(hint)
    word = value if isinstance(value, str) else ""
    for kind in options:
        if type(value) in _toml_types(kind):
            break
    else:
        raise file.fault(place, f"must be {' or '.join(map(words_of, options))}", word=word)
    result = _of_kind(file, value, kind, place)
    for note in notes_of(hint):
        fault, bounds = "", bounds_of(note)
        if bounds is not None and result is not None:
            fault = number_fault(result, bounds)
        elif isinstance(note, OfProject):
            fault = note.fault_of(result) if file.own_file else ""
        elif note == NOT_BLANK and not result.strip():
            fault = "is empty; write some text"
        elif callable(note):
            try:
                result = note(result)
            except ValueError as error:
                fault = str(error)
        if fault:
            raise file.fault(place, fault, word=word)
    return result


def _of_kind(file: TomlFile, value: Any, kind: Any, place: Place) -> Any:
    origin = get_origin(kind)
    if is_record(kind):
        return read_record(kind, [(file, value)], place)
    if origin is Literal and value not in get_args(kind):
        raise file.fault(place, f"must be {words_of(kind)}", word=str(value))
    if origin is tuple:
        return tuple(read_value(file, item, get_args(kind)[0], place) for item in value)
    if origin is Mapping:
        of_key, of_value = get_args(kind)
        pairs = [(key, item, (*place, key)) for key, item in value.items()]
        return {
            read_value(file, key, of_key, here): read_value(file, item, of_value, here)
            for key, item, here in pairs
        }
    if kind is float:
        if not -_MAX_FLOAT <= value <= _MAX_FLOAT:  # infinite, NaN, or a whole number beyond it
            raise file.fault(place, "must be a finite number")
        return float(value)
    if kind is NoneType:
        if value != "none":
            raise file.fault(place, 'must be a number or "none"')
        return None
    return value


_Words = tuple[tuple[type, ...], str]
_KINDS: Mapping[Any, _Words] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text in quotes"),
    NoneType: ((str,), '"none"'),
    tuple: ((list,), "a list"),
    Mapping: ((dict,), "a table"),
    Any: ((bool, int, float, str, list, dict), "a value"),
}


def _toml_types(kind: Any) -> tuple[type, ...]:
    if is_record(kind):
        return (dict,)
    if get_origin(kind) is Literal:
        return tuple({type(each) for each in get_args(kind)})
    return _KINDS[get_origin(kind) or kind][0]


def words_of(kind: Any) -> str:
    """Return a type in words, for messages and the reference."""
    arguments = get_args(kind)
    if get_origin(kind) is Literal:
        *others, last = map(str, arguments)
        return f"{', '.join(others)} or {last}" if others else last
    if get_origin(kind) is tuple:
        item = options_of(arguments[0])[0]
        if get_origin(item) is Literal:
            return f"a list of {words_of(item)}"
        return "a list of tables" if is_record(item) else "a list of texts"
    return "a table" if is_record(kind) else _KINDS[get_origin(kind) or kind][1]
