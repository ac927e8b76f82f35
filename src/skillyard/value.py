"""What the values on the path of every command have in common: slots, equality, no change.

The standard library's dataclasses, ``typing`` and named tuples do the same and are used wherever
start-up does not matter. Here it does: importing dataclasses costs as much as the interpreter's own
start, ``typing`` a fifth of that, making one named tuple a hundredth, and every command line call
would pay for all of them (``benchmarks/startup.py``).
"""

from __future__ import annotations

from sys import intern

TYPE_CHECKING = False
"""``typing.TYPE_CHECKING``, which type checkers know by its name, without loading ``typing``."""

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn, Self
    from typing import NamedTuple as NamedTuple

__all__ = ["TYPE_CHECKING", "NamedTuple", "Value", "put"]

if not TYPE_CHECKING:
    try:
        from _collections import _tuplegetter as _field
    except ImportError:  # another Python than CPython
        from operator import itemgetter

        def _field(place: int, doc: str) -> property:
            return property(itemgetter(place), doc=doc)

    class _Tuple(tuple):
        """What all named tuples have in common."""

        __slots__ = ()
        _fields = ()

        @classmethod
        def _make(cls, iterable: Iterable[Any]) -> Self:
            made = tuple.__new__(cls, iterable)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes: Any) -> Self:
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        __replace__ = _replace  # what copy.replace() calls, from Python 3.13

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            pairs = zip(self._fields, self, strict=True)
            listed = ", ".join([f"{name}={value!r}" for name, value in pairs])
            return f"{type(self).__name__}({listed})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    _new = tuple.__new__
    # How a tuple of so many fields is made. Renaming the arguments of code that is compiled
    # already costs nothing beside compiling some, which is what ``collections.namedtuple`` does.
    _MAKERS = (
        lambda _cls: _new(_cls, ()),
        lambda _cls, a: _new(_cls, (a,)),
        lambda _cls, a, b: _new(_cls, (a, b)),
        lambda _cls, a, b, c: _new(_cls, (a, b, c)),
        lambda _cls, a, b, c, d: _new(_cls, (a, b, c, d)),
        lambda _cls, a, b, c, d, e: _new(_cls, (a, b, c, d, e)),
        lambda _cls, a, b, c, d, e, f: _new(_cls, (a, b, c, d, e, f)),
        lambda _cls, a, b, c, d, e, f, g: _new(_cls, (a, b, c, d, e, f, g)),
        lambda _cls, a, b, c, d, e, f, g, h: _new(_cls, (a, b, c, d, e, f, g, h)),
        lambda _cls, a, b, c, d, e, f, g, h, i: _new(_cls, (a, b, c, d, e, f, g, h, i)),
        lambda _cls, a, b, c, d, e, f, g, h, i, j: _new(_cls, (a, b, c, d, e, f, g, h, i, j)),
        lambda _cls, a, b, c, d, e, f, g, h, i, j, k: _new(_cls, (a, b, c, d, e, f, g, h, i, j, k)),
        lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m: _new(
            _cls, (a, b, c, d, e, f, g, h, i, j, k, m)
        ),
        lambda _cls, a, b, c, d, e, f, g, h, i, j, k, m, n: _new(
            _cls, (a, b, c, d, e, f, g, h, i, j, k, m, n)
        ),
    )

    def _maker(name: str, fields: tuple[str, ...], defaults: list[Any]) -> Any:
        """Return the ``__new__`` of a tuple with these fields."""
        if len(fields) < len(_MAKERS):
            code = _MAKERS[len(fields)].__code__.replace(
                co_varnames=("_cls", *fields), co_name="__new__"
            )
            made = type(_maker)(code, globals(), "__new__")
        else:
            listed = ", ".join(fields)
            made = eval(f"lambda _cls, {listed}: _new(_cls, ({listed}))")
            made.__name__ = "__new__"
        made.__qualname__ = f"{name}.__new__"
        made.__defaults__ = tuple(defaults)
        return made

    class _Made(type):
        """Makes the tuple that a class body describes."""

        def __new__(
            cls, name: str, bases: tuple[type, ...], body: dict[str, Any]
        ) -> type[tuple[Any, ...]]:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(map(intern, body["__annotations__"]))
            defaults = {field: body.pop(field) for field in fields if field in body}
            body.setdefault("__doc__", f"{name}({', '.join(fields)})")
            for place, field in enumerate(fields):
                body[field] = _field(place, intern(f"Alias for field number {place}"))
            body["__slots__"] = ()
            body["__match_args__"] = body["_fields"] = fields
            body["_field_defaults"] = defaults
            body["__new__"] = _maker(body["__qualname__"], fields, list(defaults.values()))
            return type(name, (_Tuple,), body)

    class NamedTuple(metaclass=_Made):
        """``typing.NamedTuple`` without a look at each annotation, and nothing compiled.

        For type checkers it is that class, and what is made behaves alike. Only for modules with
        ``from __future__ import annotations``; a field without a default after one with is for
        the type checker to refuse.
        """


put = object.__setattr__
"""What a value's own ``__init__`` sets its fields with."""


class Value:
    """An immutable value: equal to another of its type when all fields are."""

    __slots__: tuple[str, ...] = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=…)")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def fields(self) -> dict[str, Any]:
        """Return the fields by name, in order."""
        return {name: getattr(self, name) for name in self.__slots__}

    def replace(self, **changes: Any) -> Self:
        """Return a copy with the named fields changed. Raises TypeError for an unknown one."""
        return type(self)(**{**self.fields(), **changes})

    __replace__ = replace  # what copy.replace() calls, from Python 3.13

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        return hash((type(self), *self.fields().values()))

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.fields().items())
        return f"{type(self).__name__}({listed})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuilt, (type(self), self.fields()))


def _rebuilt(cls: type[Value], fields: dict[str, Any]) -> Value:
    return cls(**fields)
