"""Decode response bodies: bytes to JSON values to shapes.

A missing member or one of another type is :class:`Mismatch`, which names its place
(``$.skills[2].id``). Unknown members are ignored, so a newer service may send more than this
client reads.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from skillyard.base.io.strict_json import (
    NumberRefused,
    RepeatedKey,
    nested_deeper_than,
    strict_loads,
)
from skillyard.base.text import shorten

T = TypeVar("T")

DEPTH = 64
"""Maximum nesting; frontmatter has 16 levels at most, explanations about ten."""
SHOWN = 40
"""Maximum characters of a member's name in an error."""


class Mismatch(ValueError):
    """A body that is not JSON or not of the expected shape. The text names the place."""


def document_of(body: bytes) -> Any:
    """Return the JSON document of a body: UTF-8, unique keys, finite numbers, valid Unicode.

    Raises Mismatch.
    """
    try:
        value = strict_loads(body.decode("utf-8"))
    except RecursionError:
        raise Mismatch("it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise Mismatch(f"it is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise Mismatch(f"it is no JSON: {error.msg} (character {error.pos})") from None
    except (RepeatedKey, NumberRefused) as error:
        raise Mismatch(str(error)) from None
    except ValueError:  # int() refuses numbers with thousands of digits
        raise Mismatch("it holds a number that is too long") from None
    if nested_deeper_than(value, DEPTH):
        raise Mismatch("it is nested too deeply")
    if b"\\u" in body:
        _check_text(value)
    return value


def _check_text(value: Any) -> None:
    """Raise Mismatch for an unpaired surrogate, which cannot be encoded."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise Mismatch("it holds half a surrogate pair") from None


def read_as(kind: type[T], document: Any, place: str = "$") -> T:
    """Decode a JSON value as a shape. Raises Mismatch, which names the place of the fault."""
    if isinstance(document, dict) and hasattr(kind, "schema") and "schema" not in document:
        raise Mismatch(f"{place} has no member 'schema'")
    shape: Any = kind
    try:
        (value,) = _adapter(shape).validate_json(f"[{json.dumps(document)}]")
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        at = place + "".join(map(_step, fault["loc"][1:]))
        raise Mismatch(f"{at}: {fault['msg']}") from None
    return value  # type: ignore[no-any-return]


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the reader of a list of one value; settings can be given only around a dataclass."""
    return TypeAdapter(tuple[kind], config=ConfigDict(strict=True, allow_inf_nan=False))


def _step(key: str | int) -> str:
    return f"[{key}]" if isinstance(key, int) else f".{shorten(key, SHOWN)}"


def member(document: Any, name: str) -> Any:
    """Return a required member of an object. Raises Mismatch."""
    members = read_as(dict[str, Any], document)
    if name not in members:
        raise Mismatch(f"$ has no member {name!r}")
    return members[name]
