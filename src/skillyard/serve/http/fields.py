"""The fields of an HTTP request, read from a query string, a form, a JSON body or a path."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

from skillyard.base.io.strict_json import RepeatedKey, strict_loads
from skillyard.base.operation import Field
from skillyard.serve.runtime.errors import Refused, fault, wrong_field
from skillyard.serve.runtime.fields import read_values

MAX_PAIRS = 1_000
"""Parameters of one query string: more than the items of any route's lists together."""


def from_form(fields: Sequence[Field], body: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of what a form sends, defaults filled in. Raises Refused (422).

    Browsers send each line end as two characters, which nobody typed: they count as one.
    """
    return from_query(fields, body.replace(b"%0D%0A", b"%0A"), strict=strict, place="body")


def from_query(
    fields: Sequence[Field], raw: bytes, *, strict: bool, place: str = "query"
) -> dict[str, Any]:
    """Return the values of a query string, defaults filled in. Raises Refused (422)."""
    kinds = {name: field.kind for field in fields for name in field.names}
    texts: dict[str, list[str]] = {}
    for name, text in _pairs(raw, place):
        texts.setdefault(name, []).append(text)
    values: dict[str, Any] = {}
    for name, given in texts.items():
        if kinds.get(name) == "texts":
            values[name] = given
        elif name in kinds and len(given) > 1:
            message = f"{name} is given {len(given)} times"
            raise wrong_field([fault((place, name), message, "repeated")])
        else:
            values[name] = given[0] if kinds.get(name) == "text" else given[0].strip()
    return read_values(fields, values, place, strict=strict, from_text=True)


def _pairs(raw: bytes, place: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_PAIRS
        )
    except UnicodeDecodeError:
        what = "query string" if place == "query" else "form"
        message, kind = f"the {what} is not percent-encoded UTF-8", "encoding"
    except ValueError:
        message, kind = f"more than {MAX_PAIRS} parameters", "too_many"
    raise wrong_field([fault((place,), message, kind)])


def from_json(fields: Sequence[Field], body: bytes, *, strict: bool) -> dict[str, Any]:
    """Return the values of a JSON body, defaults filled in. Raises Refused (422).

    The body is one object in UTF-8 with each key once; null means that a field is not given.
    """
    message, kind = "", "json_invalid"
    try:
        document = strict_loads(body.decode("utf-8"))
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
    else:
        if isinstance(document, dict):
            return read_values(fields, document, "body", strict=strict)
        message, kind = "the body must be a JSON object", "dict_type"
    raise wrong_field([fault(("body",), message, kind)])


def refuse_field(name: str, message: str, place: str = "query") -> Refused:
    """Return the 422 for one field whose value only the use case could judge."""
    return wrong_field([fault((place, name), message, "value_error")])
