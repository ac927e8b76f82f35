"""What a request may say, as data: read from a query string or a JSON body, and described.

The same :class:`Field` values check a request and stand in the OpenAPI document, so the two
cannot differ.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from skillyard.io.strict_json import RepeatedKey, strict_loads
from skillyard.serving.runtime.errors import Fault, Refused, wrong_field

__all__ = ["Field", "from_form", "from_json", "from_path", "from_query", "refuse_field"]

MOST_PAIRS = 1_000
"""Parameters of one query string: more than the items of any route's lists together."""
TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


class Field(NamedTuple):
    """One value of a request."""

    name: str
    kind: str
    """``text``, ``integer``, ``number``, ``flag`` or ``texts`` (a list; repeated in a query)."""
    about: str
    required: bool = False
    default: Any = None
    least: float | None = None
    most: float | None = None
    shortest: int = 0
    longest: int = 1_000
    """Characters of a text, or of each text of a list."""
    items: int = 100
    """Texts of a list."""
    choices: tuple[str, ...] = ()
    alias: str = ""
    """A second name under which it is understood."""
    pattern: str = ""
    """What the use case takes, for whoever reads the description; it checks by itself."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which it is understood."""
        return (self.name, self.alias) if self.alias else (self.name,)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the value."""
        if self.kind == "texts":
            shape: dict[str, Any] = {"type": "array", "items": self._text(), "maxItems": self.items}
        elif self.kind == "text":
            shape = self._text()
        else:
            shape = {"type": "boolean" if self.kind == "flag" else self.kind}
            shape |= {} if self.least is None else {"minimum": self.least}
            shape |= {} if self.most is None else {"maximum": self.most}
        if self.default is not None:
            shape["default"] = list(self.default) if self.kind == "texts" else self.default
        return {**shape, "description": self.about}

    def _text(self) -> dict[str, Any]:
        shape: dict[str, Any] = {"type": "string", "maxLength": self.longest}
        if self.shortest:
            shape["minLength"] = self.shortest
        if self.choices:
            shape["enum"] = list(self.choices)
        elif self.pattern or self.shortest:
            shape["pattern"] = self.pattern or NOT_BLANK
        return shape


NOT_BLANK = r"[^\s\u001c-\u001f\u0085\ufeff]"
"""Blanks alone are nothing: those of JSON Schema's expressions, and of Python."""
Where = tuple[str | int, ...]


