"""Decode response bodies: bytes to JSON values to shapes.

A missing member or one of another type is :class:`Mismatch`, which names its place
(``$.skills[2].id``). Unknown members are ignored, so a newer service may send more than this
client reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from msgspec import ValidationError, convert

from skillyard.base.io.strict_json import (
    NumberRefused,
    RepeatedKey,
    nested_deeper_than,
    strict_loads,
)

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


_WORDS: Mapping[str, str] = {
    "str": "text", "bool": "true or false", "int": "a whole number", "float": "a number",
    "array": "a list", "object": "an object", "null": "null",
}  # fmt: skip
_FAULT = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<place>[^`]*)`)?", re.DOTALL)
_WRONG_TYPE = re.compile(r"Expected `(?P<expected>[^`]*)`, got `(?P<given>[^`]*)`")
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]*)`")


def read_as(kind: type[T], document: Any, place: str = "$") -> T:
    """Decode a JSON value as a shape. Raises Mismatch, which names the place of the fault."""
    if isinstance(document, dict) and hasattr(kind, "schema"):
        _check_schema(kind, document, place)
    try:
        return convert(document, kind)
    except ValidationError as error:
        raise Mismatch(_in_words(str(error), place)) from None
    except RecursionError:
        raise Mismatch("it is nested too deeply") from None


def _check_schema(kind: Any, document: Mapping[str, Any], place: str) -> None:
    expected = next(each.default for each in fields(kind) if each.name == "schema")
    if "schema" not in document:
        raise Mismatch(f"{place} has no member 'schema'")
    if document["schema"] != expected:
        raise Mismatch(f"{place}.schema is not {expected!r}")


def _in_words(fault: str, place: str) -> str:
    """Return an error of msgspec with its place in front."""
    match = _FAULT.fullmatch(fault)
    what, at = (fault, place) if match is None else (match["what"], place + (match["place"] or ""))
    if wrong := _WRONG_TYPE.fullmatch(what):
        expected = " or ".join(_WORDS.get(each, each) for each in wrong["expected"].split(" | "))
        return f"{at} is {_WORDS.get(wrong['given'], 'something else')}, not {expected}"
    if missing := _MISSING.fullmatch(what):
        return f"{at} has no member {missing['name']!r}"
    return f"{at}: {what[:1].lower()}{what[1:]}"


def member(document: Any, name: str) -> Any:
    """Return a required member of an object. Raises Mismatch."""
    members = read_as(dict[str, Any], document)
    if name not in members:
        raise Mismatch(f"$ has no member {name!r}")
    return members[name]
