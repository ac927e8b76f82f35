"""Checks the values of requests: those of HTTP and of the tools of MCP, by the same fields."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from skillyard.base.operation import Field
from skillyard.serve.runtime.errors import Fault

Where = tuple[str | int, ...]


_JSON_TYPES: Mapping[str, tuple[tuple[type, ...], str, str]] = {
    "text": ((str,), "text", "string_type"),
    "flag": ((bool,), "true or false", "bool_type"),
    "integer": ((int,), "a whole number", "int_type"),
    "number": ((int, float), "a number", "float_type"),
    "texts": ((list,), "a list of texts", "list_type"),
}


def field_value(field: Field, value: Any, where: Where, faults: list[Fault]) -> Any:
    """Return a JSON value converted to the field's type; wrong values become faults."""
    types, what, kind = _JSON_TYPES[field.kind]
    if field.kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)  # 5.0 is a whole number in JSON
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        faults.append(Fault(where, f"{field.name} must be {what}", kind))
        return None
    if field.kind != "texts":
        return checked_value(field, value, where, faults)
    items = value if isinstance(value, list) else []
    for place, item in enumerate(items):
        if not isinstance(item, str):
            at = (*where, place)
            faults.append(Fault(at, f"{field.name}[{place}] must be text", "string_type"))
            return None
    return checked_value(field, tuple(items), where, faults)


def checked_value(field: Field, value: Any, where: Where, faults: list[Fault]) -> Any:
    """Return the value; a value outside the field's bounds becomes a fault."""
    if field.kind == "text":
        _check_text(field, value, where, faults)
    elif field.kind == "texts":
        if len(value) > field.bounds.items:
            faults.append(
                Fault(where, f"{field.name} holds more than {field.bounds.items} texts", "too_long")
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
    elif field.bounds.least is not None and value < field.bounds.least:
        message = f"{field.name} must be at least {field.bounds.least:g}"
        faults.append(Fault(where, message, "greater_than_equal"))
    elif field.bounds.most is not None and value > field.bounds.most:
        message = f"{field.name} must be at most {field.bounds.most:g}"
        faults.append(Fault(where, message, "less_than_equal"))
    elif field.bounds.above is not None and value <= field.bounds.above:
        message = f"{field.name} must be greater than {field.bounds.above:g}"
        faults.append(Fault(where, message, "greater_than"))


def _check_text(field: Field, text: str, where: Where, faults: list[Fault]) -> None:
    if len(text) < field.bounds.shortest or (
        field.bounds.shortest and not text.replace("\ufeff", "").strip()
    ):
        faults.append(Fault(where, f"{field.name} must not be empty", "string_too_short"))
    elif len(text) > field.bounds.longest:
        message = f"{field.name} must have at most {field.bounds.longest:,} characters"
        faults.append(Fault(where, message, "string_too_long"))
    elif not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        faults.append(Fault(where, f"{field.name} holds half a surrogate pair", "string_unicode"))
    elif field.choices and text not in field.choices:
        message = f"{field.name} must be one of {', '.join(field.choices)}"
        faults.append(Fault(where, message, "enum"))


def absent_value(field: Field, where: Where, faults: list[Fault]) -> Any:
    """Return the default; that a required field is not given is a fault."""
    if field.required:
        faults.append(Fault(where, f"{field.name} is required", "missing"))
    return field.default
