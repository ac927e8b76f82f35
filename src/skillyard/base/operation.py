"""What an operation takes, described once for every surface.

A request is a frozen dataclass. Each field's annotation holds its type, one sentence for people and
models, and where they apply its bounds and other spellings::

    top_k: Annotated[int | None, "How many skills may be chosen.", Bounds(least=0, most=50)] = None

:func:`fields_of` reads them; a field without a description belongs to no surface. The command line
makes its options from them, HTTP its parameters and OpenAPI, MCP its arguments and schemas, and the
client sends the same values.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import cache
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

SURFACES = ("cli", "http", "mcp")


class Bounds(NamedTuple):
    """Which values of a field are accepted."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    """A number that the value must exceed."""
    shortest: int = 0
    longest: int = 1_000
    """Characters of a text, or of each text of a list."""
    items: int = 100
    """Texts of a list."""
    pattern: str = ""
    """The accepted pattern of a text, for descriptions. The operation checks it."""


class Spelling(NamedTuple):
    """How a surface writes a field where it is not by its own name."""

    also: tuple[str, ...] = ()
    """Other names that HTTP and MCP understand."""
    flag: str = ""
    """The option of the command line: ``--tag``."""
    metavar: str = ""
    """What stands for the value in its help."""
    tool: str = ""
    """Its name in the tool, where a document gives another one."""
    on: tuple[str, ...] = SURFACES
    """The surfaces that offer it."""
    by_place: bool = False
    """Whether the command line takes it by its place, not as an option."""


class Operation(NamedTuple):
    """One operation of the services: what it takes, and where it is offered."""

    name: str
    about: str
    """One sentence."""
    request: type
    route: tuple[str, str]
    """Method and path: ``("POST", "/select")``."""

    def fields(self, surface: str) -> tuple[Field, ...]:
        """Return the fields of the request that a surface offers."""
        return fields_of(self.request, surface)


class Field(NamedTuple):
    """One value of a request."""

    name: str
    kind: str
    """``text``, ``integer``, ``number``, ``flag`` or ``texts`` (a list; repeated in a query)."""
    about: str
    required: bool = False
    default: Any = None
    bounds: Bounds = Bounds()
    spelling: Spelling = Spelling()
    choices: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Every name under which it is understood."""


_KINDS = {str: "text", int: "integer", float: "number", bool: "flag"}


@cache
def fields_of(request: Any, surface: str) -> tuple[Field, ...]:
    """Return the fields of a request class that a surface offers, in their order."""
    hints = get_type_hints(request, include_extras=True)
    offered = []
    for each in fields(request):
        if get_origin(hints[each.name]) is not Annotated:
            continue
        kind, about, *rest = get_args(hints[each.name])
        extras = {type(extra): extra for extra in rest}
        spelling = extras.get(Spelling, Spelling())
        if surface not in spelling.on:
            continue
        (inner, *_) = [part for part in get_args(kind) or (kind,) if part is not NoneType]
        choices: tuple[str, ...] = ()
        if get_origin(kind) is tuple or get_origin(inner) is tuple:
            word = "texts"
        elif get_origin(kind) is Literal or get_origin(inner) is Literal:
            choices = get_args(kind if get_origin(kind) is Literal else inner)
            word = "text"
        else:
            word = _KINDS[inner]
        required = each.default is MISSING
        default = None if required else each.default
        bounds, names = extras.get(Bounds, Bounds()), (each.name, *spelling.also)
        offered.append(
            Field(each.name, word, about, required, default, bounds, spelling, choices, names)
        )
    return tuple(offered)