def from_form(fields: Sequence[Field], body: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of what a form sends, defaults filled in. Raises Refused (422).

    Browsers send each line end as two characters, which nobody typed: they count as one.
    """
    return from_query(fields, body.replace(b"%0D%0A", b"%0A"), strict=strict, place="body")


def from_query(
    fields: Sequence[Field], raw: bytes, *, strict: bool, place: str = "query"
) -> dict[str, Any]:
    """Return the values of a query string, defaults filled in. Raises Refused (422).

    ``strict`` refuses parameters that are not known; else they are passed over. Faults are said to
    be in ``place``.
    """
    by_name = {name: field for field in fields for name in field.names}
    given: dict[str, list[str]] = {}
    faults: list[Fault] = []
    for name, text in _pairs(raw, place):
        field = by_name.get(name)
        if field is not None:
            given.setdefault(field.name, []).append(text)
        elif strict:
            faults.append(_unknown((place, name[:100]), by_name))
    values = {}
    for field in fields:
        texts = given.get(field.name)
        where: Where = (place, field.name)
        if texts is None:
            values[field.name] = _absent(field, where, faults)
        elif field.kind == "texts":
            values[field.name] = _checked(field, tuple(texts), where, faults)
        elif len(texts) > 1:
            faults.append(Fault(where, f"{field.name} is given {len(texts)} times", "repeated"))
        else:
            values[field.name] = _from_text(field, texts[0], where, faults)
    if faults:
        raise wrong_field(faults)
    return values


def _pairs(raw: bytes, place: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_PAIRS
        )
    except UnicodeDecodeError:
        what = "query string" if place == "query" else "form"
        fault = Fault((place,), f"the {what} is not percent-encoded UTF-8", "encoding")
    except ValueError:
        fault = Fault((place,), f"more than {MOST_PAIRS} parameters", "too_many")
    raise wrong_field([fault])


def _from_text(field: Field, text: str, where: Where, faults: list[Fault]) -> Any:
    value: Any = text
    if field.kind == "flag":
        lowered = text.strip().lower()
        if lowered not in TRUE | FALSE:
            faults.append(Fault(where, f"{field.name} must be true or false", "bool_parsing"))
            return None
        value = lowered in TRUE
    elif field.kind in ("integer", "number"):
        try:
            value = _number(field.kind, text.strip())
        except ValueError:
            what = "a whole number" if field.kind == "integer" else "a number"
            kind = "int_parsing" if field.kind == "integer" else "float_parsing"
            faults.append(Fault(where, f"{field.name} must be {what}", kind))
            return None
    return _checked(field, value, where, faults)


def _number(kind: str, text: str) -> int | float:
    if len(text) > 40 or not text.isascii() or "_" in text:
        raise ValueError(text)
    return int(text) if kind == "integer" else float(text)


def from_json(fields: Sequence[Field], body: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of a JSON body, defaults filled in. Raises Refused (422).

    The body is one object in UTF-8 with each key once; null means that a field is not given.
    """
    document = _parsed(body)
    if not isinstance(document, dict):
        raise wrong_field([Fault(("body",), "the body must be a JSON object", "dict_type")])
    by_name = {name: field for field in fields for name in field.names}
    faults: list[Fault] = []
    given: dict[str, Any] = {}
    for name, value in document.items():
        field = by_name.get(name)
        if field is None:
            faults += [_unknown(("body", name[:100]), by_name)] if strict else []
        elif field.name in given:
            faults.append(Fault(("body", name), f"{field.name} is given twice", "repeated"))
        else:
            given[field.name] = value
    values = {}
    for field in fields:
        where: Where = ("body", field.name)
        if given.get(field.name) is not None:
            values[field.name] = _from_value(field, given[field.name], where, faults)
        else:
            values[field.name] = _absent(field, where, faults)
    if faults:
        raise wrong_field(faults)
    return values


def from_path(fields: Sequence[Field], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a path. Raises Refused (422)."""
    faults: list[Fault] = []
    values = {
        field.name: _checked(field, given[field.name], ("path", field.name), faults)
        for field in fields
    }
    if faults:
        raise wrong_field(faults)
    return values


def _parsed(body: bytes) -> Any:
    message, kind = "", "json_invalid"
    try:
        return strict_loads(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        message = f"the body is not UTF-8 (byte {error.start})"
    except RecursionError:
        message = "the body is nested too deeply"
    except RepeatedKey as error:
        message, kind = f"the key {error.key[:100]!r} stands twice", "repeated"
    except json.JSONDecodeError as error:
        message = f"the body is no JSON: {error.msg} (line {error.lineno}, column {error.colno})"
    except ValueError:
        message = "the body holds a number that JSON does not have, or that is too long"
    raise wrong_field([Fault(("body",), message, kind)])


_JSON_TYPES: Mapping[str, tuple[tuple[type, ...], str, str]] = {
    "text": ((str,), "text", "string_type"),
    "flag": ((bool,), "true or false", "bool_type"),
    "integer": ((int,), "a whole number", "int_type"),
    "number": ((int, float), "a number", "float_type"),
    "texts": ((list,), "a list of texts", "list_type"),
}


def _from_value(field: Field, value: Any, where: Where, faults: list[Fault]) -> Any:
    types, what, kind = _JSON_TYPES[field.kind]
    if field.kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)  # 5.0 is a whole number in JSON
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        faults.append(Fault(where, f"{field.name} must be {what}", kind))
        return None
    if field.kind != "texts":
        return _checked(field, value, where, faults)
    items = value if isinstance(value, list) else []
    for place, item in enumerate(items):
        if not isinstance(item, str):
            at = (*where, place)
            faults.append(Fault(at, f"{field.name} must hold texts only", "string_type"))
            return None
    return _checked(field, tuple(items), where, faults)


def _checked(field: Field, value: Any, where: Where, faults: list[Fault]) -> Any:
    """Return the value; what lies outside its bounds is a fault."""
    if field.kind == "text":
        _check_text(field, value, where, faults)
    elif field.kind == "texts":
        if len(value) > field.items:
            faults.append(
                Fault(where, f"{field.name} holds more than {field.items} texts", "too_long")
            )
        else:
            for place, item in enumerate(value):
                _check_text(field, item, (*where, place), faults)
    elif field.kind in ("integer", "number"):
        _check_number(field, value, where, faults)
    return value


def _check_number(field: Field, value: float, where: Where, faults: list[Fault]) -> None:
    if not math.isfinite(value):
        faults.append(Fault(where, f"{field.name} must be a finite number", "finite_number"))
    elif field.least is not None and value < field.least:
        message = f"{field.name} must be at least {field.least:g}"
        faults.append(Fault(where, message, "greater_than_equal"))
    elif field.most is not None and value > field.most:
        message = f"{field.name} must be at most {field.most:g}"
        faults.append(Fault(where, message, "less_than_equal"))


def _check_text(field: Field, text: str, where: Where, faults: list[Fault]) -> None:
    if len(text) < field.shortest or (field.shortest and not text.replace("\ufeff", "").strip()):
        faults.append(Fault(where, f"{field.name} must not be empty", "string_too_short"))
    elif len(text) > field.longest:
        message = f"{field.name} must have at most {field.longest:,} characters"
        faults.append(Fault(where, message, "string_too_long"))
    elif not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        faults.append(Fault(where, f"{field.name} holds half a surrogate pair", "string_unicode"))
    elif field.choices and text not in field.choices:
        message = f"{field.name} must be one of {', '.join(field.choices)}"
        faults.append(Fault(where, message, "enum"))


def _absent(field: Field, where: Where, faults: list[Fault]) -> Any:
    if field.required:
        faults.append(Fault(where, f"{field.name} is required", "missing"))
    return () if field.kind == "texts" and field.default is None else field.default


def _unknown(where: Where, known: Mapping[str, Field]) -> Fault:
    names = ", ".join(dict.fromkeys(field.name for field in known.values())) or "none"
    return Fault(where, f"no field {where[-1]!r}; known: {names}", "extra_forbidden")


def refuse_field(
    name: str, message: str, kind: str = "value_error", place: str = "query"
) -> Refused:
    """Return the 422 for one field whose value only the use case could judge."""
    return wrong_field([Fault((place, name), message, kind)])
