"""Checks arguments of public functions against their annotations.

``check_arguments`` reads the annotations of a function or class at the first call. A call with an
argument of another type raises InvalidInput, which names the parameter and the expected type.
Functions check ranges themselves. The package and its public modules add the checks to the
functions and constructors that they hand out, so that our own calls, whose types mypy checks, pay
nothing. Methods have the decorator.

typeguard does the same in general, but importing it takes five times as long as this module and
its errors, and start-up loads no third-party module.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import wraps
from itertools import chain, repeat
from operator import methodcaller
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from skillyard.base.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

_Target = TypeVar("_Target")
_GivenT = TypeVar("_GivenT", contravariant=True)
_StoredT = TypeVar("_StoredT", covariant=True)

if TYPE_CHECKING:

    class Conversion(Generic[_GivenT, _StoredT]):
        """The type of a dataclass field that is given as one type and stored as another.

        ``__post_init__`` converts it.
        """

        def __get__(self, instance: object, owner: type | None = None) -> _StoredT: ...
        def __set__(self, instance: object, value: _GivenT) -> None: ...

else:

    class Conversion:
        """The given type, for readers of annotations at run time."""

        def __class_getitem__(cls, types):
            return types[0]


Texts: TypeAlias = "Conversion[Iterable[str] | None, tuple[str, ...]]"
"""Any strings, stored as a tuple."""

_VARIADIC, _COROUTINE = 0x04, 0x80
"""``co_flags`` of code with ``*args``, and of ``async def`` (see :mod:`inspect`)."""
_REITERABLE = (list, tuple, set, frozenset, dict)
"""Collections that can be iterated without consuming them."""
_TEXTS = (str, bytes, bytearray)
_IN_WORDS = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
    Callable: "a function",
    Mapping: "a mapping",
    dict: "a mapping",
}


set_field = object.__setattr__
"""Sets a field of a frozen dataclass in ``__post_init__``."""


class OfProject:
    """The note in an annotation of a key of which a project's file may have some values only."""

    def __init__(self, fault_of: Callable[[Any], str]) -> None:
        """``fault_of`` returns what is wrong with a value there; empty for nothing."""
        self.fault_of = fault_of


def conversion(default: object) -> Any:
    """Return the default of a field of the type :class:`Conversion`."""
    return field(default=default)


def text_items(name: str, value: Iterable[str] | None) -> tuple[str, ...]:
    """Return ``value`` as a tuple of strings; None is empty. Raises InvalidInput otherwise.

    A set is sorted, so that results do not depend on its iteration order.
    """
    if value is None:
        return ()
    if isinstance(value, _TEXTS) or not isinstance(value, Iterable):
        raise InvalidInput(f"{name} must be a list of strings, not {type(value).__name__}")
    items = tuple(value)
    if not {str}.issuperset(map(type, items)):
        for item in items:
            if not isinstance(item, str):
                raise InvalidInput(f"{name} must hold strings, not {type(item).__name__}")
    return tuple(sorted(items)) if isinstance(value, set | frozenset) else items


def check_arguments(target: _Target) -> _Target:
    """Return the function or class with argument types checked at each call.

    For a class the constructor checks; for a named tuple also ``_replace``. Not checked are
    parameters without an annotation or with ``Any``, names imported only for type checkers, and
    items of iterators, which iteration would consume. A wrong argument raises InvalidInput with
    the parameter name as ``field``.
    """
    subject: Any = target
    if not isinstance(target, type):
        checked: _Target = _checking(subject, subject.__annotations__)
        return checked
    if issubclass(target, tuple):
        subject.__new__ = staticmethod(_checking(subject.__new__, subject.__annotations__, target))
        subject._make = classmethod(_make_from)
    elif "__init__" in vars(target) and not getattr(target, "_is_protocol", False):
        subject.__init__ = _checking(subject.__init__, subject.__init__.__annotations__)
    return target


def check_public(value: Any) -> Any:
    """Return a public name, a function or class with checks; not errors, which are raised often."""
    if not callable(value) or value.__module__ == InvalidInput.__module__:
        return value
    value = check_arguments(value)
    setattr(sys.modules[value.__module__], value.__name__, value)  # pickle looks there
    return value


