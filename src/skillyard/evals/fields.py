"""What a field may hold, by its type hint: for case files, configuration, settings and results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from skillyard.base.operation import Bounds
from skillyard.base.strict_toml import NOT_BLANK, number_fault

MAX_NUMBER = 2**63
"""Maximum of any number, because stored settings are not trusted."""

Count = Annotated[int, Bounds(0)]
"""A count of a file that is not trusted."""
Amount = Annotated[float, Bounds(0)]


class Fault(NamedTuple):
    """What is wrong with a value."""

    message: str
    """Begins with a verb: the name of the field stands before it."""
    hint: str


class Kind(NamedTuple):
    """A type hint in its parts."""

    type: Any
    """``str``, ``bool``, ``int``, ``float``, a dataclass, or a generic such as a Literal."""
    optional: bool
    """None is allowed too."""
    allowed: Bounds | None
    not_blank: bool

    @property
    def is_number(self) -> bool:
        """True for ``int`` and ``float``."""
        return self.type in (int, float)


def hints_of(kind: type) -> Mapping[str, Any]:
    """Return the type hints of a dataclass or TypedDict, with what is annotated."""
    return _hints_of(kind)


@cache
def _hints_of(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind, include_extras=True)


@cache
def kind_of(hint: Any) -> Kind:
    """Return the parts of a type hint."""
    notes = getattr(hint, "__metadata__", ())
    base = get_args(hint)[0] if notes else hint
    options = get_args(base) if get_origin(base) in (Union, UnionType) else (base,)
    allowed = next((each for each in notes if isinstance(each, Bounds)), None)
    (single,) = (each for each in options if each is not NoneType)
    return Kind(single, NoneType in options, allowed, NOT_BLANK in notes)


def fault_of(value: Any, hint: Any) -> Fault | None:
    """Return what is wrong with a value; None if the type hint allows it.

    ``true`` is no number, and neither are NaN and infinities. Whether a text is blank is left to
    the reader of a file.
    """
    kind = kind_of(hint)
    if kind.type is Any or (value is None and kind.optional):
        return None
    if kind.is_number:
        return _number_fault(value, kind)
    origin, inner = get_origin(kind.type), get_args(kind.type)
    if origin is Literal:
        return None if value in inner else Fault("is not known", f"write {' or '.join(inner)}")
    if origin in (tuple, list):
        good = isinstance(value, origin) and all(fits(each, inner[0]) for each in value)
        return None if good else Fault("is not a list of texts", "write a list of texts")
    if origin is Mapping or is_typeddict(kind.type):
        fields = value if isinstance(value, Mapping) else {}
        hints = hints_of(kind.type) if origin is None else dict.fromkeys(fields, inner[1])
        good = fields is value and all(fits(fields.get(name), hints[name]) for name in hints)
        return None if good else Fault("is not a mapping", "write `field: value` lines")
    if isinstance(value, kind.type):
        return None
    if kind.type is bool:
        return Fault("is neither true nor false", "write true or false")
    is_number = isinstance(value, int | float)
    return Fault("is not text", "put it in quotes" if is_number else "write some text")


def fits(value: Any, hint: Any) -> bool:
    """True if the type hint allows a value."""
    return fault_of(value, hint) is None


def _number_fault(value: Any, kind: Kind) -> Fault | None:
    name = "a whole number" if kind.type is int else "a number"
    if isinstance(value, bool) or not isinstance(value, int if kind.type is int else int | float):
        return Fault(f"is not {name}", f"write {name} without quotes")
    fault = "" if kind.allowed is None else number_fault(value, kind.allowed)
    if fault or abs(value) > MAX_NUMBER or value != value:
        return Fault(fault or "is too large", f"write {name} in that range")
    return None
