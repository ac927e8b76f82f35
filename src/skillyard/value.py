"""What the values on the path of every command have in common: slots, equality, no change.

The standard library's dataclasses do the same and are used wherever start-up does not matter.
Here it does: importing them costs as much as the interpreter's own start, and every command line
call would pay for it (``benchmarks/startup.py``).
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any, NoReturn, Self

__all__ = ["NamedTuple", "Value", "put"]

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _Made(type):
        """Makes the tuple that a class body describes."""

        def __new__(
            cls, name: str, bases: tuple[type, ...], body: dict[str, Any]
        ) -> type[tuple[Any, ...]]:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body["__annotations__"]
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key, value in body.items():
                setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Made):
        """``typing.NamedTuple`` without the look at each annotation: a third of its time.

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