def check_module(names: dict[str, Any]) -> None:
    """Check the names of a public module that are not private, and list them for ``help``."""
    names["__all__"] = sorted(name for name in names if not name.startswith("_"))
    for name in names["__all__"]:
        names[name] = check_public(names[name])


def _make_from(cls: type, values: Iterable[Any]) -> Any:
    return cls(*values)


def _checking(
    function: Callable[..., Any], annotations: Mapping[str, Any], owner: type | None = None
) -> Any:
    checks: _Checks | None = None

    def load_checks() -> _Checks:
        nonlocal checks
        names = vars(sys.modules[owner.__module__]) if owner else function.__globals__
        checks = _Checks(function, annotations, names)
        return checks

    @wraps(function)
    def check_and_call(*positional: Any, **keywords: Any) -> Any:
        if positional or keywords:
            (checks or load_checks()).run(positional, keywords)
        return function(*positional, **keywords)

    @wraps(function)
    async def check_and_await(*positional: Any, **keywords: Any) -> Any:
        (checks or load_checks()).run(positional, keywords)
        return await function(*positional, **keywords)

    return check_and_await if function.__code__.co_flags & _COROUTINE else check_and_call


class _Checks:
    """The checks of one function's parameters, by position and by name."""

    __slots__ = ("_by_name", "_by_place", "_rest")

    def __init__(
        self, function: Callable[..., Any], annotations: Mapping[str, Any], names: dict[str, Any]
    ) -> None:
        code = function.__code__
        places = code.co_argcount
        known = places + code.co_kwonlyargcount
        parameters = code.co_varnames[: known + bool(code.co_flags & _VARIADIC)]
        checks = [_Check(name, annotations.get(name, "Any"), names) for name in parameters]
        self._by_place = checks[:places]
        self._by_name = {check.name: check for check in checks[:known]}
        self._rest = checks[known:]

    def run(self, positional: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        """Raise InvalidInput for the first argument of the wrong type."""
        places = chain(self._by_place, repeat(self._rest[0])) if self._rest else self._by_place
        # Python itself rejects surplus arguments and unknown names.
        for check, value in zip(places, positional, strict=False):
            if type(value) not in check.types and not check.accepts(value):
                raise check.error(value)
        for name, value in keywords.items():
            known = self._by_name.get(name)
            if known and type(value) not in known.types and not known.accepts(value):
                raise known.error(value)


class _Check:
    """The check of one parameter."""

    __slots__ = ("_kind", "accepts", "name", "types")

    def __init__(self, name: str, annotation: Any, names: dict[str, Any]) -> None:
        self.name = name
        text = getattr(annotation, "__forward_arg__", annotation)
        # As typing.get_type_hints does.
        self._kind = eval(text, {}, _Names(names)) if isinstance(text, str) else text
        self.accepts = _acceptance(self._kind)
        # Exact types that pass without calling ``accepts``.
        self.types = frozenset(k for k in _alternatives(self._kind) if isinstance(k, type))

    def error(self, value: object) -> InvalidInput:
        """Return the error for a value of the wrong type."""
        for kind in _alternatives(self._kind):
            for expected, item in _wrong_items(kind, value):
                expected_items = _join(map(_plural_words, _alternatives(expected)))
                actual = type(item).__name__
                return InvalidInput(
                    f"{self.name} must hold {expected_items}, not {actual}", field=self.name
                )
        words = [_in_words(kind) for kind in _alternatives(self._kind)]
        if any(" of " in each for each in words):  # an empty list means the same as None
            words = [each for each in words if each != "None"]
        actual = type(value).__name__
        return InvalidInput(f"{self.name} must be {_join(words)}, not {actual}", field=self.name)


def _join(words: Iterable[str]) -> str:
    *others, last = dict.fromkeys(words)
    return f"{', '.join(others)} or {last}" if others else last


class _Names(dict[str, "Any"]):
    """The names of a module. A name that is missing at run time accepts anything."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, object)


def _alternatives(kind: Any) -> Iterator[Any]:
    """Yield the members of a union, or the annotation itself."""
    typing = sys.modules.get("typing")  # where it is not loaded, nothing comes from it
    union = isinstance(kind, UnionType) or (
        typing is not None and getattr(kind, "__origin__", None) is typing.Union
    )
    if not union:
        yield NoneType if kind is None else kind
        return
    for each in kind.__args__:
        yield from _alternatives(each)


def _acceptance(kind: Any) -> Callable[[Any], bool]:
    """Return a predicate for the values that the annotation accepts."""
    checks = [_single(each) for each in _alternatives(kind)]
    if len(checks) == 1:
        return checks[0]
    first, *others = checks
    return lambda value: first(value) or any(check(value) for check in others)


def _single(kind: Any) -> Callable[[Any], bool]:
    origin = getattr(kind, "__origin__", kind)
    if origin is bool or origin is str or origin is NoneType:
        return lambda value: isinstance(value, origin)
    if origin is int or origin is float:
        numbers = int if origin is int else (int, float)
        return lambda value: isinstance(value, numbers) and not isinstance(value, bool)
    if origin is Callable:
        return callable
    if not isinstance(origin, type) or _is_opaque(origin):
        return lambda value: True
    if issubclass(origin, Iterable) and kind is not origin:
        return _collection(origin, kind)
    return lambda value: isinstance(value, origin)


def _is_opaque(kind: type) -> bool:
    """Return True for ``object``, ``Any`` and protocols that are not runtime-checkable."""
    protocol = getattr(kind, "_is_protocol", False)
    opaque = protocol and not getattr(kind, "_is_runtime_protocol", False)
    return kind is object or opaque or (kind.__module__, kind.__name__) == ("typing", "Any")


def _collection(origin: type, kind: Any) -> Callable[[Any], bool]:
    items = [(_acceptance(expected), items_of) for expected, items_of in _items(kind)]
    # A list is accepted for a tuple of any length.
    origins = (tuple, list) if origin is tuple and items else origin

    def accepts(value: Any) -> bool:
        if not isinstance(value, origins) or isinstance(value, _TEXTS):
            return False
        return all(check(item) for check, items_of in items for item in items_of(value))

    return accepts


def _items(kind: Any) -> list[tuple[Any, Callable[[Any], Iterable[Any]]]]:
    """Return (item type, function that returns the items) of a collection annotation."""
    origin = getattr(kind, "__origin__", None)
    if not isinstance(origin, type) or not issubclass(origin, Iterable):
        return []
    arguments = [each for each in kind.__args__ if each is not Ellipsis]
    if issubclass(origin, Mapping):
        return list(zip(arguments, (methodcaller("keys"), methodcaller("values")), strict=True))
    if len(arguments) != 1:  # a tuple with a type for each place
        return []
    return [(arguments[0], lambda value: value if isinstance(value, _REITERABLE) else ())]


def _wrong_items(kind: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield (expected type, item) for wrong items of a collection of the right type."""
    for expected, items_of in _items(kind):
        if isinstance(value, kind.__origin__) and not isinstance(value, _TEXTS):
            accepts = _acceptance(expected)
            yield from ((expected, item) for item in items_of(value) if not accepts(item))


def _in_words(kind: Any) -> str:
    """Return an annotation in words, for a message."""
    origin = getattr(kind, "__origin__", kind)
    if origin in _IN_WORDS:
        return _IN_WORDS[origin]
    if origin.__name__ == "PathLike":
        return "a path"
    arguments = getattr(kind, "__args__", ())
    if arguments and issubclass(origin, Iterable):
        return f"a list of {_join(map(_plural_words, _alternatives(arguments[0])))}"
    return f"{'an' if origin.__name__[0] in 'AEIO' else 'a'} {origin.__name__}"


def _plural_words(kind: Any) -> str:
    words = _in_words(kind)
    article, _, noun = words.partition(" ")
    if article not in ("a", "an"):
        return words
    return f"{noun}s" if noun.islower() else noun
