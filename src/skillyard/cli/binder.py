"""Makes the arguments of a command from a request class, and the request from the arguments."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any, TypeVar

from skillyard.base.operation import Field, fields_of
from skillyard.cli.options import file_path, number, scorer_name, whole_number
from skillyard.cli.parser import CommandParser
from skillyard.cli.source import words_of

Request = TypeVar("Request")

_TYPES: dict[str, Any] = {"integer": whole_number, "number": number, "files": file_path}


def add_request(parser: CommandParser, request: type) -> None:
    """Add the arguments of a request: required fields and the query by place, others as options."""
    fields = fields_of(request, "cli")
    for field in sorted(fields, key=lambda field: (not field.required, field.name != "query")):
        parser.add_argument(*_names(field), **_options(field))


def _names(field: Field) -> list[str]:
    if field.required or field.name == "query":
        return [field.name]
    return [field.spelling.flag or "--" + field.name.replace("_", "-")]


def _options(field: Field) -> dict[str, Any]:
    words = field.about[:1].lower() + field.about[1:].rstrip(".")
    if field.name == "query":
        words += "; - reads it from standard input"
        return {"metavar": "QUERY", "nargs": "*", "default": [], "help": words}
    if field.kind == "texts":
        words += "; may repeat"
    elif field.default not in (None, False, "") and "(default" not in words:
        words += f" (default: {field.default})"
    options: dict[str, Any] = {"help": words}
    if not field.required:
        options["dest"] = field.name
    if field.kind == "flag":
        return {**options, "action": "store_true"}
    options["metavar"] = field.spelling.metavar
    if field.kind == "texts":
        options |= {"action": "append", "default": []}
    elif not field.required:
        options["default"] = field.default
    kind = {"files": file_path, "scorer": scorer_name}.get(field.name) or _TYPES.get(field.kind)
    return {**options, "type": kind} if kind is not None else options


def read_request(args: Namespace, request: Callable[..., Request]) -> Request:
    """Return the request of parsed arguments; a query ``-`` is read from standard input."""
    values: dict[str, Any] = {}
    for field in fields_of(request, "cli"):
        value = getattr(args, field.name)
        if field.name in ("query", "text"):
            words = [value] if isinstance(value, str) else value
            value = words_of(words or [])
            value = field.default if value is None else value
        elif field.kind == "texts":
            value = tuple(value) or field.default
        values[field.name] = value
    return request(**values)
