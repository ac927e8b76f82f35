"""The fields of an HTTP request, read from a query string, a form, a JSON body or a path."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from skillyard.base.io.strict_json import RepeatedKey, strict_loads
from skillyard.base.operation import Field
from skillyard.serve.runtime.errors import Fault, Refused, wrong_field
from skillyard.serve.runtime.fields import (
    Where,
    absent_value,
    checked_value,
    field_value,
)

MAX_PAIRS = 1_000
"""Parameters of one query string: more than the items of any route's lists together."""
TRUE = frozenset({"true", "1", "yes", "on"})
FALSE = frozenset({"false", "0", "no", "off"})


def from_form(fields: Sequence[Field], body: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of what a form sends, defaults filled in. Raises Refused (422).

    Browsers send each line end as two characters, which nobody typed: they count as one.
    """
    return from_query(fields, body.replace(b"%0D%0A", b"%0A"), strict=strict, place="body")


def from_query(
    fields: Sequence[Field], raw: bytes, *, strict: bool, place: str = "query"
) -> dict[str, Any]:
    """Return the values of a query string, defaults filled in. Raises Refused (422).

    ``strict`` refuses unknown parameters; otherwise they are ignored. ``place`` is the place that
    faults name.
    """
    by_name = {name: field for field in fields for name in field.names}
    texts_by_name: dict[str, list[str]] = {}
    faults: list[Fault] = []
    for name, text in _pairs(raw, place):
        field = by_name.get(name)
        if field is not None:
            texts_by_name.setdefault(field.name, []).append(text)
        elif strict:
            faults.append(_unknown((place, name[:100]), by_name))
    values = {}
    for field in fields:
        texts = texts_by_name.get(field.name)
        where: Where = (place, field.name)
        if texts is None:
            values[field.name] = absent_value(field, where, faults)
        elif field.kind == "texts":
            values[field.name] = checked_value(field, tuple(texts), where, faults)
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
            raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_PAIRS
        )
    except UnicodeDecodeError:
        what = "query string" if place == "query" else "form"
        fault = Fault((place,), f"the {what} is not percent-encoded UTF-8", "encoding")
    except ValueError:
        fault = Fault((place,), f"more than {MAX_PAIRS} parameters", "too_many")
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
    return checked_value(field, value, where, faults)


def _number(kind: str, text: str) -> int | float:
    if len(text) > 40 or not text.isascii() or "_" in text:
        raise ValueError(text)
    return int(text) if kind == "integer" else float(text)


def from_json(fields: Sequence[Field], body: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of a JSON body, defaults filled in. Raises Refused (422).

    The body is one object in UTF-8 with each key once; null means that a field is not given.
    """
    document = _parse_body(body)
    if not isinstance(document, dict):
        raise wrong_field([Fault(("body",), "the body must be a JSON object", "dict_type")])
    by_name = {name: field for field in fields for name in field.names}
    faults: list[Fault] = []
    values_by_name: dict[str, Any] = {}
    for name, value in document.items():
        field = by_name.get(name)
        if field is None:
            faults += [_unknown(("body", name[:100]), by_name)] if strict else []
        elif field.name in values_by_name:
            faults.append(Fault(("body", name), f"{field.name} is given twice", "repeated"))
        else:
            values_by_name[field.name] = value
    values = {}
    for field in fields:
        where: Where = ("body", field.name)
        if values_by_name.get(field.name) is not None:
            values[field.name] = field_value(field, values_by_name[field.name], where, faults)
        else:
            values[field.name] = absent_value(field, where, faults)
    if faults:
        raise wrong_field(faults)
    return values


def from_path(fields: Sequence[Field], parts: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a path. Raises Refused (422)."""
    faults: list[Fault] = []
    values = {
        field.name: checked_value(field, parts[field.name], ("path", field.name), faults)
        for field in fields
    }
    if faults:
        raise wrong_field(faults)
    return values


def _parse_body(body: bytes) -> Any:
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


def _unknown(where: Where, known: Mapping[str, Field]) -> Fault:
    names = ", ".join(dict.fromkeys(field.name for field in known.values())) or "none"
    return Fault(where, f"no field {where[-1]!r}; known: {names}", "extra_forbidden")


def refuse_field(name: str, message: str, place: str = "query") -> Refused:
    """Return the 422 for one field whose value only the use case could judge."""
    return wrong_field([Fault((place, name), message, "value_error")])
