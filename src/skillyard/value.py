"""What the values on the path of every command have in common: slots, equality, no change.

The standard library's dataclasses do the same and are used wherever start-up does not matter.
Here it does: importing them costs as much as the interpreter's own start, and every command line
call would pay for it (``benchmarks/startup.py``).
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

__all__ = ["Value", "put"]

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
