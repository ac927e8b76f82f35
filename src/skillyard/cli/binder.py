"""Makes commands from their declarations, and arguments and requests from request classes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from skillyard.base.operation import Field, fields_of
from skillyard.cli.commands import SUMMARIES
from skillyard.cli.options import (
    OPTIONS,
    OneOf,
    Option,
    file_path,
    flag,
    number,
    scorer_name,
    value,
    values,
    whole_number,
    words,
)
from skillyard.cli.parser import CommandParser, add_command, add_group
from skillyard.cli.source import words_of

if TYPE_CHECKING:
    from skillyard.cli.parser import Commands, RunCommand

Request = TypeVar("Request")
_Run = TypeVar("_Run", bound="RunCommand")

DECLARED: dict[str, list[Callable[[Commands], object]]] = {}
"""The first word of commands, and what adds each of them, in their order."""


def command(
    name: str,
    *options: str | Option | OneOf,
    doc: str = "",
    request: str = "",
    hidden: bool = False,
) -> Callable[[_Run], _Run]:
    """Declare the command that the function below runs; a ``hidden`` one is in no list.

    Its documentation is the help: the first paragraph is for lists of commands too, the last one
    has an example on each line. An option that is text is one of :data:`~.options.OPTIONS`;
    ``request`` is ``module:class`` of a request, whose fields are arguments too.
    """

    def declare(run: _Run) -> _Run:
        *groups, last = name.split()

        def add(commands: Commands) -> None:
            for depth, word in enumerate(groups, 1):
                group = commands.choices.get(word)
                below = group.subcommands if group else None
                about_group = SUMMARIES[" ".join(groups[:depth])]
                commands = below or add_group(commands, word, about_group)
            summary, *about, examples = (doc or run.__doc__ or "").strip().split("\n\n")
            parser = add_command(
                commands,
                last,
                summary[:1].lower() + summary[1:].rstrip("."),
                run=run,
                about=" ".join(" ".join(about).split()),
                examples=[line.strip() for line in examples.split("\n")],
                hidden=hidden,
            )
            if request:
                module, _, shape = request.partition(":")
                add_request(parser, getattr(import_module(module), shape))
            for option in options:
                _add(parser, option)

        DECLARED.setdefault(name.split()[0], []).append(add)
        return run

    return declare


def _add(parser: Any, option: str | Option | OneOf) -> None:
    if isinstance(option, OneOf):
        group = parser.add_mutually_exclusive_group(required=option.required)
        for each in option.options:
            _add(group, each)
    elif isinstance(option, str):
        parser.add_argument(option, **OPTIONS[option])
    else:
        parser.add_argument(option[0], **option[1])


def add_request(parser: CommandParser, request: type) -> None:
    """Add the arguments of a request: required fields and the query by place, others as options."""
    fields = fields_of(request, "cli")
    for field in sorted(fields, key=lambda field: (not field.required, field.name != "query")):
        _add(parser, _argument(field))


def _argument(field: Field) -> Option:
    about = field.about[:1].lower() + field.about[1:].rstrip(".")
    if field.name == "query":
        return words("query", "QUERY", f"{about}; - reads it from standard input")
    metavar = field.spelling.metavar
    if field.required:
        return value(field.name, metavar, about)
    name = field.spelling.flag or "--" + field.name.replace("_", "-")
    if field.kind == "flag":
        return flag(name, about, dest=field.name)
    kind = {"files": file_path, "scorer": scorer_name}.get(field.name) or _TYPES.get(field.kind)
    if field.kind == "texts":
        return values(name, metavar, about, dest=field.name, type=kind)
    return value(name, metavar, about, dest=field.name, default=field.default, type=kind)


_TYPES: dict[str, Any] = {"integer": whole_number, "number": number}


def read_request(args: Namespace, request: Callable[..., Request]) -> Request:
    """Return the request of parsed arguments; a query ``-`` is read from standard input."""
    arguments: dict[str, Any] = {}
    for field in fields_of(request, "cli"):
        each = getattr(args, field.name)
        if field.name in ("query", "text"):
            each = words_of([each] if isinstance(each, str) else each or [])
            each = field.default if each is None else each
        elif field.kind == "texts":
            each = tuple(each) or field.default
        arguments[field.name] = each
    return request(**arguments)
